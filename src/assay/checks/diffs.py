"""Readable diffs of text and bytes, limited in size and time.

Arguments are ordered as in checks: actual first, then expected.
"""

from __future__ import annotations

import difflib
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, TypeVar

EQUAL = "equal"
MAX_DIFF = 20_000
MAX_SHOWN = 200
MAX_LINES = 40
MAX_RANGES = 200
_CONTEXT = 3
# difflib is quadratic and worse; these bounds keep its worst case near a tenth of a second.
_MAX_CORE_LINES = 3_000
_MAX_EQUAL_PAIRS = 20_000

Text = TypeVar("Text", str, bytes)


def cut(text: str, limit: int) -> str:
    """Return the first and last characters of a text, `limit` in all, and how many are missing."""
    missing = len(text) - limit
    if missing <= 0:
        return text
    head, tail = (limit + 1) // 2, limit // 2
    note = f" … [{missing:,} of {len(text):,} characters left out] … "
    return f"{text[:head]}{note}{text[len(text) - tail :]}"


def preview(value: Any, limit: int = MAX_SHOWN) -> str:
    """Return a value on one line, cut if it is long."""
    try:
        return cut(repr(value), limit)
    except (ValueError, RecursionError):
        # Python refuses to write integers of more than a few thousand digits.
        return f"({type(value).__name__} too large to show)"


def first_difference(one: Text, other: Text) -> int:
    """Return the offset of the first character or byte that is not the same in both."""
    same, end = 0, min(len(one), len(other))
    while same < end:
        # Slices, because a loop over the characters of a large text takes too long.
        middle = (same + end + 1) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            end = middle - 1
    return same


def around(text: str, offset: int, limit: int = MAX_SHOWN) -> str:
    """Return a text around an offset, quoted, and how much is missing on either side."""
    if len(text) <= limit:
        return repr(text)
    start = max(0, min(offset - limit // 4, len(text) - limit))
    after = len(text) - start - limit
    before_note = f"[{start:,} characters] … " if start else ""
    after_note = f" … [{after:,} characters]" if after else ""
    return f"{before_note}{text[start : start + limit]!r}{after_note}"


def text_diff(actual: str, expected: str) -> str:
    """Return the diff that suits the texts, with a hint if only white space or case differ."""
    if actual == expected:
        return EQUAL
    if "\n" not in actual.rstrip("\n") and "\n" not in expected.rstrip("\n"):
        diff = _one_line_diff(actual, expected)
    else:
        diff = unified_diff(actual, expected)
    hint = _hint(actual, expected)
    return f"{hint}\n{diff}" if hint else diff


def _hint(actual: str, expected: str) -> str:
    if "".join(actual.split()) == "".join(expected.split()):
        return "only white space differs"
    if actual.casefold() == expected.casefold():
        return "only upper and lower case differ"
    return ""


def _one_line_diff(actual: str, expected: str) -> str:
    offset = first_difference(actual, expected)
    return (
        f"expected: {around(expected, offset)}\n"
        f"actual:   {around(actual, offset)}\n"
        f"first difference at character {offset + 1:,}"
    )


def unified_diff(actual: str, expected: str) -> str:
    """Return a unified diff, or one line by line, with a note, if the texts are too large."""
    if actual == expected:
        return EQUAL
    old, new = split_lines(expected), split_lines(actual)
    head, tail = find_common_ends(old, new)
    if is_too_large_to_compare(old[head : len(old) - tail], new[head : len(new) - tail]):
        return f"too large for a unified diff, compared line by line\n{line_diff(actual, expected)}"
    start, rest = max(0, head - _CONTEXT), max(0, tail - _CONTEXT)
    hunks = _hunks(old[start : len(old) - rest], new[start : len(new) - rest], start)
    return cut("\n".join(["--- expected", "+++ actual", *hunks]), MAX_DIFF)


def split_lines(text: str) -> list[str]:
    """Return the lines of a text, with their ends."""
    # Not splitlines: that also splits at characters a program does not mean as the end of a line.
    return list(io.StringIO(text, newline="\n"))


def find_common_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Return how many lines (or characters) are the same at the beginning and at the end."""
    shorter = min(len(old), len(new))
    head = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    rest = shorter - head
    tail = next((n for n in range(rest) if old[-1 - n] != new[-1 - n]), rest)
    return head, tail


def is_too_large_to_compare(old: Sequence[str], new: Sequence[str]) -> bool:
    """Return whether aligning these lines could take too long."""
    if len(old) + len(new) > _MAX_CORE_LINES:
        return True
    if any(len(line) > MAX_SHOWN for line in (*old, *new)):
        return True
    counts = Counter(new)
    return sum(counts[line] for line in old) > _MAX_EQUAL_PAIRS


def _hunks(old: Sequence[str], new: Sequence[str], start: int) -> Iterator[str]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        _, i1, _, j1, _ = group[0]
        _, _, i2, _, j2 = group[-1]
        yield f"@@ -{_span(start + i1, i2 - i1)} +{_span(start + j1, j2 - j1)} @@"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (f" {_make_visible(line)}" for line in old[i1:i2])
                continue
            yield from (f"-{_make_visible(line)}" for line in old[i1:i2])
            yield from (f"+{_make_visible(line)}" for line in new[j1:j2])


def _span(start: int, length: int) -> str:
    # The convention of the format: an empty span names the line before it.
    return f"{start + (length > 0)},{length}"


def _make_visible(line: str) -> str:
    """Return a line with hidden characters made visible, and a note if no newline ends it."""
    note = "" if line.endswith("\n") else "  [no newline at the end]"
    return cut("".join(map(_picture, line.removesuffix("\n"))), MAX_SHOWN) + note


def _picture(character: str) -> str:
    if character.isprintable() or character == "\t":
        return character
    code = ord(character)
    return chr(0x2400 + code) if code < 0x20 else f"<U+{code:04X}>"


def line_diff(actual: str, expected: str) -> str:
    """Return every line that differs, by number, to the end of the longer text."""
    if actual == expected:
        return EQUAL
    old, new = split_lines(expected), split_lines(actual)
    pairs = enumerate(zip_longest(old, new), start=1)
    numbers = [number for number, (before, after) in pairs if before != after]
    lines = f"{len(numbers):,} line{'s' if len(numbers) > 1 else ''}"
    parts = [f"{lines} differ; expected {len(old):,} lines, actual {len(new):,}"]
    for number in numbers[:MAX_LINES]:
        parts.append(f"line {number:,}:")
        parts.extend(_line_pair(_at(new, number), _at(old, number)))
    if len(numbers) > MAX_LINES:
        parts.append(_ranges(numbers[MAX_LINES:]))
    return "\n".join(parts)


def _at(lines: Sequence[str], number: int) -> str | None:
    return lines[number - 1] if number <= len(lines) else None


def _line_pair(actual: str | None, expected: str | None) -> tuple[str, str]:
    if actual is not None and expected is not None:
        offset = first_difference(actual, expected)
        if actual.endswith("\n") and expected.endswith("\n"):
            actual, expected = actual[:-1], expected[:-1]
    else:
        offset = 0
    sides = (
        "(no such line)" if side is None else around(side, offset) for side in (expected, actual)
    )
    return f"  expected: {next(sides)}", f"  actual:   {next(sides)}"


def _ranges(numbers: Sequence[int]) -> str:
    """Return line numbers as ranges; what is beyond the limit is counted."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        elif len(ranges) < MAX_RANGES:
            ranges.append([number, number])
        else:
            break
    listed = sum(last - first + 1 for first, last in ranges)
    words = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)
    more = len(numbers) - listed
    rest = f", and {more:,} more up to line {numbers[-1]}" if more else ""
    return f"also lines {words}{rest}"


def binary_diff(actual: bytes, expected: bytes) -> str:
    """Return lengths, the first differing offset, and a few bytes of each side around it."""
    if actual == expected:
        return EQUAL
    offset = first_difference(actual, expected)
    return (
        f"expected {len(expected):,} bytes, got {len(actual):,}; "
        f"first difference at offset {offset:,}\n"
        f"expected: {_hex_window(expected, offset)}\n"
        f"actual:   {_hex_window(actual, offset)}"
    )


def _hex_window(data: bytes, offset: int) -> str:
    start = max(0, offset - 8)
    before, after = data[start:offset].hex(" "), data[offset : offset + 16].hex(" ")
    return f"at {start:,}: {before} | {after or '(end)'}"
