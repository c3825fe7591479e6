"""The number check, and the comparison with tolerance that other checks share.

Tolerances are inclusive. Near the edge they are computed exactly on the decimals as written: 1.1 is
within 0.1 of 1.0, although the binary difference is slightly larger.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

from assay.checks.diffs import preview
from assay.checks.registry import check, failed, flag, mismatch, passed, tolerance
from assay.errors import InputError
from assay.model import VerificationResult

_NUMERAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_NAMED = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE | re.ASCII)


@check("number")
def number(
    actual: Any,
    expected: Any,
    *,
    absolute: float = 0.0,
    relative: float = 0.0,
    nan_equal: bool = False,
    from_text: bool = False,
) -> VerificationResult:
    """Pass if the number is within the tolerance of the expected one."""
    tolerance("absolute", absolute)
    tolerance("relative", relative)
    flag("nan_equal", nan_equal)
    if not is_number(expected):
        raise InputError(f"the expectation must be a number, not {preview(expected)}")
    if flag("from_text", from_text) and isinstance(actual, str):
        found = _read(actual)
        if found is None:
            return failed(f"{preview(actual)} is not a number")
        actual = found
    if not is_number(actual):
        return mismatch(actual, type(expected).__name__)
    return _verdict(actual, expected, absolute, relative, nan_equal)


def _verdict(
    actual: float, expected: float, absolute: float, relative: float, nan_equal: bool
) -> VerificationResult:
    if same_number(actual, expected, nan_equal=nan_equal):
        return passed()
    allowed = _describe_tolerance(absolute, relative)
    if close(actual, expected, absolute=absolute, relative=relative, nan_equal=nan_equal):
        return passed(f"{preview(actual)} is within {allowed} of {preview(expected)}")
    if expected != expected and not nan_equal:
        return failed("NaN equals nothing, not even NaN; the option nan_equal makes it equal NaN")
    excess = f", more than {allowed}" if allowed else ""
    distance = _distance(actual, expected)
    return failed(f"expected {preview(expected)}, got {preview(actual)}{distance}{excess}")


def _describe_tolerance(absolute: float, relative: float) -> str:
    parts = [
        preview(absolute) if absolute else "",
        f"{preview(relative)} × expected" if relative else "",
    ]
    return " or ".join(part for part in parts if part)


def _distance(actual: float, expected: float) -> str:
    try:
        return f" (difference {float(abs(_exact(actual) - _exact(expected))):g})"
    except (OverflowError, ValueError):
        return ""


def is_number(value: Any) -> bool:
    """Return whether it is an integer or a float; true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def same_number(actual: float, expected: float, *, nan_equal: bool) -> bool:
    """Return whether numbers are equal, by value: 3 is 3.0."""
    return actual == expected or (nan_equal and actual != actual and expected != expected)


def close(
    actual: float, expected: float, *, absolute: float, relative: float, nan_equal: bool
) -> bool:
    """Return whether the distance is at most `absolute` or `relative` × the expected size."""
    if same_number(actual, expected, nan_equal=nan_equal):
        return True
    if not (absolute or relative) or not (_finite(actual) and _finite(expected)):
        return False
    try:
        distance, allowed = abs(actual - expected), max(absolute, relative * abs(expected))
        rounding = 1e-15 * (abs(actual) + abs(expected) + allowed) + 1e-300
        if abs(distance - allowed) > rounding and distance < math.inf and allowed < math.inf:
            return distance < allowed
    except OverflowError:
        pass  # An integer beyond every float; the exact way below has no such bound.
    limit = max(_exact(absolute), _exact(relative) * abs(_exact(expected)))
    return abs(_exact(actual) - _exact(expected)) <= limit


def _finite(value: float) -> bool:
    return isinstance(value, int) or math.isfinite(value)


def _exact(value: float) -> Fraction:
    return Fraction(value) if isinstance(value, int) else Fraction(float.__repr__(value))


def _read(text: str) -> int | float | None:
    """Return the number that a text is, white space around it aside."""
    text = text.strip()
    if _NAMED.fullmatch(text):
        return float(text)
    if not _NUMERAL.fullmatch(text):
        return None
    try:
        return int(text)
    except ValueError:
        value = float(text)
    # A numeral beyond the floats is not infinity.
    return None if math.isinf(value) else value
