"""The stock tests of agent test files: value, less, greater, keywords and their `not_` forms."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from assay.checks.diffs import preview, text_diff
from assay.checks.registry import ABSENT, Traits, check, failed, passed
from assay.errors import InputError
from assay.model import VerificationResult

_MAX_ITEMS = 50


@check("value", Traits(takes_several=True))
def value(actual: Any, expected: Any) -> VerificationResult:
    """Pass if the actual value equals every expected one."""
    return _all(actual, _items(expected), operator.eq, "is not equal to")


@check("not_value", Traits(takes_several=True))
def not_value(actual: Any, expected: Any) -> VerificationResult:
    """Pass if the actual value equals none of the expected ones."""
    return _all(actual, _items(expected), operator.ne, "is equal to")


@check("less", Traits(takes_several=True))
def less(actual: Any, expected: Any) -> VerificationResult:
    """Pass if the actual value is below every expected one."""
    return _all(actual, _items(expected), operator.lt, "is not less than")


@check("not_less", Traits(takes_several=True))
def not_less(actual: Any, expected: Any) -> VerificationResult:
    """Pass if the actual value is at or above every expected one."""
    # Not the negation of `less`: what cannot be ordered, NaN say, is neither.
    return _all(actual, _items(expected), operator.ge, "is not greater than or equal to")


@check("greater", Traits(takes_several=True))
def greater(actual: Any, expected: Any) -> VerificationResult:
    """Pass if the actual value is above every expected one."""
    return _all(actual, _items(expected), operator.gt, "is not greater than")


@check("not_greater", Traits(takes_several=True))
def not_greater(actual: Any, expected: Any) -> VerificationResult:
    """Pass if the actual value is at or below every expected one."""
    return _all(actual, _items(expected), operator.le, "is not less than or equal to")


@check("keywords", Traits(reads="text", takes_several=True))
def keywords(actual: Any, expected: Any) -> VerificationResult:
    """Pass if every keyword is in the actual text, list or keys of a dictionary."""
    return _all(actual, _words(expected), _contains, "does not contain")


@check("not_keywords", Traits(reads="text", takes_several=True))
def not_keywords(actual: Any, expected: Any) -> VerificationResult:
    """Pass if no keyword is in the actual text, list or keys of a dictionary."""
    return _all(actual, _words(expected), _lacks, "contains")


def _items(expected: Any) -> list[Any]:
    """Return the values to test against, one by one; a lone value is a list of one."""
    if expected is None or isinstance(expected, dict):
        raise InputError(
            f"there is nothing to test in {preview(expected)}",
            advice="give a value or a list of values; for null or a dictionary, a list with it",
        )
    if not isinstance(expected, list):
        return [expected]
    if not expected:
        raise InputError(
            "there is nothing to test in an empty list",
            advice="to compare with an empty list, write [[]]",
        )
    return expected


def _words(expected: Any) -> list[Any]:
    words = _items(expected)
    if "" in words:
        raise InputError("an empty keyword is in every text", advice="take it out")
    return words


def _contains(actual: Any, keyword: Any) -> bool:
    # A number is "in" bytes for Python, and a keyword of another type in text is an error for it.
    comparable = isinstance(actual, list | dict) or (
        isinstance(actual, str | bytes) and type(keyword) is type(actual)
    )
    if not comparable:
        raise TypeError
    return keyword in actual


def _lacks(actual: Any, keyword: Any) -> bool:
    return not _contains(actual, keyword)


def _all(
    actual: Any, items: list[Any], holds: Callable[[Any, Any], Any], complaint: str
) -> VerificationResult:
    if actual is ABSENT:
        return failed("absent")
    problems = [problem for item in items if (problem := _problem(actual, item, holds, complaint))]
    if not problems:
        return passed("holds" if len(items) == 1 else f"all {len(items)} hold")
    if len(problems) > _MAX_ITEMS:
        problems[_MAX_ITEMS:] = [f"and {len(problems) - _MAX_ITEMS} more"]
    return failed("\n".join(problems))


def _problem(actual: Any, item: Any, holds: Callable[[Any, Any], Any], complaint: str) -> str:
    try:
        if holds(actual, item):
            return ""
    except TypeError:
        kinds = f"{type(actual).__name__} with {type(item).__name__}"
        return f"cannot compare {kinds}: {preview(actual)} and {preview(item)}"
    if holds is operator.eq and _many_lines(actual, item):
        return text_diff(actual, item)
    return f"{preview(actual)} {complaint} {preview(item)}"


def _many_lines(actual: Any, item: Any) -> bool:
    both_text = isinstance(actual, str) and isinstance(item, str)
    return both_text and ("\n" in actual or "\n" in item or len(actual) > 200)
