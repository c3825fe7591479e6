"""The registry of named checks, and the function that runs them.

A check is a function `(actual, expected, *, options) -> VerificationResult`. It first validates its
expectation and options and raises InputError if they are invalid, and only then looks at the actual
value. Running a check on `ABSENT` therefore validates the test itself.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal, TypeVar

from assay import plugins
from assay.checks.diffs import preview
from assay.errors import InputError, Unverifiable, nearest
from assay.model import VerificationResult


def flag(name: str, value: Any) -> bool:
    """Return an option that is true or false; a word like "no", true for Python, is refused."""
    if not isinstance(value, bool):
        raise InputError(f"option {name!r} must be true or false, not {preview(value)}")
    return value


def choice(name: str, value: Any, valid: Sequence[str]) -> str:
    """Return an option that is one of a few words."""
    if not isinstance(value, str) or value not in valid:
        raise InputError(
            f"option {name!r} cannot be {preview(value)}",
            advice=nearest(preview(value).strip("'"), valid),
        )
    return value


def tolerance(name: str, value: Any) -> int | float:
    """Return an option that is a finite number, not below zero."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise InputError(f"option {name!r} must be a finite number from 0 up, not {preview(value)}")
    return value


class Absent(Enum):
    """The type of `ABSENT`; an enumeration, whose members stay the same when copied or sent."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


# What a check is given when the response does not contain the thing it looks at.
ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class Uncollected:
    """What a check is given for something that is there and could not be brought back.

    No check looks into it: all fail and say why, but for the one that asks whether it is there.
    """

    reason: str
    is_certain: bool = True
    """False if it cannot even be told whether it is there."""


# Not a union, which Python would make anew for every check.
_NUMBERS = (int, float)

# What most checks say; results are frozen, so one is enough.
_EQUAL = VerificationResult(diff="equal", is_correct=True)

Check = TypeVar("Check", bound=Callable[..., VerificationResult])


@dataclass(frozen=True, slots=True)
class Traits:
    """What callers need to know about a check besides its function."""

    reads: Literal["value", "text", "structure"] = "value"
    """How content is prepared for it: as it is, bytes decoded to text, or parsed."""
    takes_several: bool = False
    """Whether a list as the expectation means several expected values."""
    takes_pattern: bool = False
    """Whether the expectation is a regular expression, so that text put into it is escaped."""
    may_be_slow: bool = False
    """Whether it can take long on small values, so that it needs a process with limits."""
    takes_uncollected: bool = False
    """Whether it is called for content that could not be brought back; see `Uncollected`."""


@dataclass(frozen=True, slots=True)
class _Entry:
    function: Callable[..., VerificationResult]
    options: tuple[str, ...]
    traits: Traits


_ENTRIES: dict[str, _Entry] = {}
_PLAIN = Traits()


def check(name: str, traits: Traits = _PLAIN) -> Callable[[Check], Check]:
    """Register a function as a check; its keyword-only parameters are its options."""

    def register(function: Check) -> Check:
        if name in _ENTRIES:
            raise InputError(f"there is a check {name!r} already", advice="give yours another name")
        _ENTRIES[name] = _Entry(function, _option_names(function), traits)
        return function

    return register


def _option_names(function: Callable[..., VerificationResult]) -> tuple[str, ...]:
    parameters = inspect.signature(function).parameters.values()
    options = [parameter for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    for option in options:
        if option.default is option.empty or option.name == "weight":
            raise TypeError(f"option {option.name!r} needs a default, and may not be called weight")
    return tuple(option.name for option in options)


def check_names() -> list[str]:
    """Return the names of all checks, sorted; those of plugins too."""
    for name, function in plugins.load_all("checks").items():
        if name not in _ENTRIES:
            check(name)(function)
    return sorted(_ENTRIES)


def check_options(name: str) -> tuple[str, ...]:
    """Return the names of the options a check takes."""
    return _entry(name).options


def check_traits(name: str) -> Traits:
    """Return what callers need to know about a check."""
    return _entry(name).traits


def get_check(name: str) -> Callable[..., VerificationResult]:
    """Return the function of a check; `run_check` is the way to run it."""
    return _entry(name).function


def _entry(name: str) -> _Entry:
    entry = _ENTRIES.get(name)
    if entry is None and (added := plugins.find("checks", str(name))) is not None:
        check(name)(added)
        entry = _ENTRIES[name]
    if entry is None:
        raise InputError(f"there is no check {name!r}", advice=nearest(str(name), _ENTRIES))
    return entry


def run_check(
    name: str, actual: Any, expected: Any, *, weight: float = 1.0, **options: Any
) -> VerificationResult:
    """Compare actual with expected; a check that cannot decide gives `is_correct` None."""
    entry = _entry(name)
    for option in options:
        if option not in entry.options:
            raise InputError(
                f"check {name!r} has no option {option!r}", advice=nearest(option, entry.options)
            )
    _require_weight(name, weight)
    try:
        result = _result(entry, actual, expected, options)
    except Unverifiable as reason:
        result = VerificationResult(diff=str(reason), is_correct=None)
    except InputError as error:
        what = f"check {name!r}: {error.what}"
        raise InputError(what, where=error.where, advice=error.advice) from error
    if not isinstance(result, VerificationResult):
        what = f"check {name!r} returned {type(result).__name__}, not a VerificationResult"
        raise InputError(what, advice="return passed(diff) or failed(diff)")
    # A copy, because a check of the user's may give the same result object every time.
    return (
        result if result.weight == weight else result.model_copy(update={"weight": float(weight)})
    )


def _result(
    entry: _Entry, actual: Any, expected: Any, options: dict[str, Any]
) -> VerificationResult:
    if not isinstance(actual, Uncollected) or entry.traits.takes_uncollected:
        return entry.function(actual, expected, **options)
    # Whether the test is well written is to be told all the same.
    entry.function(ABSENT, expected, **options)
    return failed(f"could not be brought back: {actual.reason}")


def _require_weight(name: str, weight: Any) -> None:
    is_number = isinstance(weight, _NUMBERS) and not isinstance(weight, bool)
    if not is_number or not 0 < weight <= sys.float_info.max:
        what = f"check {name!r}: the weight must be a finite number above 0, not {preview(weight)}"
        raise InputError(what)


def passed(diff: Any = _EQUAL.diff) -> VerificationResult:
    """Return the result of a check that passed, with a few words on why."""
    return _EQUAL if diff is _EQUAL.diff else VerificationResult(diff=diff, is_correct=True)


def failed(diff: Any) -> VerificationResult:
    """Return the result of a check that failed, with what a person needs to see why."""
    return VerificationResult(diff=diff, is_correct=False)


def mismatch(actual: Any, wanted: str) -> VerificationResult:
    """Return the failure of a value that is not there, or not of the type the check is about."""
    if actual is ABSENT:
        return failed("absent")
    return failed(f"expected {wanted}, got {type(actual).__name__}")
