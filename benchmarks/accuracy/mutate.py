"""`python -m benchmarks.accuracy.mutate`: mutated questions never crash or mislead the prover.

Half of the mutants mean the same as the question they come from: where that one is labelled Valid
(or left to people), none of them may be accused. The others may mean something else by now: they
must only be answered, within bounded time. Ends with 1 if a mutant crashed, hung, or was accused.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.questions.model import Key, Question
from assay.questions.verification import Work
from benchmarks.accuracy.damages import CHANGING
from benchmarks.accuracy.labels import Label
from benchmarks.accuracy.mutations import Mutant, mutants
from benchmarks.accuracy.proving import Answered, answer_all, runners
from benchmarks.accuracy.score import ACCUSATIONS
from benchmarks.accuracy.subjects import OWN_SUITES, own_subjects

COUNT = 2_000
_SHOWN = 20


@dataclass(frozen=True)
class Tried:
    """A mutant, the label of the question it comes from, and what was said of it."""

    mutant: Mutant
    label: Label
    answered: Answered

    @property
    def verdict(self) -> str:
        record = self.answered.record
        return "crashed" if record is None else str((record.detail or {})["verdict"])

    @property
    def is_false_accusation(self) -> bool:
        sound = self.mutant.keeps_meaning and not self.label.is_defect
        return sound and self.verdict in ACCUSATIONS


def main(arguments: Sequence[str] | None = None) -> int:
    """Mutate, ask and print; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy.mutate")
    parser.add_argument("--count", type=int, default=COUNT, help="so many mutants of all suites")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", choices=OWN_SUITES, help="only this suite")
    asked = parser.parse_args(arguments)
    clock = time.perf_counter()
    tried = asyncio.run(_try(asked.only or OWN_SUITES, asked.count, asked.seed))
    print("\n".join(result_lines(tried)))
    print(f"{time.perf_counter() - clock:.0f} s")
    return int(any(one.is_false_accusation or one.answered.crash for one in tried))


async def _try(names: Sequence[str], count: int, seed: int) -> list[Tried]:
    with tempfile.TemporaryDirectory(prefix="assay-accuracy-") as folder:
        work: dict[str, Work] = {}
        labels: dict[str, Label] = {}
        for subject in (one for one in own_subjects() if one.name in names):
            for one in subject.work(Path(folder)):
                name = f"{subject.name}/{one.entry.id}"
                work[name], labels[name] = one, subject.labels[one.entry.id]
        made = list(
            mutants([_named(name, one) for name, one in work.items()], CHANGING, count, seed)
        )
        origins = [one.question.id.split("~")[0] for one in made]
        asked = [_mutated(work[name], one) for name, one in zip(origins, made, strict=True)]
        async with runners(work.values(), remembers=True) as opened:
            answered = await answer_all(asked, opened, progress=_Progress(count))
    together = zip(made, origins, answered, strict=True)
    return [Tried(mutant, labels[name], one) for mutant, name, one in together]


def _named(name: str, work: Work) -> tuple[Question, str]:
    question, key = work.entry.question, work.entry.key
    assert isinstance(question, Question)
    assert key is not None
    return replace(question, id=name), key.answer


def _mutated(work: Work, mutant: Mutant) -> Work:
    entry = replace(work.entry, question=mutant.question, key=Key(mutant.key))
    return replace(work, entry=entry, identifier=mutant.question.id)


class _Progress:
    """Says on standard error how far it is."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0

    def __call__(self, answered: Answered) -> None:
        self._done += 1
        if self._done % 100 == 0:
            print(f"{self._done} of {self._total}", file=sys.stderr, flush=True)


def result_lines(tried: Sequence[Tried]) -> list[str]:
    """What came of the mutants, in numbers and with the names of those that went wrong."""
    kept = [one for one in tried if one.mutant.keeps_meaning]
    sound = [one for one in kept if not one.label.is_defect]
    defects = [one for one in kept if one.label.is_defect]
    changed = [one for one in tried if not one.mutant.keeps_meaning]
    accused = [one for one in tried if one.is_false_accusation]
    crashed = [one for one in tried if one.answered.crash]
    slowest = max(tried, key=lambda one: one.answered.elapsed)
    return [
        f"mutants {len(tried)}, of which {len(kept)} mean the same",
        f"crashed {len(crashed)}",
        *(f"  {one.mutant.question.id}: {_last(one)}" for one in crashed[:_SHOWN]),
        f"accused although sound and unchanged {len(accused)} of {len(sound)}",
        *(f"  {one.mutant.question.id}: {_reason(one)}" for one in accused[:_SHOWN]),
        f"verdicts on sound ones that mean the same: {_counted(sound)}",
        f"verdicts on defects that mean the same: {_counted(defects)}",
        f"verdicts on changed ones: {_counted(changed)}",
        f"slowest {slowest.answered.elapsed:.1f} s, {slowest.mutant.question.id}",
    ]


def _counted(tried: Sequence[Tried]) -> str:
    counts = Counter(one.verdict for one in tried)
    return ", ".join(f"{verdict} {number}" for verdict, number in counts.most_common()) or "none"


def _last(tried: Tried) -> str:
    return tried.answered.crash.strip().splitlines()[-1][:200]


def _reason(tried: Tried) -> str:
    assert tried.answered.record is not None
    return str(tried.answered.record.reason)[:300]


if __name__ == "__main__":
    sys.exit(main())
