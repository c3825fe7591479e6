"""Validation of the values that users give as options of checks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from assay.checks.diffs import shown
from assay.errors import InputError, nearest


def flag(name: str, value: Any) -> bool:
    """An option that is true or false; a word like "no", true for Python, is refused."""
    if not isinstance(value, bool):
        raise InputError(f"option {name!r} must be true or false, not {shown(value)}")
    return value


def choice(name: str, value: Any, valid: Sequence[str]) -> str:
    """An option that is one of a few words."""
    if not isinstance(value, str) or value not in valid:
        raise InputError(
            f"option {name!r} cannot be {shown(value)}",
            advice=nearest(shown(value).strip("'"), valid),
        )
    return value


def tolerance(name: str, value: Any) -> int | float:
    """An option that is a finite number, not below zero."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise InputError(f"option {name!r} must be a finite number from 0 up, not {shown(value)}")
    return value
