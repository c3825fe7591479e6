"""Calibrates the provers on a suite: verifies every Valid question again with planted defects.

Stored proofs of the original are never used for a mutant, and nothing is stored for either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from assay.errors import BudgetExceeded
from assay.model import (
    AttributeResult,
    CaseRecord,
    GroupType,
    Outcome,
    Share,
    VerifierReport,
    compute_fingerprint,
)
from assay.questions.model import Key, Question
from assay.questions.mutants import (
    EXPECTED,
    Defect,
    QuestionMutant,
    mutants,
    sound_variants,
)
from assay.questions.proof_runners import ProofRunners
from assay.questions.verdict.exceptions import BROADER
from assay.questions.verdict.verdict import Verdict
from assay.questions.verification import Work, error_record, fingerprint, verify_one
from assay.reports import Paint, count, one_line
from assay.runs import Parts, Run, Unit

_ACCUSATIONS = (Verdict.INCORRECT.value, Verdict.AMBIGUOUS.value)


class Result(StrEnum):
    """The rating of a verdict on a mutant or on a sound variant."""

    FOUND = "found"  # the defect is named, and no option is said to be right that is not
    WRONG = "wrong"  # accused of something that is not so
    OPEN = "open"  # Unproven: not found, but nothing false is said
    MISSED = "missed"  # a defect called Valid
    ANSWERABLE = "answerable"  # blurred, and still Valid: its options alone may say what is asked
    UNTRIED = "untried"  # of a question that is not settled: nobody would find it
    CONFIRMED = "confirmed"  # a sound question called Valid


@dataclass(frozen=True)
class CalibrationTrial:
    """A mutant of a question, or a sound variant, and its result."""

    question: str
    name: str
    defect: Defect | None
    verdict: str
    result: Result
    change: str = ""
    reason: str = ""

    def describe(self) -> str:
        return f"{self.question} ({self.name}): {self.change}; {self.reason}"


def result_of(
    defect: Defect | None,
    verdict: str,
    said: Collection[str],
    answers: Collection[str] | None,
) -> Result:
    """Return the rating of a verdict, given the correct options and those reported to hold."""
    is_valid = verdict == Verdict.VALID
    if defect is None:
        if verdict in _ACCUSATIONS:
            return Result.WRONG
        return Result.CONFIRMED if is_valid else Result.OPEN
    if is_valid:
        # Nobody knows whether a question is a defect because its subject is not named.
        return Result.MISSED if answers is not None else Result.ANSWERABLE
    if verdict not in _ACCUSATIONS:
        return Result.OPEN
    is_right = verdict == EXPECTED[defect] and (answers is None or set(said) <= set(answers))
    return Result.FOUND if is_right else Result.WRONG


@dataclass(frozen=True)
class Score:
    """The numbers of one kind of defect, or of all of them.

    `mutants` are those of settled questions, `untried` those of questions that stay open.
    `answerable` were blurred and are still Valid: whether they are defects is not known, so they
    are counted apart. `false` are the accusations of the sound questions that these mutants were
    made of.
    """

    name: str
    mutants: int
    found: int
    wrong: int
    open: int
    missed: int
    false: int
    answerable: int = 0
    untried: int = 0

    @property
    def recall(self) -> Share:
        """Of the mutants of settled questions, how many were found."""
        return Share(self.found, self.mutants - self.answerable)

    @property
    def suite_recall(self) -> Share:
        """Of the mutants of all questions, how many were found; an open question finds none."""
        return Share(self.found, self.mutants - self.answerable + self.untried)

    @property
    def precision(self) -> Share:
        """Of the accusations of mutants and of their originals, how many were right."""
        return Share(self.found, self.found + self.wrong + self.false)


@dataclass(frozen=True)
class Calibration:
    """The results of verifying all mutants of a suite."""

    valid: int
    left_out: tuple[str, ...]
    kinds: tuple[Score, ...]
    all: Score
    sound: Counter[Result]
    misses: tuple[CalibrationTrial, ...]
    wrongs: tuple[CalibrationTrial, ...]
    errors: tuple[str, ...] = ()


def score(
    tried: Sequence[CalibrationTrial], left_out: Iterable[str] = (), errors: Iterable[str] = ()
) -> Calibration:
    """Return the numbers per kind of defect and of all."""
    present = [defect for defect in Defect if any(one.defect is defect for one in tried)]
    mutants = [one for one in tried if one.defect is not None]
    settled = [one for one in tried if one.result is not Result.UNTRIED]
    sound = [one for one in tried if one.defect is None]
    return Calibration(
        valid=len({one.question for one in settled}),
        left_out=tuple(left_out),
        kinds=tuple(
            _score(defect, [one for one in mutants if one.defect is defect], sound)
            for defect in present
        ),
        all=_score("all", mutants, sound),
        sound=Counter(one.result for one in sound),
        misses=tuple(one for one in mutants if one.result is Result.MISSED),
        wrongs=tuple(one for one in tried if one.result is Result.WRONG),
        errors=tuple(errors),
    )


def _score(
    name: str, mutants: Sequence[CalibrationTrial], sound: Sequence[CalibrationTrial]
) -> Score:
    counts = Counter(one.result for one in mutants)
    origins = {one.question for one in mutants}
    return Score(
        name=str(name),
        mutants=len(mutants) - counts[Result.UNTRIED],
        found=counts[Result.FOUND],
        wrong=counts[Result.WRONG],
        open=counts[Result.OPEN],
        missed=counts[Result.MISSED],
        false=sum(one.result is Result.WRONG and one.question in origins for one in sound),
        answerable=counts[Result.ANSWERABLE],
        untried=counts[Result.UNTRIED],
    )


SUBJECT = "calibration"
DETAIL_VERSION = 1
LEFT_OUT = "left-out"


@dataclass(frozen=True)
class Planting:
    """How many mutants of a kind a question gets, and the seed that chooses them."""

    count: int = 1
    seed: int = 0


@dataclass(frozen=True)
class CalibrationWorker:
    """Tries single questions with planted defects."""

    runners: ProofRunners
    planting: Planting

    async def run(self, unit: Unit, parts: Parts) -> CaseRecord:
        """Return the record of one question."""
        try:
            return await calibrate_one(unit.payload, self.runners, self.planting)
        except BudgetExceeded:
            raise
        except Exception as error:
            # An error in one question is recorded for it and does not stop the others.
            record = error_record(unit.payload, error)
            mark = _fingerprint(unit.payload, self.planting)
            return record.model_copy(update={"subject": SUBJECT, "fingerprint": mark})


def list_calibrations(work: Iterable[Work], planting: Planting) -> Iterator[Unit]:
    """List questions as the cases of a calibration."""
    for place, one in enumerate(work):
        yield Unit(one.identifier, place, _fingerprint(one, planting), one)


def _fingerprint(work: Work, planting: Planting) -> str:
    return compute_fingerprint(fingerprint(work), planting.count, planting.seed)


async def calibrate_one(work: Work, runners: ProofRunners, planting: Planting) -> CaseRecord:
    """Return the record of one question: the verdict on it with each defect, if it is Valid."""
    question, key = work.entry.question, work.entry.key
    original = await verify_one(work, runners, writes=False)
    verdict = str((original.detail or {})["verdict"])
    if not isinstance(question, Question) or key is None:
        return _exclude(work, planting, verdict, [])
    if verdict != Verdict.VALID:
        # Nobody can say what a defect changes in a question that is open. What could be planted is
        # counted and not verified; in one that is wrong already nothing is.
        is_open = verdict == Verdict.UNPROVEN
        untried = _plan_untried(question, key, planting) if is_open else []
        return _exclude(work, planting, verdict, untried)
    planted = [
        *sound_variants(question, key.answer, planting.seed),
        *mutants(
            question, key.answer, planting.seed, planting.count, shadowed=_find_shadowed(original)
        ),
    ]
    tried = [(one, await verify_one(_plant(work, one), runners, writes=False)) for one in planted]
    return _record(work, planting, [_values(*one) for one in tried])


def _plan_untried(question: Question, key: Key, planting: Planting) -> list[dict[str, Any]]:
    planted = mutants(question, key.answer, planting.seed, planting.count)
    return [
        {
            "name": one.name,
            "defect": one.defect.value if one.defect else None,
            "change": one.change,
            "verdict": Verdict.UNPROVEN.value,
            "reason": "the question itself is open",
            "result": Result.UNTRIED.value,
        }
        for one in planted
    ]


def _find_shadowed(record: CaseRecord) -> list[str]:
    options: dict[str, Any] = (record.detail or {}).get("options", {})
    return [letter for letter, one in options.items() if BROADER in " ".join(one["notes"])]


def _plant(work: Work, mutant: QuestionMutant) -> Work:
    entry = replace(work.entry, question=mutant.question, key=Key(mutant.key))
    identifier = f"{work.identifier}~{mutant.name}"
    return replace(work.revise(entry), identifier=identifier)


def _values(mutant: QuestionMutant, record: CaseRecord) -> dict[str, Any]:
    detail: dict[str, Any] = record.detail or {}
    answers = None if mutant.answers is None else sorted(mutant.answers)
    result = result_of(mutant.defect, detail["verdict"], detail.get("answers", ()), answers)
    return {
        "name": mutant.name,
        "defect": mutant.defect.value if mutant.defect else None,
        "change": mutant.change,
        "question": mutant.question.text,
        "options": dict(mutant.question.options),
        "key": mutant.key,
        "answers": answers,
        "verdict": detail["verdict"],
        "reason": detail["reason"],
        "result": result.value,
    }


# --- Records -----------------------------------------------------------------------------------


def _exclude(
    work: Work, planting: Planting, verdict: str, untried: list[dict[str, Any]]
) -> CaseRecord:
    return CaseRecord(
        id=work.identifier,
        subject=SUBJECT,
        outcome=Outcome.UNVERIFIED,
        reason=f"left out: it is {verdict}, and only a Valid question shows what a defect changes",
        code=LEFT_OUT,
        detail={"version": DETAIL_VERSION, "verdict": verdict, "mutants": untried},
        fingerprint=_fingerprint(work, planting),
    )


def _record(work: Work, planting: Planting, tried: list[dict[str, Any]]) -> CaseRecord:
    report = VerifierReport(
        id=work.identifier,
        group=work.entry.file.stem,
        type=GroupType.FUNCTIONALITY,
        duration=0.0,
        results={one["name"]: _attribute(one) for one in tried},
    )
    bad = [one for one in tried if one["result"] in (Result.MISSED, Result.WRONG)]
    reason = "; ".join(f"{one['result']}: {one['name']}" for one in bad)
    return CaseRecord(
        id=work.identifier,
        subject=SUBJECT,
        outcome=Outcome.FAILED if bad else Outcome.PASSED,
        reason=reason or "no defect was called Valid, and nothing was accused wrongly",
        code=str(bad[0]["result"]) if bad else "calibrated",
        reports=[report],
        detail={"version": DETAIL_VERSION, "verdict": Verdict.VALID.value, "mutants": tried},
        fingerprint=_fingerprint(work, planting),
    )


def _attribute(tried: dict[str, Any]) -> AttributeResult:
    right = {
        Result.FOUND: True,
        Result.CONFIRMED: True,
        Result.OPEN: None,
        Result.ANSWERABLE: None,
    }
    is_correct = right.get(Result(tried["result"]), False)
    defect = tried["defect"]
    return AttributeResult(
        attribute=tried["name"],
        actual=f"{tried['verdict']}: {tried['reason']}",
        expected=EXPECTED[Defect(defect)].value if defect else "Valid or Unproven",
        diff=None if is_correct else tried["change"],
        is_correct=is_correct,
        weight=0.0 if is_correct is None else 1.0,
    )


def calibration_of(run: Run) -> Calibration:
    """Return the numbers of a run."""
    tried: list[CalibrationTrial] = []
    left_out, errors = [], []
    for row in run.rows():
        packed = run.read_packed(row)
        if packed["outcome"] == Outcome.ERROR:
            errors.append(f"{packed['id']}: {packed['reason']}")
        else:
            if packed["code"] == LEFT_OUT:
                left_out.append(packed["id"])
            tried += [_read_trial(packed["id"], one) for one in packed["detail"]["mutants"]]
    return score(tried, left_out, errors)


def _read_trial(question: str, mutant: dict[str, Any]) -> CalibrationTrial:
    return CalibrationTrial(
        question=question,
        name=mutant["name"],
        defect=Defect(mutant["defect"]) if mutant["defect"] else None,
        verdict=mutant["verdict"],
        result=Result(mutant["result"]),
        change=mutant["change"],
        reason=mutant["reason"],
    )


VERSION = 1
_HEAD = (
    "defect", "mutants", "found", "wrong", "open", "missed", "recall", "precision", "suite recall",
)  # fmt: skip


def calibration_lines(found: Calibration, paint: Paint) -> Iterator[str]:
    """Yield the table, then every mutant that was called Valid and every false accusation."""
    out = f"; {len(found.left_out)} left out, for they are not Valid" if found.left_out else ""
    yield f"calibrated with {count(found.valid, 'Valid question')}{out}"
    yield ""
    yield from _table([_HEAD, *map(_row, (*found.kinds, found.all))])
    yield ""
    if found.all.untried:
        yield (
            f"suite recall counts {count(found.all.untried, 'defect')} of the open questions as "
            "not found"
        )
    if found.all.answerable:
        yield (
            f"{count(found.all.answerable, 'blurred question')} called Valid may still be "
            "answerable and are not counted"
        )
    yield (
        f"sound questions verified: {found.sound.total()}, of which confirmed "
        f"{found.sound[Result.CONFIRMED]}, open {found.sound[Result.OPEN]}, wrongly accused "
        f"{found.sound[Result.WRONG]}"
    )
    for one in found.misses:
        yield f"{paint('missed', 'failed')} {one_line(one.describe())}"
    for one in found.wrongs:
        yield f"{paint('wrongly accused', 'failed')} {one_line(one.describe())}"
    for line in found.errors:
        yield f"{paint('error', 'error')} {one_line(line)}"


def _row(score: Score) -> tuple[str, ...]:
    numbers = (score.mutants, score.found, score.wrong, score.open, score.missed)
    shares = (score.recall, score.precision, score.suite_recall)
    return (score.name, *map(str, numbers), *map(str, shares))


def _table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.ljust(width) if place in (0, 6, 7, 8) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def calibration_values(found: Calibration) -> dict[str, Any]:
    """Return the same as JSON."""
    return {
        "version": VERSION,
        "valid": found.valid,
        "left_out": list(found.left_out),
        "defects": [_score_values(one) for one in found.kinds],
        "all": _score_values(found.all),
        "sound": {
            "verified": found.sound.total(),
            **{
                one.value: found.sound[one] for one in (Result.CONFIRMED, Result.OPEN, Result.WRONG)
            },
        },
        "misses": [_trial_values(one) for one in found.misses],
        "wrongly_accused": [_trial_values(one) for one in found.wrongs],
        "errors": list(found.errors),
    }


def _score_values(score: Score) -> dict[str, Any]:
    return {
        "defect": score.name,
        "mutants": score.mutants,
        "found": score.found,
        "wrong": score.wrong,
        "open": score.open,
        "missed": score.missed,
        "may_still_be_answerable": score.answerable,
        "of_open_questions": score.untried,
        "falsely_accused_originals": score.false,
        "recall": _share_values(score.recall),
        "suite_recall": _share_values(score.suite_recall),
        "precision": _share_values(score.precision),
    }


def _share_values(share: Share) -> dict[str, Any]:
    low, high = share.interval
    return {"value": share.value, "low": low, "high": high, "of": share.trials}


def _trial_values(one: CalibrationTrial) -> dict[str, Any]:
    return {
        "question": one.question,
        "mutant": one.name,
        "defect": one.defect.value if one.defect else None,
        "change": one.change,
        "verdict": one.verdict,
        "reason": one.reason,
    }
