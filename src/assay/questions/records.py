"""Builds the record of a question from its findings, and computes quality figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.model import AttributeResult, CaseRecord, GroupType, Outcome, VerifierReport
from assay.questions.advice import advise, advise_simple
from assay.questions.authorship import (
    EXECUTED,
    Source,
    author_of,
    option_sources,
    verdict_source,
)
from assay.questions.examination import Examination
from assay.questions.model import FixQuestion, Key, Question, SuiteEntry
from assay.questions.proofs.proving import Trial
from assay.questions.verdict.option_findings import OptionFinding, State
from assay.questions.verdict.verdict import Judgement, Verdict
from assay.sandbox import ProofOutcome

SUBJECT = "questions"
DETAIL_VERSION = 1
_OUTPUT = 4_000
_LINE = 160


def outcome_of(verdict: Verdict) -> Outcome:
    """Valid passes, Unproven and Unsolved stay open, everything else is a finding."""
    if verdict is Verdict.VALID:
        return Outcome.PASSED
    # A question that a model does not solve may still be solvable.
    is_open = verdict in (Verdict.UNPROVEN, Verdict.UNSOLVED)
    return Outcome.UNVERIFIED if is_open else Outcome.FAILED


def simple_record(
    identifier: str,
    entry: SuiteEntry,
    verdict: Verdict,
    reason: str,
    detail: dict[str, Any],
    source: Source = EXECUTED,
) -> CaseRecord:
    """Return the record of a question that has no options."""
    if verdict is Verdict.UNPROVEN:
        source = Source()
        detail = {**detail, "advice": advise_simple(identifier, str(detail["type"]))}
    advice = f"to settle it: {detail['advice']}" if "advice" in detail else None
    whole = {
        "version": DETAIL_VERSION,
        "place": str(entry.place()),
        "verdict": verdict.value,
        "reason": reason,
        **source._asdict(),
        **detail,
    }
    results = {"verdict": _verdict_attribute(verdict, advice)}
    return _record(identifier, entry, verdict, "", reason, results, whole)


def obstacle_record(identifier: str, entry: SuiteEntry, obstacle: str) -> CaseRecord:
    """Return the record of a question that cannot be judged because part of it is missing."""
    text = (
        entry.question.description
        if isinstance(entry.question, FixQuestion)
        else entry.question.text
    )
    return simple_record(
        identifier, entry, Verdict.UNPROVEN, obstacle, {"type": "unreadable", "question": text}
    )


def _record(
    identifier: str,
    entry: SuiteEntry,
    verdict: Verdict,
    code: str,
    reason: str,
    results: dict[str, AttributeResult],
    detail: dict[str, Any],
) -> CaseRecord:
    report = VerifierReport(
        id=identifier,
        group=entry.file.stem,
        type=GroupType.FUNCTIONALITY,
        duration=0.0,
        results=results,
        case={"question": detail["question"], "place": detail["place"]},
    )
    return CaseRecord(
        id=identifier,
        subject=SUBJECT,
        outcome=outcome_of(verdict),
        reason=f"{verdict.value}: {reason}{Source.of_values(detail).in_brackets}",
        code=code or verdict.value.lower(),
        reports=[report],
        detail=detail,
    )


def _verdict_attribute(verdict: Verdict, difference: str | None) -> AttributeResult:
    """Return the one attribute that counts."""
    is_correct = {Outcome.PASSED: True, Outcome.FAILED: False}.get(outcome_of(verdict))
    return AttributeResult(
        attribute="verdict",
        actual=verdict.value,
        expected=Verdict.VALID.value,
        diff=None if is_correct else difference,
        is_correct=is_correct,
    )


def question_record(
    identifier: str,
    entry: SuiteEntry,
    question: Question,
    examination: Examination,
    findings: dict[str, OptionFinding],
    judgement: Judgement,
) -> CaseRecord:
    """Return the record of a multiple-choice question."""
    assert entry.key is not None
    sources = option_sources(findings, examination.trials, judgement)
    told = {one: _describe(found, sources[one]) for one, found in findings.items()}
    advice = advise(identifier, question, entry.key.answer, findings, judgement)
    lines = _option_lines(question, told, entry.key, advice)
    results = {"verdict": _verdict_attribute(judgement.verdict, lines)}
    for option, finding in findings.items():
        name = f"option {option}"
        is_key = option == entry.key.answer
        results[name] = AttributeResult(
            attribute=name,
            actual=told[option],
            expected="HOLDS: it is the key" if is_key else "FAILS: it is not the key",
            is_correct=_is_as_keyed(finding, is_key, judgement),
            weight=0.0,
        )
    detail = _detail(entry, question, entry.key, examination, findings, judgement, sources)
    if examination.whole:
        detail["whole"] = [_whole_values(trial) for trial in examination.whole]
    if advice:
        detail["advice"] = advice
    return _record(
        identifier, entry, judgement.verdict, judgement.code, judgement.reason, results, detail
    )


def _is_as_keyed(finding: OptionFinding, is_key: bool, judgement: Judgement) -> bool | None:
    """Tell whether an option is what the key says; None where nothing is decided."""
    if judgement.verdict is Verdict.UNPROVEN or finding.state not in (State.HOLDS, State.FAILS):
        return None
    if judgement.verdict is Verdict.VALID:
        # Parts of a key that is a compound hold with it.
        return True
    return (finding.state is State.HOLDS) is is_key


def _describe(finding: OptionFinding, source: Source) -> str:
    """Return the state, on what grounds and by whom, and the reason."""
    state = f"{finding.state.value}{source.in_brackets}"
    return f"{state}: {finding.reason}" if finding.reason else state


def _option_lines(question: Question, told: Mapping[str, str], key: Key, advice: str) -> str:
    lines = [f"to settle it: {advice}", ""] if advice else []
    lines += [_cut(question.text), ""]
    for option, text in question.options.items():
        mark = " (key)" if option == key.answer else ""
        # Each is cut, so that where space is short no option is left out.
        lines += [f"{option}{mark} {_cut(text)}", f"    {_cut(told[option])}"]
    return "\n".join(lines)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LINE else f"{line[: _LINE - 1].rstrip()}…"


def _detail(
    entry: SuiteEntry,
    question: Question,
    key: Key,
    examination: Examination,
    findings: dict[str, OptionFinding],
    judgement: Judgement,
    sources: Mapping[str, Source],
) -> dict[str, Any]:
    return {
        "version": DETAIL_VERSION,
        "type": "multiple_choice",
        "place": str(entry.place()),
        "question": question.text,
        "snippet": question.snippet.code if question.snippet else None,
        "key": key.answer,
        "verdict": judgement.verdict.value,
        "code": judgement.code,
        "reason": judgement.reason,
        **verdict_source(judgement, sources, examination.whole)._asdict(),
        "answers": list(judgement.answers),
        "notes": list(judgement.notes),
        "options": {
            option: {
                "text": text,
                "state": findings[option].state.value,
                "reason": findings[option].reason,
                **sources[option]._asdict(),
                "derived_from": list(findings[option].derived_from),
                "notes": list(findings[option].notes),
                "proofs": [proof_values(trial) for trial in examination.trials.get(option, ())],
            }
            for option, text in question.options.items()
        },
    }


def _whole_values(trial: Trial) -> dict[str, Any]:
    """Return a proof about the question as a whole, with the options it is about."""
    claim = trial.proof.claim
    return {**proof_values(trial), "options": [one for one in (claim.option, claim.twin) if one]}


def proof_values(trial: Trial) -> dict[str, Any]:
    """Return a proof and its result as stored in a record."""
    claim = trial.proof.claim
    return {
        "file": trial.proof.file,
        "prover": trial.proof.prover,
        "statement": claim.statement,
        "relation": claim.relation.value,
        "kind": claim.kind,
        "grounds": claim.grounds.value,
        "author": author_of(trial.proof),
        "truth": trial.settled.truth.value,
        "reason": trial.settled.reason,
        "source": trial.proof.source,
        "tests": test_values(trial.outcome),
        "isolation": trial.outcome.isolation if trial.outcome else None,
    }


def test_values(outcome: ProofOutcome | None) -> list[dict[str, Any]]:
    """Return the tests of an outcome as stored in a record."""
    if outcome is None:
        return []
    return [
        {
            "name": test.name,
            "status": test.status.value,
            "message": test.message[:_OUTPUT],
            "output": test.output[:_OUTPUT],
            "objection": test.objection,
        }
        for test in outcome.tests
    ]
