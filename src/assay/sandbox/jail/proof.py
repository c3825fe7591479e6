"""The life of one proof in its fork: its file, its temporary folder, pytest, the last word."""

from __future__ import annotations

import faulthandler
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import pages
from .challenge import Challenge

# Where the proof's process keeps its two descriptors: high, so that none is met by accident.
_CRASH = 200
_REPORT = 201


@dataclass
class Job:
    """One proof as the worker was asked to run it; `learn` also tells what it took."""

    id: str
    name: str
    source: str
    token: str
    seconds: float
    files: dict[str, str] = field(default_factory=dict)
    learn: bool = False
    challenge: dict[str, Any] | None = None


def prepare(report: int) -> None:
    """What can be done before the proof is known."""
    os.dup2(2, _CRASH, inheritable=False)
    os.dup2(report, _REPORT, inheritable=False)
    os.close(report)
    faulthandler.enable(file=_CRASH)
    tempfile.tempdir = os.environ["TMPDIR"]  # what looking for a usable one would find


def run(job: Job, recorder: Any, perform: Callable[[str], None]) -> None:
    """Run the proof in this isolated process and end it; `perform` runs a file under pytest."""
    from .recorder import Channel

    started = time.process_time()
    path = os.path.join(os.getcwd(), job.name)
    for name, text in {**job.files, job.name: job.source}.items():
        place = os.path.join(os.getcwd(), name)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    channel = Channel(_REPORT, job.token)
    lesson = _Lesson() if job.learn else None
    problem = None
    try:
        recorder.begin(channel, path, None if job.challenge is None else Challenge(**job.challenge))
        perform(path)
    except BaseException as error:
        # `pytest.exit`, `sys.exit` at import, a collection that failed: what it means is judged
        # outside, from the tests that did or did not run.
        problem = f"{type(error).__name__}: {error}"
    if lesson is not None:
        channel.put("lesson", **lesson.learned())
    cpu = time.process_time() - started
    channel.send("end", stopped=problem, plugins=recorder.plugins_added(), cpu=cpu)
    os._exit(0)


class _Lesson:
    """What a sample needed that its worker did not have: modules, and pages of memory."""

    def __init__(self) -> None:
        self._modules = set(sys.modules)
        self._memory = pages.writable()

    def learned(self) -> dict[str, Any]:
        new = [
            name
            for name, module in list(sys.modules.items())
            if name not in self._modules and getattr(module, "__spec__", None) is not None
        ]
        try:
            written = pages.written(self._memory)
        except OSError:
            written = []  # not readable here: then every page is copied when it is written to
        threads = len(os.listdir("/proc/self/task"))
        return {"modules": new, "pages": written, "threads": threads}
