"""Reading of JSON for checks: text is parsed strictly, other values must be JSON already."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from assay.checks.diffs import shown
from assay.errors import InputError
from assay.model import check_value


class NotJsonError(ValueError):
    """What was read is not JSON; the message says why."""


def read_json(value: Any, *, parse: bool = True) -> Any:
    """The JSON value of a text, or the value itself; raises NotJsonError."""
    try:
        if parse and isinstance(value, str | bytes):
            value = json.loads(
                value,
                object_pairs_hook=_object,
                parse_constant=_refuse,
                parse_float=_float,
            )
        return check_value(value)
    except RecursionError:
        raise NotJsonError("nested too deep") from None
    except ValueError as error:
        # Also what the parser says of bytes that are not text and integers it refuses to read.
        raise NotJsonError(str(error)) from None


def read_expected(expected: Any, *, parse: bool = True) -> Any:
    """The expectation as a JSON value; if it is none, that is the user's error."""
    try:
        return read_json(expected, parse=parse)
    except NotJsonError as error:
        raise InputError(
            f"the expectation {shown(expected)} is not JSON: {error}",
            advice='text is read as JSON; the string abc is written "\\"abc\\""',
        ) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} is given twice in one object")
    return found


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON value")


def _float(numeral: str) -> float:
    value = float(numeral)
    if math.isinf(value):
        raise ValueError(f"{shown(numeral)} is beyond the range of floats")
    return value
