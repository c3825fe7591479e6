"""Calibrates the provers on a suite: verifies every Valid question again with planted defects.

Questions whose truth is known by labels are verified as they are, defects among them: nobody
planted those. Stored proofs are used for neither, and nothing is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from pydantic import ValidationError

from assay.errors import BudgetExceeded, InfrastructureError, InputError
from assay.model import (
    AttributeResult,
    CaseRecord,
    GroupType,
    Outcome,
    Share,
    VerifierReport,
    compute_fingerprint,
)
from assay.models import open_meter
from assay.questions.claims import Library
from assay.questions.labels import Label, LabelKind
from assay.questions.model import Key, Question
from assay.questions.mutants import (
    EXPECTED,
    Defect,
    QuestionMutant,
    list_names,
    mutants,
    sound_variants,
)
from assay.questions.person import find_library
from assay.questions.proof_runners import ProofRunners
from assay.questions.verdict.exceptions import BROADER
from assay.questions.verdict.verdict import Verdict
from assay.questions.verification import (
    Procedure,
    Work,
    error_record,
    fingerprint,
    verify_one,
)
from assay.runs import Parts, Run, Unit

_ACCUSATIONS = (Verdict.INCORRECT.value, Verdict.AMBIGUOUS.value)


class Result(StrEnum):
    """The rating of a verdict on a mutant or on a sound variant."""

    FOUND = "found"  # the defect is named, and no option is said to be right that is not
    WRONG = "wrong"  # accused of something that is not so
    OPEN = "open"  # Unproven: not found, but nothing false is said
    MISSED = "missed"  # a defect called Valid
    ANSWERABLE = "answerable"  # blurred, and its options alone still say what is asked: no defect
    UNTRIED = "untried"  # of a question that is not settled: nobody would find it
    CONFIRMED = "confirmed"  # a sound question called Valid


@dataclass(frozen=True)
class CalibrationTrial:
    """A mutant of a question, or a sound variant, and its result.

    A question that is verified as it is has the `label` that says what is true of it.
    """

    question: str
    name: str
    defect: Defect | None
    verdict: str
    result: Result
    change: str = ""
    reason: str = ""
    label: str = ""

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


def result_of_label(label: Label, verdict: str, said: Collection[str]) -> Result:
    """Return the rating of a verdict on a question whose truth is known."""
    if label.label is LabelKind.JUDGEMENT:
        return Result.OPEN
    if not label.is_defect:
        return result_of(None, verdict, said, None)
    if verdict == Verdict.VALID:
        return Result.MISSED
    if verdict not in _ACCUSATIONS:
        return Result.OPEN
    is_right = verdict == label.label and (not label.answers or set(said) <= set(label.answers))
    return Result.FOUND if is_right else Result.WRONG


@dataclass(frozen=True)
class Score:
    """The numbers of one kind of defect, or of all of them.

    `mutants` are those of settled questions, `untried` those of questions that stay open.
    `answerable` were blurred, and their options alone still say what is asked: they are no defects
    and are dropped from all shares. `false` are the accusations of the sound questions that these
    mutants were made of.
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
class LabelledScore:
    """The numbers of questions that were verified as they are, and whose truth is known."""

    defects: int
    found: int
    wrong: int
    missed: int
    sound: int
    confirmed: int
    accused: int

    @property
    def recall(self) -> Share:
        """Of the defects, how many were found."""
        return Share(self.found, self.defects)


@dataclass(frozen=True)
class Calibration:
    """The results of verifying all mutants of a suite.

    `left_out` are the questions that no defect was planted in, with their verdicts; `used` is what
    a model used for all of it.
    """

    valid: int
    left_out: Mapping[str, str]
    kinds: tuple[Score, ...]
    all: Score
    sound: Counter[Result]
    misses: tuple[CalibrationTrial, ...]
    wrongs: tuple[CalibrationTrial, ...]
    labelled: LabelledScore | None = None
    errors: tuple[str, ...] = ()
    used: Mapping[str, float] = field(default_factory=dict)


def score(
    tried: Sequence[CalibrationTrial],
    left_out: Mapping[str, str] | None = None,
    errors: Iterable[str] = (),
    used: Mapping[str, float] | None = None,
) -> Calibration:
    """Return the numbers per kind of defect, of all of them, and of labelled questions."""
    planted = [one for one in tried if not one.label]
    labelled = [one for one in tried if one.label]
    present = [defect for defect in Defect if any(one.defect is defect for one in planted)]
    mutants = [one for one in planted if one.defect is not None]
    settled = [one for one in planted if one.result is not Result.UNTRIED]
    sound = [one for one in planted if one.defect is None]
    return Calibration(
        valid=len({one.question for one in settled}),
        left_out=dict(left_out or {}),
        kinds=tuple(
            _score(defect, [one for one in mutants if one.defect is defect], sound)
            for defect in present
        ),
        all=_score("all", mutants, sound),
        sound=Counter(one.result for one in sound),
        misses=tuple(one for one in tried if one.result is Result.MISSED),
        wrongs=tuple(one for one in tried if one.result is Result.WRONG),
        labelled=_score_labelled(labelled) if labelled else None,
        errors=tuple(errors),
        used=dict(used or {}),
    )


def _score_labelled(labelled: Sequence[CalibrationTrial]) -> LabelledScore:
    sound = [one for one in labelled if one.label == LabelKind.VALID]
    defects = [one for one in labelled if one.label in _ACCUSATIONS]
    counts = Counter(one.result for one in defects)
    said = Counter(one.result for one in sound)
    return LabelledScore(
        defects=len(defects),
        found=counts[Result.FOUND],
        wrong=counts[Result.WRONG],
        missed=counts[Result.MISSED],
        sound=len(sound),
        confirmed=said[Result.CONFIRMED],
        accused=said[Result.WRONG],
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
    """How many mutants of a kind a question gets, the seed that chooses them, and labels by id."""

    count: int = 1
    seed: int = 0
    labels: Mapping[str, Label] = field(default_factory=dict)

    def values(self) -> dict[str, Any]:
        """Return it as JSON."""
        labels = {name: one.model_dump(mode="json") for name, one in self.labels.items()}
        return {"mutants": self.count, "seed": self.seed, "labels": labels}

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> Planting:
        """Return what a run recorded, which is untrusted."""
        try:
            given = dict(values.get("labels") or {})
            labels = {name: Label.model_validate(one) for name, one in given.items()}
        except (ValidationError, TypeError, ValueError):
            raise InputError(
                "run.json does not contain the request", advice="start a new run"
            ) from None
        return cls(values["mutants"], values["seed"], labels)


@dataclass(frozen=True)
class CalibrationWorker:
    """Tries single questions with planted defects, by the procedure of the run."""

    runners: ProofRunners
    planting: Planting
    verify: Procedure = verify_one

    async def run(self, unit: Unit, parts: Parts) -> CaseRecord:
        """Return the record of one question."""
        work: Work = unit.payload
        try:
            with open_meter() as meter:
                record = await self._calibrate(work)
            return record.model_copy(update={"usage": meter.usage.as_record()})
        except BudgetExceeded:
            raise
        except Exception as error:
            # An error in one question is recorded for it and does not stop the others.
            record = error_record(work, error)
            mark = _fingerprint(work, self.planting)
            return record.model_copy(update={"subject": SUBJECT, "fingerprint": mark})

    async def _calibrate(self, work: Work) -> CaseRecord:
        question, key = work.entry.question, work.entry.key
        label = self.planting.labels.get(work.entry.id)
        known = [] if label is None else [await self._try_labelled(work, label)]
        if label is not None and label.label is not LabelKind.VALID:
            return _record(work, self.planting, label.label.value, known)
        original = await self._verify(work)
        verdict = str((original.detail or {})["verdict"])
        if not isinstance(question, Question) or key is None:
            return _record(work, self.planting, verdict, known)
        if verdict != Verdict.VALID:
            # Nobody can say what a defect changes in a question that is open. What could be planted
            # is counted and not verified; in one that is wrong already nothing is.
            is_open = verdict == Verdict.UNPROVEN
            untried = _plan_untried(question, key, self.planting) if is_open else []
            return _record(work, self.planting, verdict, [*known, *untried])
        seed, count = self.planting.seed, self.planting.count
        shadowed = _find_shadowed(original)
        planted = [
            *sound_variants(question, key.answer, seed),
            *mutants(question, key.answer, seed, count, shadowed=shadowed),
        ]
        library = await find_library(question, self.runners.of(work.target))
        tried = [await self._try(work, one, library) for one in planted]
        return _record(work, self.planting, verdict, [*known, *tried])

    async def _verify(self, work: Work) -> CaseRecord:
        record = await self.verify(work, self.runners, writes=False)
        if record.outcome is Outcome.ERROR or not isinstance(record.detail, dict):
            raise InfrastructureError(f"{work.identifier} could not be verified: {record.reason}")
        return record

    async def _try(
        self, work: Work, mutant: QuestionMutant, library: Library | str
    ) -> dict[str, Any]:
        if mutant.defect is Defect.QUESTION_BLURRED and not isinstance(library, str):
            dead = [one for one in mutant.distractors if is_dead(one, library)]
            if len(dead) == len(mutant.distractors):
                return _answerable_values(mutant)
        return _values(mutant, await self._verify(_plant(work, mutant)))

    async def _try_labelled(self, work: Work, label: Label) -> dict[str, Any]:
        """Verify a question as it is, without what is stored about it."""
        fresh = replace(work.revise(work.entry), identifier=f"{work.identifier}~labelled")
        detail: dict[str, Any] = (await self._verify(fresh)).detail or {}
        result = result_of_label(label, detail["verdict"], detail.get("answers", ()))
        return {
            "name": "labelled",
            "defect": None,
            "label": label.label.value,
            "change": f"by its label it is {label.label.value}: {label.reason}".rstrip(": "),
            "verdict": detail["verdict"],
            "reason": detail["reason"],
            "result": result.value,
        }


def is_dead(text: str, library: Library) -> bool:
    """Tell whether an option names something that the target has nowhere: it is never right."""
    return any(not library.index.find(name) for name in list_names(text))


def list_calibrations(work: Iterable[Work], planting: Planting) -> Iterator[Unit]:
    """List questions as the cases of a calibration."""
    for place, one in enumerate(work):
        yield Unit(one.identifier, place, _fingerprint(one, planting), one)


def _fingerprint(work: Work, planting: Planting) -> str:
    label = planting.labels.get(work.entry.id)
    known = [] if label is None else [label.model_dump(mode="json")]
    return compute_fingerprint(fingerprint(work), planting.count, planting.seed, *known)


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


def _answerable_values(mutant: QuestionMutant) -> dict[str, Any]:
    return {
        "name": mutant.name,
        "defect": Defect.QUESTION_BLURRED.value,
        "change": mutant.change,
        "verdict": Verdict.VALID.value,
        "reason": "every other option names something that the target does not have",
        "result": Result.ANSWERABLE.value,
    }


# --- Records -----------------------------------------------------------------------------------


def _record(
    work: Work, planting: Planting, verdict: str, tried: list[dict[str, Any]]
) -> CaseRecord:
    """Return the record of one question; only in a Valid one defects were planted."""
    shown = [one for one in tried if one["result"] != Result.UNTRIED]
    report = VerifierReport(
        id=work.identifier,
        group=work.entry.file.stem,
        type=GroupType.FUNCTIONALITY,
        duration=0.0,
        results={one["name"]: _attribute(one) for one in shown},
    )
    bad = [one for one in tried if one["result"] in (Result.MISSED, Result.WRONG)]
    reason = "; ".join(f"{one['result']}: {one['name']}" for one in bad)
    is_planted = verdict == Verdict.VALID
    left_out = f"left out: it is {verdict}, and only a Valid question shows what a defect changes"
    fine = "no defect was called Valid, and nothing was accused wrongly"
    outcome = Outcome.PASSED if is_planted else Outcome.UNVERIFIED
    return CaseRecord(
        id=work.identifier,
        subject=SUBJECT,
        outcome=Outcome.FAILED if bad else outcome,
        reason=reason or (fine if is_planted else left_out),
        code=str(bad[0]["result"]) if bad else ("calibrated" if is_planted else LEFT_OUT),
        reports=[report] if shown else [],
        detail={"version": DETAIL_VERSION, "verdict": verdict, "mutants": tried},
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
        expected=tried.get("label") or _expect(defect),
        diff=None if is_correct else tried["change"],
        is_correct=is_correct,
        weight=0.0 if is_correct is None else 1.0,
    )


def _expect(defect: str | None) -> str:
    return EXPECTED[Defect(defect)].value if defect else "Valid or Unproven"


def calibration_of(run: Run) -> Calibration:
    """Return the numbers of a run."""
    tried: list[CalibrationTrial] = []
    left_out: dict[str, str] = {}
    errors: list[str] = []
    used: Counter[str] = Counter()
    for row in run.rows():
        packed = run.read_packed(row)
        used.update(packed.get("usage") or {})
        if packed["outcome"] == Outcome.ERROR:
            errors.append(f"{packed['id']}: {packed['reason']}")
            continue
        detail = packed["detail"]
        if detail["verdict"] != Verdict.VALID:
            left_out[packed["id"]] = detail["verdict"]
        tried += [_read_trial(packed["id"], one) for one in detail["mutants"]]
    return score(tried, left_out, errors, used)


def _read_trial(question: str, mutant: dict[str, Any]) -> CalibrationTrial:
    return CalibrationTrial(
        question=question,
        name=mutant["name"],
        defect=Defect(mutant["defect"]) if mutant["defect"] else None,
        verdict=mutant["verdict"],
        result=Result(mutant["result"]),
        change=mutant["change"],
        reason=mutant["reason"],
        label=mutant.get("label", ""),
    )
