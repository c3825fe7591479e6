"""The gate itself: what it starts can be interrupted, and it tries the same examples every time."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from hypothesis import settings

from tests.waiting import PATIENCE

_ROOT = Path(__file__).parents[1]
_OPTIONS = ["-q", "-n", "0", "-p", "no:cacheprovider", "-k", "limit0"]
_INTERRUPTS = "tests/e2e/test_run.py::test_an_interrupt_stops_cleanly_and_says_how_to_resume"


def _ignore() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def test_tests_of_interrupts_work_where_signals_are_ignored_as_in_the_background() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *_OPTIONS, _INTERRUPTS],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        preexec_fn=_ignore,
    )
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_the_gate_has_no_chance_and_no_deadline_in_its_examples() -> None:
    gate = settings.get_profile("gate")
    assert gate.derandomize
    assert gate.deadline is None
