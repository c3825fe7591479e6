"""`python -m benchmarks.accuracy.ablation`: what each kind of claim is worth.

Every suite is verified once with all kinds of claims and once without each kind that it uses. A
kind that stays settles something on at least three libraries.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from assay.questions.lexical import LexicalProver
from benchmarks.accuracy.proving import Answered, answer_all, runners
from benchmarks.accuracy.subjects import (
    DATA,
    EXAMPLES,
    OWN_SUITES,
    ROUND_SUITES,
    Subject,
    round_subjects,
    subjects,
)

_ENOUGH = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a table; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy.ablation")
    numbers = sorted({name.split("-")[1] for name in ROUND_SUITES})
    parser.add_argument("--round", action="append", choices=numbers, help="only these rounds")
    parser.add_argument("--own", action="store_true", help="the other suites instead of rounds")
    parser.add_argument("--data", type=Path, default=DATA, help="the public suites on google-adk")
    asked = parser.parse_args(arguments)
    wanted = asked.round or numbers
    found = [one for one in round_subjects() if one.name.split("-")[1] in wanted]
    if asked.own:
        found = subjects(asked.data, [*OWN_SUITES, *EXAMPLES, "google-adk"])
    lost = asyncio.run(_measure(found))
    print("\n".join(make_table(lost)))
    return 0


async def _measure(found: Iterable[Subject]) -> dict[str, Counter[str]]:
    """Return for each kind how many verdicts are lost without it, by library."""
    lost: dict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory(prefix="assay-ablation-") as proofs:
        for subject in found:
            library = re.sub(r"^(?:round-\d+|example)-", "", subject.name)
            for kind, number in (await _measure_one(subject, Path(proofs))).items():
                lost[kind][library] = number
    return lost


async def _measure_one(subject: Subject, proofs: Path) -> dict[str, int]:
    prover = LexicalProver()
    work = subject.work(proofs)
    async with runners(work, remembers=True, provers=(prover,)) as opened:
        settled = _find_settled(await answer_all(work, opened))
        kinds = sorted({kind for used in settled.values() for kind in used})
        found = {}
        for kind in kinds:
            prover.without = frozenset({kind})
            using = [one for one in work if kind in settled.get(one.entry.id, ())]
            left = _find_settled(await answer_all(using, opened))
            found[kind] = len(using) - len(left)
    print(f"{subject.name}: {len(settled)} of {len(work)}", file=sys.stderr, flush=True)
    return found


def _find_settled(answered: Iterable[Answered]) -> dict[str, set[str]]:
    """Return the settled questions, with the kinds of claims that were proven for each."""
    found = {}
    for one in answered:
        detail = (one.record.detail or {}) if one.record else {}
        if detail.get("verdict", "Unproven") != "Unproven":
            options = detail.get("options", {}).values()
            kinds = {proof["kind"] for option in options for proof in option["proofs"]}
            is_twin = detail.get("code") == "same-answer"
            found[one.work.entry.id] = kinds | ({"same"} if is_twin else set())
    return found


def make_table(lost: Mapping[str, Counter[str]]) -> list[str]:
    """Return the table, the most valuable kind first."""
    lines = ["| kind | verdicts lost without it | libraries |", "|---|--:|---|"]
    for kind, where in sorted(lost.items(), key=lambda item: -item[1].total()):
        names = [name for name, number in where.items() if number]
        told = ", ".join(names) if len(names) <= _ENOUGH else f"{len(names)} libraries"
        lines.append(f"| {kind} | {where.total()} | {told or '-'} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
