"""The life of one proof in its fork: its file, its temporary folder, pytest, the last word."""

from __future__ import annotations

import faulthandler
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# Where the proof's process keeps its two descriptors: high, so that none is met by accident.
_CRASH = 200
_REPORT = 201


@dataclass
class Job:
    """One proof as the worker was asked to run it."""

    id: str
    name: str
    source: str
    token: str
    seconds: float
    learn: bool = False


def run(job: Job, report: int, recorder: Any, perform: Callable[[str], None]) -> None:
    """Run the proof in this isolated process and end it; `perform` runs a file under pytest."""
    from .recorder import Channel, imported_since

    os.dup2(2, _CRASH, inheritable=False)
    os.dup2(report, _REPORT, inheritable=False)
    os.close(report)
    faulthandler.enable(file=_CRASH)
    path = _place(job)
    channel = Channel(_REPORT, job.token)
    before = set(sys.modules)
    problem = None
    try:
        recorder.begin(channel, path)
        perform(path)
    except BaseException as error:
        # `pytest.exit`, `sys.exit` at import, a collection that failed: what it means is judged
        # outside, from the tests that did or did not run.
        problem = f"{type(error).__name__}: {error}"
    learned = imported_since(before) if job.learn else []
    channel.send("end", stopped=problem, plugins=recorder.plugins_added(), modules=learned)
    os._exit(0)


def _place(job: Job) -> str:
    """Write the proof into the folder this process stands in; gives its full path."""
    tempfile.tempdir = os.environ["TMPDIR"]  # what looking for a usable one would find
    path = os.path.join(os.getcwd(), job.name)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(job.source)
    return path
