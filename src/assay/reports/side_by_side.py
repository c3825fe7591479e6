"""Two texts line by line beside each other, with what differs within a line. Pure functions."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple, TypeAlias

from assay.checks import find_common_ends, is_too_large_to_compare, split_lines

_CONTEXT = 3
# Of two lines that share less than this at their ends, all is marked as different.
_SHARED = 0.3


class Line(NamedTuple):
    """A line with its number, in three parts: the middle one differs from the other side."""

    number: int
    start: str
    changed: str
    end: str

    @property
    def text(self) -> str:
        return self.start + self.changed + self.end


class Gap(NamedTuple):
    """Lines that are equal on both sides and not shown."""

    lines: int


class LinePair(NamedTuple):
    """What stands beside each other; None where one side has no such line."""

    expected: Line | None
    actual: Line | None
    is_equal: bool


Row: TypeAlias = LinePair | Gap


def align_texts(expected: str, actual: str) -> Iterator[Row]:
    """Yield the lines that differ, with a few around them, and the gaps between.

    Texts that are too large to align are compared line by line, by number.
    """
    old, new = split_lines(expected), split_lines(actual)
    head, tail = find_common_ends(old, new)
    before, after = old[head : len(old) - tail], new[head : len(new) - tail]
    if is_too_large_to_compare(before, after):
        rows = _pair_by_number(before, after, head)
    else:
        rows = _pair_by_content(before, after, head)
    yield from _equal_rows(old, 0, 0, head, is_first=True, is_last=not tail and not before)
    yield from rows
    yield from _equal_rows(
        old, len(old) - tail, len(new) - len(old), tail, is_first=False, is_last=True
    )


def _pair_by_number(old: Sequence[str], new: Sequence[str], start: int) -> Iterator[Row]:
    for place, (before, after) in enumerate(zip_longest(old, new), start + 1):
        yield _make_pair(before, place, after, place)


def _pair_by_content(old: Sequence[str], new: Sequence[str], start: int) -> Iterator[Row]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            texts, shift = [*old[i1:i2]], j1 - i1
            for row in _equal_rows(texts, 0, shift, i2 - i1, is_first=False, is_last=False):
                yield _move(row, start + i1)
            continue
        for place in range(max(i2 - i1, j2 - j1)):
            before = old[i1 + place] if i1 + place < i2 else None
            after = new[j1 + place] if j1 + place < j2 else None
            yield _make_pair(before, start + i1 + place + 1, after, start + j1 + place + 1)


def _equal_rows(
    lines: Sequence[str], first: int, shift: int, count: int, *, is_first: bool, is_last: bool
) -> Iterator[Row]:
    """Yield equal lines: those beside a difference, and the others as a gap."""
    shown_before = 0 if is_first else min(_CONTEXT, count)
    shown_after = 0 if is_last else min(_CONTEXT, count - shown_before)
    hidden = count - shown_before - shown_after
    for place in range(count):
        if shown_before <= place < shown_before + hidden:
            if place == shown_before:
                yield Gap(hidden)
            continue
        number = first + place
        text = lines[number]
        yield LinePair(Line(number + 1, text, "", ""), Line(number + shift + 1, text, "", ""), True)


def _move(row: Row, by: int) -> Row:
    if isinstance(row, Gap) or row.expected is None or row.actual is None:
        return row
    return LinePair(
        row.expected._replace(number=row.expected.number + by),
        row.actual._replace(number=row.actual.number + by),
        True,
    )


def _make_pair(before: str | None, old: int, after: str | None, new: int) -> LinePair:
    if before is None or after is None:
        return LinePair(
            None if before is None else Line(old, "", before, ""),
            None if after is None else Line(new, "", after, ""),
            False,
        )
    if before == after:
        return LinePair(Line(old, before, "", ""), Line(new, after, "", ""), True)
    head, tail = find_common_ends(before, after)
    if head + tail < _SHARED * max(len(before), len(after)):
        head = tail = 0
    return LinePair(_split(before, old, head, tail), _split(after, new, head, tail), False)


def _split(text: str, number: int, head: int, tail: int) -> Line:
    end = len(text) - tail
    return Line(number, text[:head], text[head:end], text[end:])
