"""`python -m benchmarks.accuracy.speed`: sixty questions on google-adk through the real command.

The questions are the public multiple-choice ones, the first of them once more with their options
shuffled until there are enough. One question is verified before the clock starts, so that the
environment is built and the target's names are known; no proof is stored. The CPU time is printed
too: on a machine that has other work, the wall clock measures that work as well.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from assay.questions.model import Question
from assay.questions.mutants import shuffle_options
from assay.questions.suite.suite import load_suites
from benchmarks.accuracy.subjects import ADK_SUITE, ADK_TARGET, DATA

QUESTIONS = 60
WANTED = 60.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit code is 1 if it took longer than it may."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy.speed")
    parser.add_argument("--data", type=Path, default=DATA, help="the public suites on google-adk")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args(arguments)
    suite = asked.data / ADK_SUITE
    if not suite.is_file():
        print(f"skipped, there is no {suite}; name the folder of the suites with --data")
        return 0
    values = sixty(_questions(suite))
    first = _timed(values[:1], asked.jobs)
    spent = _timed(values, asked.jobs)
    print(f"{len(values)} questions on {ADK_TARGET} with {asked.jobs} jobs: {spent}")
    print(f"one question before, with what had to be built: {first}")
    return int(spent.wall > WANTED)


@dataclass(frozen=True)
class Spent:
    """What a run of the command cost, and how busy the machine was."""

    wall: float
    cpu: float
    load: float

    def __str__(self) -> str:
        return f"{self.wall:.1f} s, {self.cpu:.1f} s of CPU, load {self.load:.1f}"


def _questions(suite: Path) -> list[tuple[Question, str]]:
    return [
        (entry.question, entry.key.answer)
        for entry in load_suites([suite])[0].entries
        if isinstance(entry.question, Question) and entry.key is not None
    ]


def sixty(questions: Sequence[tuple[Question, str]], seed: int = 0) -> list[dict[str, Any]]:
    """So many questions in the form of a suite, every one different from the others."""
    chance = Random(seed)
    again = (shuffled for one in questions if (shuffled := shuffle_options(*one, chance)))
    more = (
        (replace(question, id=f"{question.id}-again"), key)
        for question, key in islice(again, max(0, QUESTIONS - len(questions)))
    )
    return [
        {
            "id": question.id,
            "question": question.text,
            "options": dict(question.options),
            "correct_answer": key,
        }
        for question, key in [*questions[:QUESTIONS], *more]
    ]


def _timed(values: Sequence[dict[str, Any]], jobs: int) -> Spent:
    with tempfile.TemporaryDirectory(prefix="assay-accuracy-") as folder:
        suite = Path(folder, "suite.json")
        suite.write_text(json.dumps({"benchmarks": values}), "utf-8")
        command = [sys.executable, "-m", "assay", "questions", "verify", str(suite), "--quiet"]
        command += ["--target", ADK_TARGET, "--jobs", str(jobs), "--out", f"{folder}/run"]
        started, before = time.perf_counter(), os.times()
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        wall, after = time.perf_counter() - started, os.times()
    if ended.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {ended.returncode}:\n{ended.stderr}")
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    return Spent(wall, cpu, os.getloadavg()[0])


if __name__ == "__main__":
    sys.exit(main())
