"""One line on standard error that says how far a run is; nothing where nobody is watching."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TextIO

from assay.model import Outcome

REFRESH_SECONDS = 0.1


class TerminalProgress:
    """Rewrites one line of a terminal, a few times a second."""

    def __init__(self, total: int | None = None, stream: TextIO | None = None) -> None:
        self._total = total
        self._stream = stream or sys.stderr
        self._counts = dict.fromkeys(Outcome, 0)
        self._kept = 0
        self._samples = 0
        self._started = time.monotonic()
        self._shown_at = 0.0
        self._width = 0

    def finished(self, outcome: Outcome) -> None:
        self._counts[outcome] += 1
        self._refresh()

    def kept(self) -> None:
        self._kept += 1
        self._refresh()

    def sampled(self) -> None:
        """One more sample of a case that has several is finished."""
        self._samples += 1
        self._refresh()

    def _refresh(self) -> None:
        now = time.monotonic()
        if now - self._shown_at >= REFRESH_SECONDS:
            self._shown_at = now
            self._show(self.line(now - self._started))

    def line(self, elapsed: float) -> str:
        """What is shown after so many seconds."""
        ran = sum(self._counts.values())
        done = ran + self._kept
        parts = [f"{done:,}" + (f"/{self._total:,}" if self._total is not None else "") + " cases"]
        parts += [f"{count:,} {outcome}" for outcome, count in self._counts.items() if count]
        if self._samples:
            parts.append(f"{self._samples:,} samples")
        if self._kept:
            parts.append(f"{self._kept:,} finished before")
        if ran and elapsed > 0:
            rate = ran / elapsed
            parts.append(f"{rate:,.1f}/s")
            if self._total is not None and done < self._total:
                parts.append(f"{_clock((self._total - done) / rate)} left")
        return "  ".join(parts)

    def _show(self, line: str) -> None:
        line = line[: shutil.get_terminal_size().columns - 1]
        self._stream.write("\r" + line.ljust(self._width))
        self._stream.flush()
        self._width = len(line)

    def close(self) -> None:
        """Remove the line, so that what follows starts on a clean one."""
        if self._width:
            self._show("")
            self._stream.write("\r")
            self._stream.flush()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
