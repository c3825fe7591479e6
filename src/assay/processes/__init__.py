"""The one way to talk to a child process: a line with bounded messages, a child, a pool, limits."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.processes.channel import Channel
    from assay.processes.child import VALUES, Child, ChildLateError, ChildLostError
    from assay.processes.limits import (
        clean_environment,
        die_with_parent,
        keep_private,
        limit_memory,
        release,
    )
    from assay.processes.pool import ForkPool, Pool, WorkRaisedError

# Imported when first used: a run that starts no process needs no more than its limits.
_HOMES = {
    "channel": ("Channel",),
    "child": ("VALUES", "Child", "ChildLateError", "ChildLostError"),
    "limits": (
        "clean_environment",
        "die_with_parent",
        "keep_private",
        "limit_memory",
        "release",
    ),
    "pool": ("ForkPool", "Pool", "WorkRaisedError"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "VALUES",
    "Channel",
    "Child",
    "ChildLateError",
    "ChildLostError",
    "ForkPool",
    "Pool",
    "WorkRaisedError",
    "clean_environment",
    "die_with_parent",
    "keep_private",
    "limit_memory",
    "release",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
