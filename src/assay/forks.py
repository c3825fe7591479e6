"""What a child process must not have of Assay: its private descriptors, and a longer life.

A child that outlives Assay would otherwise hold the lock of a run, or the pipe its result goes to.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_private: set[int] = set()


def keep_private(descriptor: int) -> None:
    """Close this descriptor in every child that is forked from now on."""
    _private.add(descriptor)


def release(descriptor: int) -> None:
    """Forget a descriptor that is about to be closed here."""
    _private.discard(descriptor)


def _close_in_child() -> None:
    for descriptor in _private:
        with contextlib.suppress(OSError):
            os.close(descriptor)
    _private.clear()


def die_with_parent() -> None:
    """Linux kills this process when its parent dies; elsewhere it ends at the next call."""
    if sys.platform == "linux":
        parent = os.getppid()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


os.register_at_fork(after_in_child=_close_in_child)
