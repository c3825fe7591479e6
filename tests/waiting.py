"""Waiting in tests: for an event, for as long as a busy machine may need."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from typing import Any

# It only ends what hangs. Whatever a test waits for or is given up on takes far longer or no time.
PATIENCE = 300.0


def wait_until(holds: Callable[[], object], process: subprocess.Popen[Any] | None = None) -> None:
    """Return as soon as something holds; fail if it never does, or a process ends before that."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "it never came"
        assert process is None or process.poll() is None, process.communicate()
        time.sleep(0.01)
