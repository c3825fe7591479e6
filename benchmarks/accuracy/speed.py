"""`python -m benchmarks.accuracy.speed`: 200 questions on google-adk through the real command.

The questions are the public multiple-choice ones, and the same again with their options shuffled
until there are enough. One question is verified before the clock starts, so that the environment is
built and the target's names are known. The questions are verified twice: first without stored
proofs, then with those that the first run stored, which are replayed.

CPU time is told apart: `own` is that of the command's process, which reads, writes proofs and
judges; `proofs` is that of its children, the sandboxes. On a machine that has other work, the wall
clock measures that work as well, so the number to expect on idle cores is told beside it: the CPU
time divided by the cores.
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
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import Any

from assay.questions.model import Question
from assay.questions.mutants import shuffle_options
from assay.questions.suite.suite import load_suites
from benchmarks.accuracy.subjects import ADK_SUITE, ADK_TARGET, DATA

QUESTIONS = 200
WANTED_WALL = 60.0
WANTED_OWN = 0.4
WANTED_OPTION = 0.060
# Runs the command and says what it and its children used.
_COUNTED = """
import atexit, json, resource, sys
from assay.cli import main

def tell(path=sys.argv.pop(1)):
    used = (resource.getrusage(one) for one in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    with open(path, "w") as file:
        json.dump([one.ru_utime + one.ru_stime for one in used], file)

atexit.register(tell)
main()
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit code is 1 if it took longer than it may."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy.speed")
    parser.add_argument("--data", type=Path, default=DATA, help="the public suites on google-adk")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    asked = parser.parse_args(arguments)
    suite = asked.data / ADK_SUITE
    if not suite.is_file():
        print(f"skipped, there is no {suite}; name the folder of the suites with --data")
        return 0
    values = multiply(_questions(suite), asked.questions)
    with tempfile.TemporaryDirectory(prefix="assay-accuracy-") as folder:
        first = _measure(values[:1], Path(folder, "one"), asked.jobs)
        spent = _measure(values, Path(folder, "all"), asked.jobs)
        proofs = list(Path(folder, "all", "proofs").rglob("test_option_*.py"))
        again = _measure(values, Path(folder, "all"), asked.jobs, "again")
    count, options = len(values), max(1, len({(one.parent, one.stem[:13]) for one in proofs}))
    print(
        f"{count} questions on {ADK_TARGET} with {asked.jobs} jobs, load {os.getloadavg()[0]:.1f}"
    )
    print(f"  one question before, with what had to be built: {first}")
    print(f"  without stored proofs: {spent}")
    print(f"    per question: own {spent.own / count:.3f} s of CPU (at most {WANTED_OWN})")
    print(f"  replay of {len(proofs)} stored proofs of {options} options: {again}")
    print(
        f"    per option: {again.wall / options * 1e3:.0f} ms "
        f"(at most {WANTED_OPTION * 1e3:.0f}), {again.idle(asked.jobs) / options * 1e3:.0f} ms "
        "on idle cores"
    )
    slow = spent.wall > WANTED_WALL or again.wall / options > WANTED_OPTION
    return int(slow or spent.own / count > WANTED_OWN)


@dataclass(frozen=True)
class Spent:
    """What a run of the command cost in seconds: of the clock, of its own CPU, of its proofs'."""

    wall: float
    own: float
    proofs: float

    def idle(self, jobs: int) -> float:
        """Return the least wall time on so many cores that have nothing else to do."""
        return max(self.own, (self.own + self.proofs) / jobs)

    def __str__(self) -> str:
        return f"{self.wall:.1f} s, CPU own {self.own:.1f} s, proofs {self.proofs:.1f} s"


def _questions(suite: Path) -> list[tuple[Question, str]]:
    return [
        (entry.question, entry.key.answer)
        for entry in load_suites([suite])[0].entries
        if isinstance(entry.question, Question) and entry.key is not None
    ]


def multiply(
    questions: Sequence[tuple[Question, str]], count: int = QUESTIONS, seed: int = 0
) -> list[dict[str, Any]]:
    """Return so many questions in the form of a suite, every one different from the others."""
    chance, made, seen = Random(seed), list(questions[:count]), set[str]()
    seen |= {question.fingerprint() for question, _ in made}
    for question, key in islice(cycle(questions), 100 * count):
        if len(made) == count:
            break
        shuffled = shuffle_options(question, key, chance)
        if shuffled and shuffled[0].fingerprint() not in seen:
            seen.add(shuffled[0].fingerprint())
            made.append((replace(shuffled[0], id=f"{question.id}-{len(made)}"), shuffled[1]))
    return [
        {
            "id": question.id,
            "question": question.text,
            "options": dict(question.options),
            "correct_answer": key,
        }
        for question, key in made
    ]


def _measure(values: Sequence[dict[str, Any]], folder: Path, jobs: int, run: str = "run") -> Spent:
    folder.mkdir(exist_ok=True)
    suite, told = folder / "suite.json", folder / "told.json"
    suite.write_text(json.dumps({"target": ADK_TARGET, "benchmarks": values}), "utf-8")
    command = [sys.executable, "-c", _COUNTED, str(told), "questions", "verify", str(suite)]
    command += ["--quiet", "--jobs", str(jobs), "--out", str(folder / run)]
    started = time.perf_counter()
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    wall = time.perf_counter() - started
    if ended.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {ended.returncode}:\n{ended.stderr}")
    return Spent(wall, *json.loads(told.read_text()))


if __name__ == "__main__":
    sys.exit(main())
