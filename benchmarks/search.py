"""Ranked search: for how many API questions of a suite the right class is among the first five.

`python -m benchmarks.search SUITE.yaml [--target google-adk==1.20.0]` prints a line per question
with the place of the first right class, and for each miss what came first instead. A question is a
hit if one of the classes that the suite accepts can be imported from a path found. Ends with 1 if
there are fewer hits than `--at-least`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from assay.questions.index import Hit, SymbolIndex, build_index
from assay.sandbox import Target, environment

_FIRST = 5
_LOOKED_AT = 50


def main(arguments: Sequence[str] = ()) -> int:
    """Ask the index every question of the suite, word by word; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search")
    parser.add_argument("suite", type=Path, help="a suite file with API questions")
    parser.add_argument("--target", default="google-adk==1.20.0")
    parser.add_argument("--at-least", type=int, default=0, help="so many hits are enough")
    asked = parser.parse_args(arguments)
    target = environment(Target(requirements=(asked.target,)), progress=_say)
    started = time.perf_counter()
    index = build_index(target, progress=_say)
    print(f"{len(index)} symbols of {asked.target} in {time.perf_counter() - started:.2f} s")
    questions = [
        one for one in yaml.safe_load(asked.suite.read_text())["benchmarks"] if "answers" in one
    ]
    ranks = [_ask(index, question) for question in questions]
    hits = sum(rank is not None and rank <= _FIRST for rank in ranks)
    first = sum(rank == 1 for rank in ranks)
    print(f"among the first {_FIRST}: {hits} of {len(ranks)}; first of all: {first}")
    return int(hits < asked.at_least)


def _ask(index: SymbolIndex, question: dict[str, Any]) -> int | None:
    accepted = {
        name for answer in question["answers"] for name in answer["fully_qualified_class_name"]
    }
    started = time.perf_counter()
    hits = index.search(question["question"], limit=_LOOKED_AT)
    elapsed = time.perf_counter() - started
    rank = next((place for place, hit in enumerate(hits, 1) if _paths(hit) & accepted), None)
    is_hit = rank is not None and rank <= _FIRST
    verdict = "hit " if is_hit else "MISS"
    print(f"{verdict} {rank or '-':>3} {elapsed * 1000:4.0f} ms  {question['question']}")
    if not is_hit:
        print(f"          wanted {min(accepted)}, came first:")
        for hit in hits[:_FIRST]:
            print(f"          {hit.score:6.2f} {hit.symbol.import_path}")
    return rank


def _paths(hit: Hit) -> set[str]:
    return {hit.symbol.path, *hit.symbol.paths}


def _say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
