"""Diffs of texts and bytes: true, bounded in size, and quick on large input."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import zip_longest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.checks import binary_diff, cut, line_diff, preview, text_diff, unified_diff
from assay.checks.diffs import MAX_DIFF, around, first_difference

NOTE = re.compile(r" … \[([\d,]+) of ([\d,]+) characters left out\] … ")
texts = st.text(alphabet="ab\n\r ", max_size=40)


LINE = re.compile(r"^line ([\d,]+):$", re.MULTILINE)
ALSO = re.compile(r"^also lines (.*?)(?:, and ([\d,]+) more up to line (\d+))?$", re.MULTILINE)


def number(text: str) -> int:
    return int(text.replace(",", ""))


@given(st.text(alphabet="abc"), st.integers(0, 30))
def test_cut_never_lies_about_what_is_missing(text: str, limit: int) -> None:
    result = cut(text, limit)
    found = NOTE.search(result)
    if found is None:
        assert result == text
        assert len(text) <= limit
        return
    head, tail = result[: found.start()], result[found.end() :]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + len(tail) == limit
    assert number(found[1]) == len(text) - limit
    assert number(found[2]) == len(text)


@given(st.text() | st.binary().map(str), st.text())
def test_the_first_difference_is_the_first(one: str, other: str) -> None:
    offset = first_difference(one, other)
    assert one[:offset] == other[:offset]
    if one != other:
        assert one[offset : offset + 1] != other[offset : offset + 1]


@given(st.text(alphabet="abc", max_size=60), st.integers(0, 60), st.integers(4, 20))
def test_around_accounts_for_every_character(text: str, offset: int, limit: int) -> None:
    result = around(text, min(offset, len(text)), limit)
    missing = sum(number(count) for count in re.findall(r"\[([\d,]+) characters\]", result))
    quoted = re.search(r"'(.*)'", result)
    assert quoted
    assert len(quoted[1]) + missing == len(text)
    assert quoted[1] in text


@given(texts)
def test_equal_texts_have_no_difference(text: str) -> None:
    assert {unified_diff(text, text), line_diff(text, text), text_diff(text, text)} == {"equal"}
    assert binary_diff(text.encode(), text.encode()) == "equal"


@given(texts, texts)
def test_every_differing_line_is_named_by_its_number(actual: str, expected: str) -> None:
    lines = zip_longest(re.findall(r".*\n|.+$", actual), re.findall(r".*\n|.+$", expected))
    numbers = [count for count, (one, other) in enumerate(lines, start=1) if one != other]
    diff = line_diff(actual, expected)
    assert [number(found) for found in LINE.findall(diff)] == numbers


def test_the_line_diff_goes_on_to_the_end_of_the_longer_text() -> None:
    diff = line_diff("a\nb\nc\n", "a\n")
    assert "expected 1 lines, actual 3" in diff
    assert "line 3:\n  expected: (no such line)\n  actual:   'c\\n'" in diff
    assert "line 2:\n  expected: 'b\\n'\n  actual:   (no such line)" in line_diff("a\n", "a\nb\n")


def test_a_missing_newline_at_the_end_is_a_difference() -> None:
    assert "expected: 'a\\n'\n  actual:   'a'" in line_diff("a", "a\n")
    assert "+b  [no newline at the end]" in unified_diff("a\nb", "a\nb\n")


@pytest.mark.parametrize("step", [1, 2, 3])
def test_the_lines_beyond_the_detail_are_named_or_counted(step: int) -> None:
    count = 5_000
    expected = "".join(f"{line}\n" for line in range(count))
    actual = "".join("x\n" if line % step == 0 else f"{line}\n" for line in range(count))
    differing = set(range(1, count + 1, step))
    diff = line_diff(actual, expected)
    named = {number(found) for found in LINE.findall(diff)}
    also = ALSO.search(diff)
    assert also
    for part in also[1].split(", "):
        first, _, last = part.partition("-")
        named |= set(range(int(first), int(last or first) + 1))
    assert named <= differing
    assert len(named) + number(also[2] or "0") == len(differing)
    assert also[2] is None or int(also[3]) == max(differing)


def apply(diff: str, expected: list[str]) -> list[str]:
    """What a unified diff makes of the expected lines, as `patch` would do it."""
    result: list[str] = []
    position = 0
    for line in diff.splitlines()[2:]:
        if header := re.match(r"@@ -(\d+),(\d+) ", line):
            start = int(header[1]) - (header[2] != "0")
            result += expected[position:start]
            position = start
        elif line[0] == "+":
            result.append(line[1:])
        else:
            assert expected[position] == line[1:]
            position += 1
            if line[0] == " ":
                result.append(line[1:])
    return result + expected[position:]


lines = st.lists(st.sampled_from(["a", "b", "c", "", "dd"]), max_size=30)


@given(lines, lines)
def test_a_unified_diff_turns_expected_into_actual(actual: list[str], expected: list[str]) -> None:
    texts = ["".join(f"{line}\n" for line in side) for side in (actual, expected)]
    diff = unified_diff(*texts)
    assert diff == "equal" if actual == expected else apply(diff, expected) == actual


def test_a_unified_diff_counts_lines_from_the_start_of_the_text() -> None:
    expected = [f"{line}\n" for line in range(1_000)]
    actual = [*expected[:500], "new\n", *expected[500:]]
    diff = unified_diff("".join(actual), "".join(expected))
    assert diff.splitlines()[2] == "@@ -498,6 +498,7 @@"
    assert apply(diff, [line[:-1] for line in expected]) == [line[:-1] for line in actual]


def test_invisible_characters_are_made_visible() -> None:
    diff = unified_diff("a\r\nb\u200b\n", "a\nb\n")
    assert "+a␍" in diff
    assert "+b<U+200B>" in diff


@given(st.binary(), st.binary())
def test_binary_diffs_give_lengths_and_the_first_offset(actual: bytes, expected: bytes) -> None:
    diff = binary_diff(actual, expected)
    if actual != expected:
        offset = first_difference(actual, expected)
        assert f"expected {len(expected):,} bytes, got {len(actual):,}" in diff
        assert f"offset {offset:,}\n" in diff
        assert actual[offset : offset + 16].hex(" ") in diff


MEBIBYTE = 2**20


def _noise(seed: int) -> str:
    numbers = random.Random(seed)
    return "".join(f"{numbers.random()}\n" for _ in range(MEBIBYTE // 20))


def _words(seed: int) -> str:
    return "\n".join([*random.Random(seed).choices("abcd", k=MEBIBYTE // 2), ""])


LARGE: dict[str, Callable[[], tuple[str, str]]] = {
    "one long line": lambda: ("a" * MEBIBYTE + "x", "a" * MEBIBYTE + "y"),
    "long lines": lambda: ("a\n" + "a" * MEBIBYTE + "x", "a\n" + "a" * MEBIBYTE + "y"),
    "nothing in common": lambda: (_noise(7), _noise(8)),
    "few words": lambda: (_words(7), _words(8)),
    "shifted": lambda: ("a\nb\n" * (MEBIBYTE // 4), "b\na\n" * (MEBIBYTE // 4)),
    "only newlines": lambda: ("\n" * MEBIBYTE, "\n" * (MEBIBYTE - 1) + "a"),
    "one line in the middle": lambda: (_noise(7), _noise(7).replace("5\n", "6\n", 1)),
    "against nothing": lambda: (_noise(7), ""),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_texts_give_a_bounded_diff(name: str) -> None:
    # A diff that is quadratic in the number of lines would not end before the patience does.
    actual, expected = LARGE[name]()
    for diff in (text_diff(actual, expected), line_diff(actual, expected)):
        assert diff != "equal"
        assert len(diff) <= MAX_DIFF + 200


def test_a_diff_that_is_not_unified_says_so() -> None:
    assert text_diff(*LARGE["nothing in common"]()).startswith("too large for a unified diff")
    assert text_diff(*LARGE["one line in the middle"]()).startswith("--- expected")


def test_large_values_are_shown_cut() -> None:
    assert "characters left out" in preview(list(range(100_000)))
    assert len(preview("x" * MEBIBYTE)) < 300
    assert preview(10**5000) == "(int too large to show)"
    assert preview({"a": [1]}) == "{'a': [1]}"
