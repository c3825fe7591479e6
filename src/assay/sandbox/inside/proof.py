"""The life of one proof in its fork: descriptors, limits, folder, pytest, the last word."""

from __future__ import annotations

import faulthandler
import os
import resource
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# Descriptors the proof's process keeps, high enough that none is met by accident.
_CRASH = 200
_REPORT = 201


@dataclass
class Job:
    """One proof as the supervisor was asked to run it."""

    id: str
    name: str
    source: str
    token: str
    seconds: float
    limits: dict[str, int]
    learn: bool = False


def run(
    job: Job, folder: str, report: int, output: int, perform: Callable[[str, Any], None]
) -> None:
    """Run the proof and end the process; `perform` runs a file under pytest with a recorder."""
    from .recorder import Channel, Recorder, imported_since
    from .reaper import close_all_but

    os.setsid()
    _arrange_descriptors(report, output)
    close_all_but({0, 1, 2, _CRASH, _REPORT})
    faulthandler.enable(file=_CRASH)
    _limit(job.limits)
    path = _place(job, folder)
    channel = Channel(_REPORT, job.token)
    recorder = Recorder(channel, path)
    before = set(sys.modules)
    problem = None
    try:
        recorder.watch_raises()
        perform(path, recorder)
    except BaseException as error:
        # `pytest.exit`, `sys.exit` at import, a collection that failed: what it means is judged
        # outside, from the tests that did or did not run.
        problem = f"{type(error).__name__}: {error}"
    learned = imported_since(before) if job.learn else []
    channel.send("end", stopped=problem, modules=learned)
    os._exit(0)


def _arrange_descriptors(report: int, output: int) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(output, _CRASH, inheritable=False)
    os.dup2(report, _REPORT, inheritable=False)


def _limit(limits: dict[str, int]) -> None:
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(kind, (value, value))


def _place(job: Job, folder: str) -> str:
    """Write the proof into its own folder and stand there, with a temporary folder beside it."""
    work = os.path.join(folder, "work")  # noqa: PTH118 - what every fork pays for stays cheap
    temporary = os.path.join(folder, "tmp")  # noqa: PTH118
    os.makedirs(work)  # noqa: PTH103
    os.makedirs(temporary)  # noqa: PTH103
    os.environ["TMPDIR"] = temporary
    tempfile.tempdir = None
    path = os.path.join(work, job.name)  # noqa: PTH118
    with open(path, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123
        file.write(job.source)
    os.chdir(work)
    return path
