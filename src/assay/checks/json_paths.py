"""Paths into JSON values: `items[0].price`, with `*` for any key and `[*]` for any item.

A key that contains a special character is written in brackets and quotes: `["a.b"][0]`. The whole
value is `$`, and a path may begin with it. Diffs name places in the same syntax as options do.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from enum import Enum
from typing import Any, NoReturn, TypeAlias

from assay.checks.diffs import preview
from assay.errors import InputError
from assay.model import check_value


class Wildcard(Enum):
    """A step of a pattern that stands for every key, or for every item."""

    KEY = "*"
    ITEM = "[*]"


Path: TypeAlias = tuple[str | int, ...]
Pattern: TypeAlias = tuple[str | int | Wildcard, ...]
Patterns: TypeAlias = tuple[Pattern, ...]

_PLAIN_KEY = r'[^.\[\]"*]+'
_STEP = re.compile(
    rf"\.(?P<key>{_PLAIN_KEY})|\.(?P<any>\*)(?=[.\[]|$)|\[(?P<item>\*|[0-9]{{1,9}})\]"
    r'|\[(?P<quoted>"(?:[^"\\]|\\.)*")\]'
)


def format_path(path: Path) -> str:
    """Return the path as text that `parse_pattern` reads back."""
    text = "".join(_part_text(part) for part in path)
    return text.removeprefix(".") or "$"


def _part_text(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    if part != "$" and re.fullmatch(_PLAIN_KEY, part):
        return f".{part}"
    return f"[{json.dumps(part)}]"


def parse_patterns(option: str, given: Any) -> Patterns:
    """Return the patterns of an option that takes one path or a list of them."""
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, Iterable) or isinstance(texts, dict | bytes):
        raise InputError(
            f"option {option!r} must be a path or a list of paths, not {preview(given)}"
        )
    return tuple(_parse_pattern(option, text) for text in texts)


def _parse_pattern(option: str, text: Any) -> Pattern:
    advice = 'write a path like items[*].id, meta.* or ["a.b"].c'
    if not isinstance(text, str):
        raise InputError(f"option {option!r}: {preview(text)} is not a path", advice=advice)
    rest = re.sub(r"^\$(?=[.\[]|$)", "", text)
    if rest == text and not text.startswith("["):
        rest = f".{text}"
    if not rest:
        raise InputError(f"option {option!r}: {text!r} is the whole value", advice=advice)
    steps: list[str | int | Wildcard] = []
    while rest:
        step = _STEP.match(rest)
        if step is None:
            raise InputError(
                f"option {option!r}: {text!r} is not a path, see {rest!r}", advice=advice
            )
        steps.append(_step(step))
        rest = rest[step.end() :]
    return tuple(steps)


def _step(step: re.Match[str]) -> str | int | Wildcard:
    if step["key"]:
        return step["key"]
    if step["any"]:
        return Wildcard.KEY
    if step["quoted"]:
        return _unquote(step["quoted"])
    return Wildcard.ITEM if step["item"] == "*" else int(step["item"])


def _unquote(quoted: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError as error:
        raise InputError(f"{quoted} is not a quoted key: {error}") from None


def narrow(patterns: Patterns, part: str | int) -> Patterns | None:
    """Return what is left of the patterns one step further down; None if one of them ends there."""
    if not patterns:
        return patterns
    wildcard = Wildcard.KEY if isinstance(part, str) else Wildcard.ITEM
    rests = tuple(
        pattern[1:] for pattern in patterns if pattern[0] is wildcard or pattern[0] == part
    )
    return None if () in rests else rests


class NotJsonError(ValueError):
    """What was read is not JSON; the message says why."""


def read_json(value: Any, *, parse: bool = True) -> Any:
    """Return the JSON value of a text, or the value itself; raise NotJsonError."""
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
    """Return the expectation as a JSON value; if it is none, that is the user's error."""
    try:
        return read_json(expected, parse=parse)
    except NotJsonError as error:
        raise InputError(
            f"the expectation {preview(expected)} is not JSON: {error}",
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
        raise ValueError(f"{preview(numeral)} is beyond the range of floats")
    return value
