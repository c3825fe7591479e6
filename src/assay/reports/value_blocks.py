"""Values as blocks: alone, or an expected one beside the actual one with what differs marked."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from assay.model import to_json
from assay.reports.blocks import Block, Cell, Code, Diff, Paragraph, Sides, Table, Tone
from assay.reports.text import show_diff, show_value

# What is given to a renderer, which has limits of its own.
_CHARACTERS = 20_000
_LINES = 400
_MOST_COLUMNS = 12
_MOST_ROWS = 200
_SHORT = 72
# A difference of so few lines is a sentence about it.
_FEW_LINES = 6
# Longer text is not parsed to see whether it is JSON or a table.
_PARSED = 200_000
_NOTHING: tuple[Any, ...] = (None, "", [], {})
_UNIFIED = "--- expected\n+++ actual\n"


def describe_value(value: Any) -> Block:
    """Return a value as a table, as code in its language, or as text."""
    if (rows := _read_rows(value)) is not None:
        return _make_table(rows)
    if isinstance(value, dict | list):
        return Code(_write_json(value), "json")
    return Code(show_value(value, _CHARACTERS, _LINES))


def describe_comparison(expected: Any, actual: Any, diff: Any = None) -> Iterator[Block]:
    """Yield an expected value beside the actual one, and what the check said of the difference."""
    if (tables := _pair_tables(expected, actual)) is not None:
        yield Sides([("expected", [tables[0]]), ("actual", [tables[1]])])
        yield from describe_difference(diff)
        return
    texts = _pair_texts(expected, actual, diff)
    if texts is None:
        sides = (("expected", expected), ("actual", actual))
        yield Sides([(name, [describe_value(value)]) for name, value in sides])
        yield from describe_difference(diff)
        return
    yield texts
    # Both sides are there already; what comes before a unified diff is a hint.
    hint, unified, _ = diff.partition(_UNIFIED) if isinstance(diff, str) else ("", "", "")
    yield from describe_difference(hint.strip() if unified else diff)


def describe_right(expected: Any, actual: Any, diff: Any = None) -> Iterator[Block]:
    """Yield what is as expected: once, if both sides are the same."""
    if expected is None or expected == actual or _parse(actual, expected) == expected:
        yield describe_value(actual)
    else:
        sides = (("expected", expected), ("actual", actual))
        yield Sides([(name, [describe_value(value)]) for name, value in sides])
    yield from describe_difference(diff)


def describe_difference(diff: Any) -> Iterator[Block]:
    """Yield what a check said of a difference; nothing if it said nothing."""
    if diff in _NOTHING:
        return
    match diff:
        case {"differences": [*found], **more} if all(isinstance(one, dict) for one in found):
            about = "; ".join(f"{name} {value}" for name, value in more.items())
            yield _list_differences(found, about)
        case str() if "\n-" in diff or "\n+" in diff or diff.count("\n") > _FEW_LINES:
            yield Code(show_diff(diff, _CHARACTERS, _LINES), "diff")
        case str():
            yield Paragraph(diff, "quiet", is_verbatim=True)
        case _:
            yield Code(show_value(diff, _CHARACTERS, _LINES), "json")


def _list_differences(found: Sequence[dict[str, Any]], about: str) -> Table:
    names = list(dict.fromkeys(str(name) for one in found for name in one))
    rows = ([_write_short(one[name]) if name in one else "" for name in names] for one in found)
    return Table(names, rows, about)


def _write_short(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(to_json(value), ensure_ascii=False)


def _pair_texts(expected: Any, actual: Any, diff: Any) -> Diff | None:
    """Return both values as texts of several lines, if they are of one kind.

    Of a text of one line nothing is said to be missing from a longer one: it may be a part of it.
    """
    if isinstance(expected, str) and isinstance(actual, str):
        are_long = all("\n" in one.strip("\n") for one in (expected, actual))
        is_diff = isinstance(diff, str) and _UNIFIED in diff
        return Diff(expected, actual) if are_long or is_diff else None
    expected, actual = _parse(expected, actual), _parse(actual, expected)
    if not (isinstance(expected, dict | list) and isinstance(actual, dict | list)):
        return None
    before, after = (
        json.dumps(to_json(one), ensure_ascii=False, indent=2)
        for one in (expected, _order_as(actual, expected))
    )
    return Diff(before, after, "json")


def _parse(value: Any, other: Any) -> Any:
    """Return text that is JSON as its value, where the other side is a value."""
    is_text = isinstance(value, str) and isinstance(other, dict | list)
    if not is_text or len(value) > _PARSED:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _order_as(value: Any, pattern: Any) -> Any:
    """Return an object with its keys in the order of the other side, as far as it has them."""
    if isinstance(value, dict) and isinstance(pattern, dict):
        names = [name for name in pattern if name in value]
        names += [name for name in value if name not in pattern]
        return {name: _order_as(value[name], pattern.get(name)) for name in names}
    if isinstance(value, list) and isinstance(pattern, list):
        both = zip(value, pattern, strict=False)
        return [_order_as(*pair) for pair in both] + value[len(pattern) :]
    return value


def _write_json(value: Any) -> str:
    plain = to_json(value)
    short = json.dumps(plain, ensure_ascii=False)
    return short if len(short) <= _SHORT else json.dumps(plain, ensure_ascii=False, indent=2)


# --- Tables ---------------------------------------------------------------------------------------

Rows = list[dict[str, Any]]


def _pair_tables(expected: Any, actual: Any) -> tuple[Table, Table] | None:
    """Return both sides as tables with the same columns, if one is a table and so is the other."""
    before, after = _read_rows(expected), _read_rows(actual)
    if before is None and after is not None:
        before = _read_csv(expected, after)
    if after is None and before is not None:
        after = _read_csv(actual, before)
    if before is None or after is None:
        return None
    columns = list(dict.fromkeys(name for row in (*before, *after) for name in row))
    if len(columns) > _MOST_COLUMNS:
        return None
    count = max(len(before), len(after))
    return (
        _compare_rows(columns, before, after, count, "failed"),
        _compare_rows(columns, after, before, count, "passed"),
    )


def _compare_rows(columns: list[str], own: Rows, other: Rows, count: int, tone: Tone) -> Table:
    def cells(place: int) -> Iterator[Cell]:
        row = own[place] if place < len(own) else None
        twin = other[place] if place < len(other) else None
        for name in columns:
            if row is None:
                yield Cell("", "quiet")
                continue
            is_same = twin is not None and name in twin and name in row and row[name] == twin[name]
            yield Cell(_write_cell(row.get(name)), "" if is_same else tone, not is_same)

    return Table(columns, [list(cells(place)) for place in range(min(count, _MOST_ROWS))])


def _read_rows(value: Any) -> Rows | None:
    """Return a list of flat objects as the rows of a table."""
    if not isinstance(value, list) or not value:
        return None
    if not all(isinstance(row, dict) and row and _is_flat(row.values()) for row in value):
        return None
    columns = {name for row in value for name in row}
    is_alike = len(columns) <= min(_MOST_COLUMNS, 2 * min(map(len, value)))
    return value if is_alike else None


def _is_flat(values: Iterable[Any]) -> bool:
    return not any(isinstance(one, dict | list | bytes) for one in values)


def _read_csv(text: Any, like: Rows) -> Rows | None:
    """Return the rows of text with the columns of another table, with its types where they fit."""
    if not isinstance(text, str) or len(text) > _PARSED:
        return None
    try:
        found = list(csv.DictReader(io.StringIO(text)))
    except csv.Error:
        return None
    if not found or set(found[0]) != set(like[0]):
        return None
    return [
        {str(name): _as_type(value, like, place, name) for name, value in row.items()}
        for place, row in enumerate(found)
    ]


def _as_type(text: Any, like: Rows, place: int, name: Any) -> Any:
    value = like[place].get(name) if place < len(like) else None
    # Compared as text: 0.10 in a file is written otherwise than the number.
    return value if text == str(value) else text


def _make_table(rows: Rows) -> Table:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return Table(
        columns, ([_write_cell(row.get(name)) for name in columns] for row in rows[:_MOST_ROWS])
    )


def _write_cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(to_json(value), ensure_ascii=False)
