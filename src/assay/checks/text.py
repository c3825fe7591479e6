"""Text checks: exact, ignoring white space and case, and by pattern."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import Any

from assay.checks.diffs import preview, text_diff
from assay.checks.registry import Traits, check, choice, failed, flag, mismatch, passed
from assay.errors import InputError
from assay.model import VerificationResult

_WHITESPACE = {
    "exact": "",
    "trim": "without white space at both ends",
    "lines": "without white space at the ends of lines",
    "collapse": "with every run of white space as one space",
    "ignore": "without white space",
}


@check("exact", Traits(reads="text"))
def exact(actual: Any, expected: Any) -> VerificationResult:
    """Pass if the texts are the same, character by character."""
    _require_text(expected)
    if not isinstance(actual, str):
        return mismatch(actual, "str")
    return passed() if actual == expected else failed(text_diff(actual, expected))


@check("flexible", Traits(reads="text"))
def flexible(
    actual: Any, expected: Any, *, whitespace: str = "trim", ignore_case: bool = True
) -> VerificationResult:
    """Pass if the texts are the same but for white space and case, as the options allow."""
    _require_text(expected)
    choice("whitespace", whitespace, tuple(_WHITESPACE))
    flag("ignore_case", ignore_case)
    if not isinstance(actual, str):
        return mismatch(actual, "str")
    if actual == expected:
        return passed()
    plain_actual = _plain(actual, whitespace, ignore_case)
    plain_expected = _plain(expected, whitespace, ignore_case)
    allowance = _allowance(whitespace, ignore_case)
    if plain_actual == plain_expected:
        return passed(f"equal{allowance}")
    return failed(f"different{allowance}\n{text_diff(plain_actual, plain_expected)}")


def _plain(text: str, whitespace: str, ignore_case: bool) -> str:
    """Return the text without the differences that do not count."""
    if whitespace == "trim":
        text = text.strip()
    elif whitespace == "lines":
        text = "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")
    elif whitespace == "collapse":
        text = " ".join(text.split())
    elif whitespace == "ignore":
        text = "".join(text.split())
    return text.casefold() if ignore_case else text


def _allowance(whitespace: str, ignore_case: bool) -> str:
    words = [_WHITESPACE[whitespace], "ignoring case" if ignore_case else ""]
    said = ", ".join(word for word in words if word)
    return f" {said}" if said else ""


@check("regex", Traits(reads="text", takes_pattern=True, may_be_slow=True))
def regex(
    actual: Any,
    expected: Any,
    *,
    ignore_case: bool = False,
    multiline: bool = False,
    dotall: bool = False,
) -> VerificationResult:
    """Pass if the pattern matches the whole text."""
    _require_text(expected)
    pattern = compile_pattern(expected, ignore_case=ignore_case, multiline=multiline, dotall=dotall)
    if not isinstance(actual, str):
        return mismatch(actual, "str")
    if pattern.fullmatch(actual):
        return passed(f"matches {preview(expected)}")
    return failed(f"{preview(actual)} does not match {preview(expected)}{_part(pattern, actual)}")


def _part(pattern: re.Pattern[str], actual: str) -> str:
    found = pattern.search(actual)
    if not found or not found[0]:
        return ""
    return f"; only a part of it does: {preview(found[0])} at character {found.start() + 1:,}"


def compile_pattern(expected: Any, *, ignore_case: Any, multiline: Any, dotall: Any) -> Any:
    """Return the compiled pattern, of text or of bytes; InputError if it cannot be compiled."""
    flags = (
        (re.IGNORECASE if flag("ignore_case", ignore_case) else 0)
        | (re.MULTILINE if flag("multiline", multiline) else 0)
        | (re.DOTALL if flag("dotall", dotall) else 0)
    )
    return _compile(expected, int(flags))


@lru_cache(maxsize=256)
def _compile(pattern: Any, flags: int) -> Any:
    try:
        with warnings.catch_warnings():
            # Remarks on style ("possible nested set") are not for the reader of a report.
            warnings.simplefilter("ignore")
            return re.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(
            f"{preview(pattern)} is not a pattern: {error}",
            advice="see the syntax of Python's re module; a literal . or ( is written \\. or \\(",
        ) from None


def _require_text(expected: Any) -> None:
    if not isinstance(expected, str):
        raise InputError(
            f"the expectation must be text, not {type(expected).__name__}",
            advice="for other values there are the checks value, number and json",
        )
