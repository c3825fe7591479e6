"""The common comparisons used by verifiers, and texts in well-known formats.

Validity is defined as in the reference, even where that is narrow: `hex` is a colour, and an email
address has no `+`. A verifier compares the answer with what its author saw.
"""

from __future__ import annotations

import datetime
import functools
import ipaddress
import json
import operator
import re
import uuid
from collections.abc import Callable, Iterable
from typing import Any

from assay.checks import cut, preview
from assay.errors import nearest
from assay.submissions.slopcode.models import VerificationResult, VerifierError
from assay.submissions.slopcode.parsers import ensure_non_null_string

DEFAULT_DEEPDIFF_KWARGS: dict[str, Any] = {
    "ignore_string_type_changes": True,
    "ignore_numeric_type_changes": True,
    "ignore_nan_inequality": True,
    "math_epsilon": 1e-6,
}
_MAX_DIFF = 20_000


def deepdiff_verify(
    actual: Any, expected: Any, weight: float = 1.0, **kwargs: Any
) -> VerificationResult:
    """Compare structures; `kwargs` are options of DeepDiff and go before the defaults."""
    from deepdiff import DeepDiff

    diff = DeepDiff(expected, actual, **{**DEFAULT_DEEPDIFF_KWARGS, **kwargs})
    return VerificationResult(diff=_readable(diff), is_correct=not diff, weight=weight)


def _readable(diff: Any) -> Any:
    try:
        return json.loads(diff.to_json())
    except (TypeError, ValueError):
        # Some objects that DeepDiff can compare it cannot write.
        return cut(str(diff), _MAX_DIFF)


def jsonschema_verify(actual: Any, expected: Any, weight: float = 1.0) -> VerificationResult:
    """Validate by a JSON Schema, draft 7; the diff says where it is not valid, and why."""
    from jsonschema import Draft7Validator
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    if not isinstance(expected, dict | bool):
        raise VerifierError(f"the case gives no JSON Schema but {preview(expected)}")
    # A registry of its own, because the default one would fetch what a schema refers to.
    validator = Draft7Validator(expected, registry=REGISTRY)
    problems: dict[str, str] = {}
    for error in validator.iter_errors(actual):
        before = problems.get(error.json_path)
        problems[error.json_path] = f"{before}; {error.message}" if before else error.message
    return VerificationResult(diff=problems, is_correct=not problems, weight=weight)


def matches_status_code(actual: Any, expected: Any, weight: float = 1.0) -> VerificationResult:
    """Compare exit statuses or HTTP statuses."""
    is_correct = bool(actual == expected)
    diff = "equal" if is_correct else f"expected {preview(expected)}, got {preview(actual)}"
    return VerificationResult(diff=diff, is_correct=is_correct, weight=weight)


def matches_regex(
    actual: Any,
    expected: Any,
    weight: float = 1.0,
    flags: int | re.RegexFlag | Iterable[int | re.RegexFlag] | None = None,
    *,
    lstrip: bool = True,
) -> VerificationResult:
    """Check that the text begins with a match of the pattern; case does not matter by default.

    Raises VerifierError if there is no pattern: it would match whatever the program printed.
    """
    text = ensure_non_null_string(actual, allow_empty=True)
    try:
        pattern = ensure_non_null_string(expected)
    except VerifierError as error:
        raise VerifierError("the case gives no pattern to match with") from error
    try:
        compiled = re.compile(pattern, _combine(flags))
    except re.error as error:
        raise VerifierError(f"{pattern!r} is not a regular expression: {error}") from error
    is_correct = compiled.match(text.lstrip() if lstrip else text) is not None
    words = "begins with a match of" if is_correct else "does not begin with a match of"
    diff = f"{preview(text)} {words} {preview(pattern)}"
    return VerificationResult(diff=diff, is_correct=is_correct, weight=weight)


def _combine(flags: int | re.RegexFlag | Iterable[int | re.RegexFlag] | None) -> int:
    """Return one flag for a list of them, as the reference takes it; `[]` is the default too."""
    if isinstance(flags, int):
        return flags
    return functools.reduce(operator.or_, flags or (), 0) or re.IGNORECASE


_DATES = (
    *("%m%d%y", "%m%d%Y", "%m/%d/%y", "%m/%d/%Y", "%d/%m/%y", "%d/%m/%Y", "%Y-%m-%d"),
    *("%Y/%m/%d", "%d-%m-%Y", "%d.%m.%Y", "%d %b %Y", "%d %B %Y"),
)
_PATTERNS = {
    "email": r"[\w.-]+@[\w.-]+\.\w+",
    "url": r"(?:https?|ftp)://[^\s/$.?#].\S*",
    "phone": r"\+?\d{1,3}[-.\s]?\(?\d{1,4}\)?[-.\s]?\d{1,9}(?:[-.\s]?\d{1,9})?",
    "hex": r"#?(?:[0-9a-fA-F]{3}){1,2}",
    "base64": r"(?:[0-9a-zA-Z+/]{4})*(?:[0-9a-zA-Z+/]{2}==|[0-9a-zA-Z+/]{3}=)?",
    "us_zip": r"\d{5}(?:-\d{4})?",
}
_ALIASES = {
    "iso8601": "timestamp",
    "unix": "timestamp",
    "unix_timestamp": "timestamp",
    "calendar_date": "date",
    "guid": "uuid",
    "ip_address": "ip",
    "e-mail": "email",
    "uri": "url",
    "link": "url",
    "telephone": "phone",
    "hex_color": "hex",
    "hexcode": "hex",
    "cc": "credit_card",
    "card": "credit_card",
    "zip": "us_zip",
}
MALFORMED = "MALFORMED"


def validate_format(value: Any, fmt: str) -> str:
    """Return `VALID_<FMT>` if the value is written in the format, else `MALFORMED`.

    Of a format with several names, `iso8601` say, the answer has the first: `VALID_TIMESTAMP`.
    """
    given = fmt.strip().lower()
    name = _ALIASES.get(given, given)
    is_written_so = _FORMATS.get(name)
    if is_written_so is None:
        raise VerifierError(f"there is no format {fmt!r}: {nearest(given, _FORMATS | _ALIASES)}")
    text = value if isinstance(value, str) else "" if value is None else str(value)
    try:
        is_valid = bool(text) and is_written_so(text)
    except ValueError:
        is_valid = False
    return f"VALID_{name.upper()}" if is_valid else MALFORMED


def _can_be_read_by(*readers: Callable[[str], Any]) -> Callable[[str], bool]:
    """Return a test that holds if one of the readers takes the text without a ValueError."""

    def is_written_so(text: str) -> bool:
        for read in readers:
            try:
                read(text)
            except ValueError:
                continue
            return True
        return False

    return is_written_so


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda text: compiled.fullmatch(text) is not None


def _date_reader(form: str) -> Callable[[str], Any]:
    return lambda text: datetime.datetime.strptime(text, form)  # noqa: DTZ007 - never used as one


def _is_credit_card(text: str) -> bool:
    """Return whether there are twelve to nineteen digits and the last is right (Luhn)."""
    digits = [int(digit) for digit in re.findall("[0-9]", text)]
    doubled = [digit * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    total = sum(number - 9 if number > 9 else number for number in doubled)
    return 12 <= len(digits) <= 19 and total % 10 == 0


_FORMATS: dict[str, Callable[[str], bool]] = {
    "timestamp": _can_be_read_by(datetime.datetime.fromisoformat, float),
    "date": _can_be_read_by(*map(_date_reader, _DATES)),
    "uuid": _can_be_read_by(uuid.UUID),
    "ip": _can_be_read_by(ipaddress.ip_address),
    "ipv4": _can_be_read_by(ipaddress.IPv4Address),
    "ipv6": _can_be_read_by(ipaddress.IPv6Address),
    "json": _can_be_read_by(json.loads),
    "credit_card": _is_credit_card,
    **{name: _matches(pattern) for name, pattern in _PATTERNS.items()},
}
