"""Limits for child processes: no private descriptors, no secrets, and no outliving Assay.

A child that outlives Assay could otherwise keep the lock of a run, or the pipe for its result,
open.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
from collections.abc import Iterator

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
    """Have Linux kill this process when its parent dies; elsewhere it ends at the next call."""
    if sys.platform == "linux":
        parent = os.getppid()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def limit_memory(size: int) -> None:
    """Limit the memory of this process and disable core dumps."""
    with contextlib.suppress(ValueError, OSError):
        # A lower limit of the machine is kept.
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def clean_environment() -> dict[str, str]:
    """Return an environment without secrets, the same on every machine."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "PYTHONUTF8": "1",
        # Reports quote sets printed by verifiers; their order must be the same in every run.
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


os.register_at_fork(after_in_child=_close_in_child)


@contextlib.contextmanager
def refuse_exits() -> Iterator[None]:
    """Make `os._exit` raise while tasks run in this process: an exit would look like a pass."""
    own, ending = os.getpid(), os._exit

    def refuse(status: int) -> None:
        if os.getpid() != own:
            ending(status)
        raise SystemExit(f"os._exit({status})")

    os._exit = refuse  # type: ignore[assignment]
    try:
        yield
    finally:
        os._exit = ending
