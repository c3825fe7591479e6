"""Key swaps: a settled question must not be Valid with a key that is not its answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from assay.questions.model import Key
from assay.questions.verification import Work
from benchmarks.accuracy.labels import Kind, Labels
from benchmarks.accuracy.proving import Answered
from benchmarks.accuracy.score import ACCUSATIONS

SWAPPED = 10


@dataclass(frozen=True)
class Swapped:
    """What became of the questions with other keys."""

    questions: int
    keys: int
    accused: int
    mended: int
    wrongly_valid: tuple[str, ...]


def swaps(work: Work) -> list[Work]:
    """The question once for every option that is not its key."""
    assert work.entry.key is not None
    options = getattr(work.entry.question, "options", {})
    return [
        replace(
            work,
            entry=replace(work.entry, key=Key(letter)),
            identifier=f"{work.identifier} with the key {letter}",
        )
        for letter in options
        if letter != work.entry.key.answer
    ]


def chosen(settled: Sequence[Work], count: int = SWAPPED) -> list[Work]:
    """So many questions, taken from the whole length of the suite."""
    if len(settled) <= count:
        return list(settled)
    return [settled[place * len(settled) // count] for place in range(count)]


def swapped(answered: Iterable[Answered], labels: Labels, questions: int) -> Swapped:
    """What came of it: a wrong key must not be Valid, the only right one of a defect may be."""
    keys = accused = mended = 0
    wrongly_valid = []
    for one in answered:
        if one.record is None or one.work.entry.key is None:
            continue
        keys += 1
        verdict = (one.record.detail or {})["verdict"]
        accused += verdict in ACCUSATIONS
        if verdict == Kind.VALID:
            is_right = labels[one.work.entry.id].answers == {one.work.entry.key.answer}
            mended += is_right
            wrongly_valid += [] if is_right else [one.work.identifier]
    return Swapped(questions, keys, accused, mended, tuple(wrongly_valid))
