"""`make fuzz`: look for inputs that break a loader, then for examples that break a property.

An input that breaks a loader is made smaller, written to `.fuzz/` and named together with the
command that repeats it. When it is mended it belongs in tests/corpus, so that it stays so.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import logging
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterable
from pathlib import Path
from random import Random, SystemRandom
from types import FrameType
from typing import Any

from tests.fuzz.loaders import LOADERS, Loader
from tests.fuzz.mutations import mutate

FOUND = Path(".fuzz")
# Of the processor, for one small input: far more than any needs.
_SECONDS_EACH = 20
_ATTEMPTS_TO_SHRINK = 300


def main() -> int:
    """Search, or repeat what was found; the exit status says whether something broke."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long to look")
    parser.add_argument("--seed", type=int, help="begin with the same inputs as another search")
    parser.add_argument("--loader", choices=LOADERS, action="append", help="only this one")
    parser.add_argument("--loaders-only", action="store_true", help="leave the properties out")
    parser.add_argument("--repeat", type=Path, metavar="FILE", help="load one input again")
    asked = parser.parse_args()
    if asked.repeat:
        name = asked.repeat.name.partition(".")[0].rpartition("-")[0]
        print(*load(LOADERS[name], asked.repeat.read_bytes()), sep="\n")
        return 0
    seed = asked.seed if asked.seed is not None else SystemRandom().randrange(2**32)
    properties = not (asked.loader or asked.loaders_only)
    seconds = asked.seconds / 2 if properties else asked.seconds
    broken = search(seed, asked.loader or LOADERS, seconds=seconds)
    if properties:
        broken += not hold(seed, asked.seconds - seconds)
    return min(broken, 1)


def search(
    seed: int, names: Iterable[str], *, seconds: float = math.inf, inputs: float = math.inf
) -> int:
    """Try changed inputs on loaders in turn; return how many different failures there were."""
    # What a run says about a torn line, and Python about odd literals, is no news here.
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    loaders = [LOADERS[name] for name in names]
    print(f"seed {seed}: {len(loaders)} loaders", flush=True)
    end, tried, known = time.monotonic() + seconds, 0, set()
    for turn in itertools.count():
        if time.monotonic() >= end or turn >= inputs:
            break
        loader = loaders[turn % len(loaders)]
        if turn // len(loaders) % loader.every:
            continue
        # A seed for each input, so that it does not depend on those before it.
        data = mutate(loader.sound(), Random(f"{seed} {turn}"))
        tried += 1
        if (failure := failure_of(loader, data)) and failure not in known:
            known.add(failure)
            report(loader, shrink(loader, data, failure), failure)
    print(f"{tried} inputs, {len(known)} failures")
    return len(known)


def hold(seed: int, seconds: float) -> bool:
    """Run the properties of the tests with new examples; return whether they held so far."""
    command = [sys.executable, "-m", "pytest", "tests", "-m", "hypothesis", "-q", "-x", "-n", "0"]
    command.append(f"--hypothesis-seed={seed}")
    print(f"properties for {seconds:g} s: HYPOTHESIS_PROFILE=fuzz {' '.join(command)}", flush=True)
    process = subprocess.Popen(command, env={**os.environ, "HYPOTHESIS_PROFILE": "fuzz"})
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return True


class _TooLongError(Exception):
    """An input took longer than any may."""


def load(loader: Loader, data: bytes) -> list[str]:
    """What a loader says about an input, in a folder of its own and not for ever."""
    signal.signal(signal.SIGVTALRM, _stop)
    with tempfile.TemporaryDirectory() as folder:
        signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS_EACH)
        try:
            return loader.load(Path(folder), data)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _stop(number: int, frame: FrameType | None) -> Any:
    raise _TooLongError(f"more than {_SECONDS_EACH} s")


def failure_of(loader: Loader, data: bytes) -> str | None:
    """Where a loader raised what must never be raised; None if it said what it should."""
    try:
        load(loader, data)
    except (Exception, RecursionError) as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} in {Path(frame.filename).name}:{frame.lineno}"
    return None


def shrink(loader: Loader, data: bytes, failure: str) -> bytes:
    """The smallest input found that fails in the same place, by leaving out ever smaller parts."""
    attempts, size = 0, len(data) // 2
    while size and attempts < _ATTEMPTS_TO_SHRINK:
        at = 0
        while at < len(data) and attempts < _ATTEMPTS_TO_SHRINK:
            smaller = data[:at] + data[at + size :]
            attempts += 1
            if failure_of(loader, smaller) == failure:
                data = smaller
            else:
                at += size
        size //= 2
    return data


def report(loader: Loader, data: bytes, failure: str) -> None:
    """Keep an input and say how to see what it does."""
    FOUND.mkdir(exist_ok=True)
    suffix = Path(loader.file).suffix
    path = FOUND / f"{loader.name}-{hashlib.sha256(data).hexdigest()[:12]}{suffix}"
    path.write_bytes(data)
    print(f"{loader.name}: {failure}\n  {sys.executable} -m tests.fuzz --repeat {path}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
