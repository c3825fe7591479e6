"""`python -m benchmarks.accuracy`: the prover that needs no model, against the labels.

Prints per suite the confusion of labels and verdicts, what was accused wrongly, what was settled,
the claims by kind, and what became of swapped keys. Ends with 1 if anything was said that is not
so: a false accusation, a defect called Valid, a wrong key called Valid; or if a prover crashed.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from assay.questions.claims.writers import WRITERS
from assay.questions.lexical import LexicalProver
from assay.questions.model import Question
from assay.questions.proof_runners import ProofRunners
from benchmarks.accuracy.proving import Answered, answer_all, runners
from benchmarks.accuracy.score import Scored, score, score_lines
from benchmarks.accuracy.subjects import (
    DATA,
    EXAMPLES,
    OWN_SUITES,
    ROUND_SUITES,
    Subject,
    subjects,
)
from benchmarks.accuracy.swaps import chosen, swapped, swaps


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy")
    parser.add_argument("--data", type=Path, default=DATA, help="the public suites on google-adk")
    names = [*OWN_SUITES, *ROUND_SUITES, *EXAMPLES, "google-adk", "api_understanding"]
    parser.add_argument("--only", action="append", choices=names, help="only this suite")
    parser.add_argument("--round", action="append", default=[], help="only the suites of a round")
    kinds = sorted(claim.model_fields["kind"].default for claim in WRITERS)
    parser.add_argument("--without", choices=kinds, help="leave out one kind of claim")
    parser.add_argument("--reasons", action="store_true", help="say why each one is as it is")
    asked = parser.parse_args(arguments)
    only = [*(asked.only or ()), *(n for n in ROUND_SUITES if n.split("-")[1] in asked.round)]
    found = subjects(asked.data, only)
    for missing in sorted(set(only or names) - {one.name for one in found}):
        print(f"{missing}: skipped, its questions are not in {asked.data}; name them with --data\n")
    return int(not asyncio.run(_measure(found, asked.without, reasons=asked.reasons)))


async def _measure(found: Sequence[Subject], without: str | None, *, reasons: bool) -> bool:
    right = True
    with tempfile.TemporaryDirectory(prefix="assay-accuracy-") as proofs:
        for subject in found:
            right &= await _measure_one(subject, Path(proofs), without, reasons=reasons)
    return right


async def _measure_one(
    subject: Subject, proofs: Path, without: str | None, *, reasons: bool
) -> bool:
    provers = (LexicalProver([without]),) if without else None
    work = subject.work(proofs)
    async with runners(work, remembers=True, provers=provers) as opened:
        answered = await answer_all(work, opened)
        print(f"## {subject.name} ({', '.join(work[0].target.requirements) or 'current'})\n")
        right = _tell_crashes(answered)
        if reasons:
            _tell_reasons(answered)
        if not subject.labels:
            _tell_verdicts(answered)
            return right
        scored = _scored(subject, answered)
        counted = score(scored)
        print("\n".join([*score_lines(counted), ""]), flush=True)
        swap_right = await _swap(subject, answered, scored, opened)
    return right and counted.is_right and swap_right


def _tell_crashes(answered: Sequence[Answered]) -> bool:
    crashes = [one for one in answered if one.crash]
    for one in crashes:
        print(f"crashed: {one.work.identifier}\n{one.crash}")
    return not crashes


def _tell_reasons(answered: Sequence[Answered]) -> None:
    for one in answered:
        if one.record is not None:
            print(f"{one.work.entry.id} ({one.elapsed:.1f} s)\n    {one.record.reason}")
    print()


def _tell_verdicts(answered: Sequence[Answered]) -> None:
    counted = Counter((one.record.detail or {})["verdict"] for one in answered if one.record)
    print(", ".join(f"{verdict} {number}" for verdict, number in counted.items()), "\n")


def _scored(subject: Subject, answered: Sequence[Answered]) -> list[Scored]:
    return [
        Scored(question, subject.labels[question.id], one.record.detail or {})
        for one in answered
        if one.record is not None and isinstance(question := one.work.entry.question, Question)
    ]


async def _swap(
    subject: Subject, answered: Sequence[Answered], scored: Sequence[Scored], opened: ProofRunners
) -> bool:
    settled = {one.question.id for one in scored if one.is_settled}
    questions = chosen([one.work for one in answered if one.work.entry.id in settled])
    again = await answer_all([swap for one in questions for swap in swaps(one)], opened)
    told = swapped(again, subject.labels, len(questions))
    print(
        f"keys swapped: {told.questions} settled questions, {told.keys} other keys, "
        f"{told.accused} accused, {told.mended} the right key of a defect and Valid, "
        f"{len(told.wrongly_valid)} wrongly Valid"
    )
    print("\n".join([*(f"  {name}" for name in told.wrongly_valid), ""]), flush=True)
    return not told.wrongly_valid and not any(one.crash for one in again)


if __name__ == "__main__":
    sys.exit(main())
