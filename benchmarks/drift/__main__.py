"""`python -m benchmarks.drift`: drift on two suites, and every flip confirmed by plain pytest.

`facts/` has one plain test per question, which passes where the question is right. It runs in the
environment of every release, without the sandbox and the prover. A flip from or to Valid is
confirmed if the outcome of the plain test changes between the same two releases. Ends with 1 if a
flip is not confirmed. What changed and was not seen is counted, and depends on the prover.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import assay
from assay.runs import Run
from assay.sandbox import Environment, Target, environment

HERE = Path(__file__).parent
RELEASES = {
    "google_adk": ("google-adk", ("1.16.0", "1.20.0", "1.24.1", "2.13.0")),
    "werkzeug": ("werkzeug", ("1.0.1", "2.0.3", "2.1.2", "2.3.8", "3.1.3")),
}
_CHILD_LIMIT = 1_800


@dataclass(frozen=True)
class Scored:
    """The flips that drift told and those that plain pytest saw: (question, before, after)."""

    told: frozenset[tuple[str, str, str]]
    seen: frozenset[tuple[str, str, str]]
    undecided: tuple[str, ...]

    @property
    def confirmed(self) -> frozenset[tuple[str, str, str]]:
        return self.told & self.seen


def score(rows: dict[str, dict[str, str]], facts: dict[str, dict[str, bool]]) -> Scored:
    """Compare verdicts by question and release with what plain pytest says."""
    told, seen, undecided = set(), set(), []
    for question, row in rows.items():
        if set(row.values()) <= {"Unproven"}:
            undecided.append(question)
        for before, after in pairwise(row):
            if row[before] != row[after]:
                told.add((question, before, after))
            if facts[before][question] != facts[after][question]:
                seen.add((question, before, after))
    return Scored(frozenset(told), frozenset(seen), tuple(undecided))


def read_rows(run: Run) -> dict[str, dict[str, str]]:
    """Return the verdict of every question on every release."""
    rows = {}
    for record in run.records():
        detail: Any = record.detail
        if detail is None:
            sys.exit(f"{record.id}: {record.reason}")
        name = record.id.rpartition("::")[2]
        rows[name] = {one: found["verdict"] for one, found in detail["releases"].items()}
    return rows


def run_facts(suite: str, built: Environment) -> dict[str, bool]:
    """Return which plain tests of a suite pass in an environment, by the question's id."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "result.xml")
        # The facts alone are in the folder of the tests, and of pytest only the kit is used.
        subprocess.run(
            [built.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio",
             "-c", os.devnull,
             f"--rootdir={folder}", f"--junitxml={result}", HERE / "facts" / f"test_{suite}.py"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(built.kit), "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.DEVNULL,
            timeout=_CHILD_LIMIT,
        )  # fmt: skip
        tests = ET.parse(result).getroot().iter("testcase")
        return {
            str(one.get("name")).removeprefix("test_").replace("_", "-"): len(one) == 0
            for one in tests
        }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run drift on the suites, confirm its flips and print both; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drift")
    parser.add_argument("--only", choices=RELEASES, help="only this suite")
    parser.add_argument("--run", type=Path, help="a run of the suite of --only that is there")
    asked = parser.parse_args(arguments)
    wrong = 0
    for suite, (package, versions) in RELEASES.items():
        if asked.only in (None, suite):
            wrong += _measure(suite, package, versions, asked.run if asked.only else None)
    return int(wrong > 0)


def _measure(suite: str, package: str, versions: tuple[str, ...], there: Path | None) -> int:
    clock = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        run = Run(there) if there else assay.questions.drift(
            HERE / f"{suite}.yaml", releases=versions, search=False, out=Path(folder, "run")
        )  # fmt: skip
        rows = read_rows(run)
    took = time.perf_counter() - clock
    facts = {one: run_facts(suite, environment(Target((f"{package}=={one}",)))) for one in versions}
    found = score(rows, facts)
    print(f"{suite}: {len(rows)} questions on {', '.join(versions)}, {took:.0f} s")
    for question, row in rows.items():
        cells = (f"{row[one]}{'' if facts[one][question] else ' (wrong)'}" for one in versions)
        print(f"  {question:<28}{''.join(f'{cell:<22}' for cell in cells)}".rstrip())
    for question, before, after in sorted(found.told - found.seen):
        print(f"  not confirmed: {question} from {before} to {after}")
    for question, before, after in sorted(found.seen - found.told):
        print(f"  not seen: {question} from {before} to {after}")
    print(
        f"  flips told {len(found.told)}, confirmed by pytest {len(found.confirmed)}, "
        f"flips in truth {len(found.seen)}, questions undecided everywhere {len(found.undecided)}"
    )
    return len(found.told - found.seen)


if __name__ == "__main__":
    sys.exit(main())
