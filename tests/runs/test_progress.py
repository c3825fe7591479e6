"""The progress line."""

from __future__ import annotations

import io

from assay.model import Outcome
from assay.runs.engine import TerminalProgress


def test_the_line_says_how_far_and_how_long() -> None:
    progress = TerminalProgress(2000, io.StringIO())
    for _ in range(100):
        progress.count_case(Outcome.PASSED)
    progress.count_case(Outcome.FAILED)
    progress.count_stored()
    line = progress.line(elapsed=1.0)
    assert line.startswith("102/2,000 cases  100 passed  1 failed  1 finished before")
    assert line.endswith("101.0/s  0:19 left")


def test_without_a_total_nothing_is_promised() -> None:
    progress = TerminalProgress(None, io.StringIO())
    progress.count_case(Outcome.ERROR)
    assert progress.line(elapsed=2.0) == "1 cases  1 error  0.5/s"


def test_samples_are_counted_beside_the_cases() -> None:
    progress = TerminalProgress(2, io.StringIO())
    for _ in range(3):
        progress.count_sample()
    assert progress.line(elapsed=1.0) == "0/2 cases  3 samples"


def test_the_line_is_removed_at_the_end() -> None:
    stream = io.StringIO()
    progress = TerminalProgress(3, stream)
    progress.count_case(Outcome.PASSED)
    progress.close()
    shown, blank = stream.getvalue().split("\r")[1:3]
    assert shown.startswith("1/3 cases")
    assert blank == " " * len(shown)
