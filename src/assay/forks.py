"""Descriptors that belong to one process: a fork of it, whoever makes it, does not keep them.

A child that outlives Assay would otherwise hold the lock of a run, or the pipe its result goes to.
"""

from __future__ import annotations

import contextlib
import os

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


os.register_at_fork(after_in_child=_close_in_child)
