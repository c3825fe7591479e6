"""The records of a submission run: one per case, `evaluation.json`, and pass policies."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from assay.documents import replace_file
from assay.errors import InputError
from assay.model import (
    MISTAKE,
    AttributeResult,
    CaseRecord,
    CaseResult,
    GroupType,
    Outcome,
    Value,
    VerificationResult,
    VerifierReport,
    to_json,
)
from assay.runs import Gate, Run, Unit, write_gate

SUBJECT = "submissions"
UNREADABLE = "unreadable"
"""The code of a failed case whose verifier gave no judgement of what the submission produced."""
_VERIFIER = "(verifier)"


class Home(NamedTuple):
    """Where a case belongs; a checkpoint whose setup failed has no group."""

    checkpoint: str
    group: str = ""
    type: str = ""

    def values(self) -> dict[str, Value]:
        return dict(self._asdict())


def describe_unreadable(error: str, actual: CaseResult) -> dict[str, VerificationResult]:
    """Return the substitute for a judgement if the verifier could not read the result."""
    why = error.replace("the verifier raised", "it raised", 1)
    what = f"the verifier could not read this output: {why}\nthe output: {actual.output!r:.500}"
    return {_VERIFIER: VerificationResult.create(what, False)}


def make_case_record(
    unit: Unit,
    home: Home,
    report: VerifierReport,
    actual: CaseResult | None,
    duration: float,
    *,
    is_mistake: bool = False,
) -> CaseRecord:
    """Return the record of a case that ran; `is_mistake` if its error is the author's."""
    return CaseRecord(
        detail=home.values(),
        id=unit.id,
        subject=SUBJECT,
        outcome=report.outcome,
        reason=_reason(report, actual),
        code=MISTAKE if is_mistake else _code(report),
        reports=[report],
        fingerprint=unit.fingerprint,
        duration=duration,
    )


class Broken(NamedTuple):
    """Cases that should exist, and why they do not."""

    home: Home
    reason: str
    code: str = Outcome.ERROR.value


def make_broken_record(unit: Unit) -> CaseRecord:
    """Return the record of unavailable cases: an error, so that nothing passes.

    It is a failure if they depend on an output that could not be read.
    """
    broken: Broken = unit.payload
    return CaseRecord(
        detail=broken.home.values(),
        id=unit.id,
        subject=SUBJECT,
        outcome=Outcome.FAILED if broken.code == UNREADABLE else Outcome.ERROR,
        reason=broken.reason,
        code=broken.code,
        fingerprint=unit.fingerprint,
    )


def _wrong(report: VerifierReport) -> list[str]:
    return [one.attribute for one in report.get_verified_attributes() if not one.is_correct]


def _code(report: VerifierReport) -> str:
    if _VERIFIER in report.results:
        return UNREADABLE
    if report.outcome is Outcome.FAILED:
        return ",".join(sorted(_wrong(report)))
    return "" if report.outcome is Outcome.PASSED else report.outcome.value


def _describe_undecided(one: AttributeResult) -> str:
    return f"not decided: {one.attribute}: {str(one.diff).partition(chr(10))[0]}"


def _reason(report: VerifierReport, actual: CaseResult | None) -> str:
    """Return one line on what is wrong, starting with why a program did not finish."""
    if report.error is not None:
        # The report has the full text.
        return report.error.partition("\n")[0]
    if report.outcome is Outcome.UNVERIFIED:
        open_ones = [
            one for one in report.results.values() if one.is_correct is None and one.weight
        ]
        return "; ".join(_describe_undecided(one) for one in open_ones) or "nothing was verified"
    if report.outcome is Outcome.PASSED:
        return ""
    if unread := report.results.get(_VERIFIER):
        return str(unread.diff).partition("\n")[0]
    names = f"wrong: {', '.join(_wrong(report))}"
    why = _why(report, actual)
    return f"{why}; {names}" if why else names


def _why(report: VerifierReport, actual: CaseResult | None) -> str:
    """Return what prevented the program from answering, if anything."""
    if entry := report.results.get("entry_file"):
        return str(entry.diff)
    if actual is None:
        return ""
    told = _TOLD.match(actual.stderr) if isinstance(actual.stderr, str) else None
    if told and actual.status_code == NO_ANSWER:
        return told[1]
    return "it exceeded its time limit" if actual.timed_out else ""


NO_ANSWER = -1
# The adapter's own message before a server's output.
_TOLD = re.compile(r"\[([^\]\n]*)\]")


EVALUATION = "evaluation.json"


def write_evaluation(run: Run, problem: str, policy: str) -> Path:
    """Judge a finished run by its policy and write `evaluation.json` into its folder."""
    gate = judge(policy, list(_count_cases(run)))
    if policy != DEFAULT:
        # The default is what holds for every run, baseline included: it needs no gate.
        write_gate(run.path, gate)
    path = run.path / EVALUATION
    replace_file(path, [json.dumps(evaluation(run, problem, gate), indent=2).encode() + b"\n"])
    return path


def judge_merged(run: Run) -> None:
    """Judge a run that was merged from others, as if it had been one from the start."""
    policy = str(run.manifest.asked.get("policy"))
    problem = run.manifest.title.partition(" by ")[0]
    try:
        write_evaluation(run, problem, policy if policy in POLICIES else DEFAULT)
    except TypeError:
        raise InputError("its records are not those of submissions", where=str(run.path)) from None


def _count_cases(run: Run) -> Iterator[Counted]:
    for row in run.rows():
        home = Home(**run.read_packed(row)["detail"])
        yield Counted(home.type, row.outcome, run.is_known(row))


def evaluation(run: Run, problem: str, gate: Gate) -> dict[str, Any]:
    """Outcomes by group, pass and total counts by type, and the policy."""
    checkpoints: dict[str, Any] = {}
    totals = _tally()
    by_type: dict[str, dict[str, int]] = {}
    coded: dict[str, list[str]] = {UNREADABLE: [], MISTAKE: []}
    for _, packed in run.all_packed():
        home, outcome = Home(**packed["detail"]), packed["outcome"]
        if packed["code"] in coded:
            coded[packed["code"]].append(packed["id"])
        groups = checkpoints.setdefault(home.checkpoint, {"groups": {}})["groups"]
        group = groups.setdefault(home.group or "(set-up)", {"type": home.type, **_tally()})
        for tally in (totals, by_type.setdefault(home.type or "(set-up)", _tally()), group):
            tally["total"] += 1
            tally[outcome] += 1
    return {
        "problem": problem,
        "run": run.name,
        "policy": gate.model_dump(),
        "totals": totals,
        # Failed because the verifier could not read them; errors that the author has to correct.
        "unreadable": coded[UNREADABLE],
        "mistakes": coded[MISTAKE],
        "types": by_type,
        "checkpoints": checkpoints,
    }


def _tally() -> dict[str, int]:
    return {"total": 0, **{outcome.value: 0 for outcome in Outcome}}


def to_case_values(record: CaseRecord, *, is_full: bool) -> dict[str, Any]:
    """Return one element of the array of `run-case`, as JSON."""
    if not record.reports:
        # Unavailable cases are reported like a case, so that readers do not miss them.
        home = record.detail if isinstance(record.detail, dict) else {}
        about = {"id": record.id, "group": home.get("group"), "score": 0.0, "passed": False}
        return {**about, "outcome": record.outcome.value, "error": record.reason, "results": {}}
    report = record.reports[0]
    score = {"score": report.calculate_score(), "passed": report.did_pass()}
    if is_full:
        about = report.model_dump(mode="json", exclude={"results", "case"})
        about |= {"results": _results(report), "case": to_json(report.case)}
        return {**about, **score, "outcome": report.outcome.value}
    short: dict[str, Any] = {"id": report.id, "group": report.group, **score}
    if not report.did_pass():
        short |= {"outcome": report.outcome.value, "results": _wrong_results(report)}
        if report.error is not None:
            short["error"] = report.error
    return short


def _results(report: VerifierReport) -> dict[str, Any]:
    return {name: to_json(dict(found.__dict__)) for name, found in report.results.items()}


def _wrong_results(report: VerifierReport) -> dict[str, Any]:
    """Return wrong and undecided results in full, and correct ones without details.

    Attributes without a judgement are left out, except standard error, which may explain a failure.
    """
    judged = {name: found for name, found in report.results.items() if found.weight}
    short: dict[str, Any] = {
        name: to_json(dict(found.__dict__))
        for name, found in judged.items()
        if not found.is_correct
    }
    for name, found in judged.items():
        if found.is_correct:
            short[name] = {"attribute": name, "is_correct": True, "weight": found.weight}
    stderr = report.results.get("stderr")
    if stderr is not None and "stderr" not in judged and stderr.actual:
        short["stderr"] = {"attribute": "stderr", "actual": to_json(stderr.actual)}
    return short


class Counted(NamedTuple):
    """A case as a policy sees it: its type of group, its outcome, and whether it is known."""

    type: str
    outcome: Outcome
    is_known: bool = False


@dataclass(frozen=True)
class Policy:
    """Which types count, and whether all of them must pass or one is enough."""

    types: Callable[[str], bool]
    is_any: bool
    about: str


def _is_core(type_: str) -> bool:
    return type_ == GroupType.CORE.value


def _is_not_error(type_: str) -> bool:
    return type_ != GroupType.ERROR.value


POLICIES: Mapping[str, Policy] = {
    "any-case": Policy(lambda type_: True, True, "cases"),
    "all-cases": Policy(lambda type_: True, False, "cases"),
    "all-non-error-cases": Policy(_is_not_error, False, "cases outside Error groups"),
    "core-cases": Policy(_is_core, False, "Core cases"),
    "any-core-cases": Policy(_is_core, True, "Core cases"),
    "all-core-cases": Policy(_is_core, False, "Core cases"),
}
DEFAULT = "all-cases"


def judge(name: str, cases: Iterable[Counted]) -> Gate:
    """Return whether a policy is met.

    An error is not a pass. If all must pass, an error anywhere fails, because the result of that
    case is unknown. A policy about cases that do not exist is a mistake, never a success.
    """
    policy, counts = POLICIES[name], Counter(cases)
    of_types = [one for one in counts.elements() if policy.types(one.type)]
    looked_at = [one for one in of_types if not one.is_known]
    if not of_types:
        raise InputError(
            f"the policy {name} looks at {policy.about}, and there are none",
            advice="choose another --policy, or run more of the problem",
        )
    passed = sum(one.outcome is Outcome.PASSED for one in looked_at)
    errors = sum(number for one, number in counts.items() if one.outcome is Outcome.ERROR)
    if not looked_at:
        reason = f"all {len(of_types)} {policy.about} are accepted by the baseline"
        return Gate(name=name, is_met=not errors, reason=reason)
    reason = f"{passed} of {len(looked_at)} {policy.about} passed"
    if policy.is_any:
        return Gate(name=name, is_met=passed > 0, reason=reason)
    is_met = passed == len(looked_at) and not errors
    return Gate(name=name, is_met=is_met, reason=f"{reason}, {errors} errors" if errors else reason)
