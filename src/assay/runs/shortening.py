"""Keeps records small enough to be read again: evidence is cut with a note, verdicts never."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from assay.documents import MEGABYTE, MOST_PARTS

MOST_TEXT = 16 * MEGABYTE
"""Characters of all texts of a record, before they are written as JSON."""
# The first that is enough is used: how much stays of every value.
_LENGTHS = (MEGABYTE, 100_000, 10_000, 1_000, 200)
_NAMING = frozenset({"id", "group", "group_type", "original_checkpoint", "original_group"})
_LEFT_OUT = "left out of the record"
_EVIDENCE = ("actual", "expected", "diff")


def is_too_large(value: Any) -> bool:
    """Return whether a value has more text or more parts than a record may have."""
    text, parts = MOST_TEXT, MOST_PARTS
    rest = [value]
    while rest:
        one = rest.pop()
        kind = type(one)
        if kind is str or kind is bytes:
            text -= len(one)
        elif kind is dict:
            parts -= len(one) + 1
            text -= sum(map(len, one))
            rest.extend(one.values())
        elif kind is list or kind is tuple:
            parts -= len(one) + 1
            rest.extend(one)
        if text < 0 or parts < 0:
            return True
    return False


def shorten_record(
    record: dict[str, Any], fits: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """Return a packed record with so much of its evidence cut that it fits."""
    for length in _LENGTHS:
        short = record | {
            "reason": _cut(record["reason"], length),
            "reports": [_cut_report(report, length) for report in record["reports"]],
            "detail": _cut_texts(record["detail"], length),
        }
        if fits(short):
            return short
    # Too many reports or results, each of them small: what they come to is in the record itself.
    note = f"{len(record['reports']):,} reports {_LEFT_OUT}"
    short["reports"], short["reason"] = [], "; ".join(filter(None, [short["reason"], note]))
    return short if fits(short) else short | {"detail": None}


def shorten_report(
    report: dict[str, Any], fits: Callable[[dict[str, Any]], bool]
) -> dict[str, Any] | None:
    """Return a packed report with so much of its evidence cut that it fits; None if none does."""
    several = (_cut_report(report, length) for length in _LENGTHS)
    return next((short for short in several if fits(short)), None)


def _cut_report(report: dict[str, Any], length: int) -> dict[str, Any]:
    return report | {
        "results": {name: _cut_result(one, length) for name, one in report["results"].items()},
        "case": {
            name: value if name in _NAMING else _cut(value, length)
            for name, value in report["case"].items()
        },
        "error": _cut(report["error"], length),
    }


def _cut_result(result: Any, length: int) -> Any:
    if isinstance(result, dict):
        return result | {name: _cut(result[name], length) for name in _EVIDENCE}
    return [_cut(value, length) for value in result] if isinstance(result, list) else result


def _cut(value: Any, length: int) -> Any:
    """Return a value, or its beginning as text with a note of how much was left out."""
    if isinstance(value, str):
        more = len(value) - length
        return f"{value[:length]}… ({more:,} more characters {_LEFT_OUT})" if more > 0 else value
    if isinstance(value, bytes):
        more = len(value) - length
        note = f"… ({more:,} more bytes {_LEFT_OUT})".encode()
        return value[:length] + note if more > 0 else value
    if not isinstance(value, list | dict):
        return value
    text = ""
    for piece in json.JSONEncoder(ensure_ascii=False, default=repr).iterencode(value):
        text += piece
        if len(text) > length:
            return f"{text[:length]}… (the rest of {_count(value):,} values {_LEFT_OUT})"
    return value


def _cut_texts(value: Any, length: int) -> Any:
    """Return a value of the same shape with its long texts cut."""
    if isinstance(value, list):
        return [_cut_texts(item, length) for item in value]
    if isinstance(value, dict):
        return {key: _cut_texts(item, length) for key, item in value.items()}
    return _cut(value, length)


def _count(value: Any) -> int:
    count, rest = 0, [value]
    while rest:
        one = rest.pop()
        if isinstance(one, list):
            rest.extend(one)
        elif isinstance(one, dict):
            rest.extend(one.values())
        else:
            count += 1
    return count
