"""Proofs: cold `python -m pytest`, against warm without isolation and warm with it, in one run.

The three take turns, so that whatever else the machine does falls on all of them, and each is asked
after a short pause, in which a warm process makes itself ready for the next proof. What that hides
shows in the rates: proofs back to back, and two at a time. Also printed: the time to the first
outcome from an empty and from a filled cache. `python -m benchmarks.proofs --quick` is shorter.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.sandbox.proofs import ProofRunner
from assay.sandbox.targets import Environment, Target, environment

_PAUSE = 0.05
_LIGHT = """
import pytest
from pydantic import BaseModel, ValidationError

class Order(BaseModel):
    number: int

def test_accepts():
    assert Order(number="3").number == 3

def test_refuses():
    with pytest.raises(ValidationError):
        Order(number="three")
"""
_HEAVY = """
import pytest
from google.adk.agents import LlmAgent

def test_has_a_name():
    assert LlmAgent(name="helper", model="m").name == "helper"

def test_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match="Extra inputs are not permitted"):
        LlmAgent(name="helper", model="m", colour="blue")
"""
_FIRST = """
import asyncio, sys
from assay.sandbox.proofs import ProofRunner
from assay.sandbox.targets import Target, environment

async def main():
    built = environment(Target(requirements=(sys.argv[1],)))
    async with ProofRunner(built, concurrency=1) as runner:
        assert (await runner.run(sys.argv[2])).passed

asyncio.run(main())
"""


@dataclass(frozen=True)
class Subject:
    """A target, the proof that is repeated on it, and what is imported before the forks."""

    name: str
    requirement: str
    proof: str
    imports: tuple[str, ...]


SUBJECTS = (
    Subject("light", "pydantic==2.12.5", _LIGHT, ("pydantic",)),
    Subject("heavy", "google-adk==1.20.0", _HEAVY, ("google.adk.agents",)),
)


def main(arguments: Sequence[str] = ()) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.proofs")
    parser.add_argument("--proofs", type=int, default=200, help="warm proofs of each kind")
    parser.add_argument("--cold", type=int, default=20, help="cold runs among them")
    parser.add_argument("--subject", choices=[one.name for one in SUBJECTS], action="append")
    parser.add_argument("--quick", action="store_true", help="30 proofs, 3 cold, no empty cache")
    asked = parser.parse_args(arguments)
    if asked.quick:
        asked.proofs, asked.cold = 30, 3
    for subject in SUBJECTS:
        if not asked.subject or subject.name in asked.subject:
            asyncio.run(_measure(subject, asked.proofs, asked.cold))
            _measure_first(subject, empty=not asked.quick)


async def _measure(subject: Subject, proofs: int, cold: int) -> None:
    built = environment(Target(requirements=(subject.requirement,)))
    times: dict[str, list[float]] = {"cold": [], "bare": [], "isolated": []}
    bare = ProofRunner(built, imports=subject.imports, concurrency=1, isolation="none")
    isolated = ProofRunner(built, imports=subject.imports, concurrency=1)
    both = ProofRunner(built, imports=subject.imports, concurrency=2)
    async with bare, isolated:
        for runner in (bare, isolated):
            await runner.run(subject.proof)
        for number in range(proofs):
            for name, runner in (("bare", bare), ("isolated", isolated)):
                times[name].append(await _timed(runner, subject.proof))
            if number % max(1, proofs // cold) == 0:
                times["cold"].append(_cold(built, subject.proof))
        one = await _rate(isolated, subject.proof, proofs)
    async with both:
        two = await _rate(both, subject.proof, proofs)
    _report(subject, times, one, two)


async def _timed(runner: ProofRunner, proof: str) -> float:
    await asyncio.sleep(_PAUSE)
    started = time.perf_counter()
    outcome = await runner.run(proof)
    elapsed = time.perf_counter() - started
    assert outcome.passed, outcome
    return elapsed


async def _rate(runner: ProofRunner, proof: str, proofs: int) -> float:
    await asyncio.gather(runner.run(proof), runner.run(proof))
    started = time.perf_counter()
    await asyncio.gather(*(runner.run(proof) for _ in range(proofs)))
    return proofs / (time.perf_counter() - started)


def _cold(built: Environment, proof: str) -> float:
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        Path(folder, "test_proof.py").write_text(proof, "utf-8")
        started = time.perf_counter()
        subprocess.run(
            [built.python, "-m", "pytest", "-q", "test_proof.py"],
            cwd=folder,
            env={
                "PATH": "/usr/bin:/bin",
                "LANG": "C.UTF-8",
                "PYTHONPATH": str(built.kit),
                # Nothing is written beside the kit: it is verified before it is used.
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            check=True,
            capture_output=True,
        )
        return time.perf_counter() - started


def _report(subject: Subject, times: dict[str, list[float]], one: float, two: float) -> None:
    cold, bare, isolated = (statistics.median(times[name]) for name in times)
    counts = f"{len(times['isolated'])} proofs, {len(times['cold'])} of them also cold"
    print(f"{subject.name}: {subject.requirement} ({counts}, medians)")
    for name, value in (("cold pytest", cold), ("warm, bare", bare), ("warm, isolated", isolated)):
        print(f"  {name:16}{value * 1000:10.1f} ms{cold / value:10.0f} × cold")
    print(f"  isolation costs {(isolated - bare) * 1000:.1f} ms")
    print(f"  back to back {one:.0f} proofs/s, two at a time {two:.0f} proofs/s", flush=True)


def _measure_first(subject: Subject, *, empty: bool) -> None:
    """From nothing to the first outcome, in a new process each time."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        if empty:
            caches = {"ASSAY_CACHE": f"{folder}/assay", "UV_CACHE_DIR": f"{folder}/uv"}
            first = _first(subject, caches)
            print(f"  first outcome from an empty cache {first:.1f} s", flush=True)
    print(f"  first outcome from a filled cache {_first(subject, {}):.1f} s", flush=True)


def _first(subject: Subject, variables: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", _FIRST, subject.requirement, subject.proof],
        env={**os.environ, **variables},
        check=True,
    )
    return time.perf_counter() - started


if __name__ == "__main__":
    main(sys.argv[1:])
