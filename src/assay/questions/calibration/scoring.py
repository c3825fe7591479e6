"""Scores verdicts on mutants: what was found, missed, left open, or said wrongly. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from assay.model import Share
from assay.questions.calibration.mutants import EXPECTED, Defect
from assay.questions.verdict.verdict import Verdict

_ACCUSATIONS = (Verdict.INCORRECT.value, Verdict.AMBIGUOUS.value)


class Result(StrEnum):
    """What a verdict on a mutant, or on a sound variant, is worth."""

    FOUND = "found"  # the defect is named, and no option is said to be right that is not
    WRONG = "wrong"  # accused of something that is not so
    OPEN = "open"  # Unproven: not found, but nothing false is said
    MISSED = "missed"  # a defect called Valid
    CONFIRMED = "confirmed"  # a sound question called Valid


@dataclass(frozen=True)
class Tried:
    """A mutant of a question, or a sound variant, and what came of it."""

    question: str
    name: str
    defect: Defect | None
    verdict: str
    result: Result
    change: str = ""
    reason: str = ""

    def told(self) -> str:
        return f"{self.question} ({self.name}): {self.change}; {self.reason}"


def result_of(
    defect: Defect | None,
    verdict: str,
    said: Collection[str],
    answers: Collection[str] | None,
) -> Result:
    """What a verdict is worth where these options are right and those were said to hold."""
    is_valid = verdict == Verdict.VALID
    if defect is None:
        if verdict in _ACCUSATIONS:
            return Result.WRONG
        return Result.CONFIRMED if is_valid else Result.OPEN
    if is_valid:
        return Result.MISSED
    if verdict not in _ACCUSATIONS:
        return Result.OPEN
    is_right = verdict == EXPECTED[defect] and (answers is None or set(said) <= set(answers))
    return Result.FOUND if is_right else Result.WRONG


@dataclass(frozen=True)
class Score:
    """The numbers of one kind of defect, or of all of them.

    `false` are the accusations of the sound questions that these mutants were made of.
    """

    name: str
    mutants: int
    found: int
    wrong: int
    open: int
    missed: int
    false: int

    @property
    def recall(self) -> Share:
        """Of the mutants, how many were found."""
        return Share(self.found, self.mutants)

    @property
    def precision(self) -> Share:
        """Of the accusations of mutants and of their originals, how many were right."""
        return Share(self.found, self.found + self.wrong + self.false)


@dataclass(frozen=True)
class Calibration:
    """What is known after all mutants of a suite were verified."""

    valid: int
    left_out: tuple[str, ...]
    kinds: tuple[Score, ...]
    all: Score
    sound: Counter[Result]
    misses: tuple[Tried, ...]
    wrongs: tuple[Tried, ...]
    errors: tuple[str, ...] = ()


def score(
    tried: Sequence[Tried], left_out: Iterable[str] = (), errors: Iterable[str] = ()
) -> Calibration:
    """The numbers per kind of defect and of all."""
    present = [defect for defect in Defect if any(one.defect is defect for one in tried)]
    mutants = [one for one in tried if one.defect is not None]
    sound = [one for one in tried if one.defect is None]
    return Calibration(
        valid=len({one.question for one in tried}),
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


def _score(name: str, mutants: Sequence[Tried], sound: Sequence[Tried]) -> Score:
    counts = Counter(one.result for one in mutants)
    origins = {one.question for one in mutants}
    return Score(
        name=str(name),
        mutants=len(mutants),
        found=counts[Result.FOUND],
        wrong=counts[Result.WRONG],
        open=counts[Result.OPEN],
        missed=counts[Result.MISSED],
        false=sum(one.result is Result.WRONG and one.question in origins for one in sound),
    )
