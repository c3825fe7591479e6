"""Shared by what watches a proof: functions put in the place of others, and whose code it is."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

KIT = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "pytest_asyncio", "assay_jail"})

# Before 3.10 nobody lists them; a target of an older Python has its roots named.
STANDARD = frozenset(getattr(sys, "stdlib_module_names", sys.builtin_module_names))


class Hooks:
    """Takes the place of functions for as long as it is entered."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any]] = []

    def _put(self, owner: Any, name: str, new: Any) -> Any:
        before = getattr(owner, name)
        self._before.append((owner, name, before))
        setattr(owner, name, new)
        return before

    def __exit__(self, *error: object) -> None:
        while self._before:
            setattr(*self._before.pop())


def is_own(names: Any) -> bool:
    """Return whether code with these globals is the proof's: a real module has a __spec__."""
    return not names or "__spec__" not in names


def home(value: Any) -> str:
    """Return the module that a value belongs to."""
    if isinstance(value, ModuleType):
        return value.__name__
    found = getattr(value, "__module__", None) or type(value).__module__
    return found if isinstance(found, str) else ""
