"""Child processes: bounded messages, single children, pools and limits."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.processes.channel import Channel, Codec
    from assay.processes.child import Child, ChildLateError, ChildLostError
    from assay.processes.fork_pool import ForkPool, WorkRaisedError
    from assay.processes.limits import (
        clean_environment,
        die_with_parent,
        keep_private,
        limit_memory,
        refuse_exits,
        release,
    )
    from assay.processes.modules import VALUES, start_module
    from assay.processes.pool import Pool

# Imported on first use: a run that starts no process needs only its limits.
_HOMES = {
    "channel": "Channel Codec",
    "child": "Child ChildLateError ChildLostError",
    "fork_pool": "ForkPool WorkRaisedError",
    "limits": "clean_environment die_with_parent keep_private limit_memory refuse_exits release",
    "modules": "VALUES start_module",
    "pool": "Pool",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "VALUES",
    "Channel",
    "Child",
    "ChildLateError",
    "ChildLostError",
    "Codec",
    "ForkPool",
    "Pool",
    "WorkRaisedError",
    "clean_environment",
    "die_with_parent",
    "keep_private",
    "limit_memory",
    "refuse_exits",
    "release",
    "start_module",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
