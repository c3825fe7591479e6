"""Text from cases made fit to be shown."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.escaping import escape_hidden
from assay.reports.text import (
    count,
    name_of,
    one_line,
    seconds,
    shorten,
    show_command,
    show_diff,
    show_value,
)

if TYPE_CHECKING:
    from tests.reports.conftest import Make

any_text = st.text(st.characters(exclude_categories=()))
scalars = st.none() | st.booleans() | st.integers() | st.floats() | any_text | st.binary()
any_value = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(any_text, inner), max_leaves=10
)


def is_safe(text: str) -> bool:
    """Nothing in it acts on a terminal or on the direction of text, and it can be encoded."""
    return not any(
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or unicodedata.bidirectional(character) in BIDI
        for character in text
        if character not in "\n\t"
    )


BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(any_text)
def test_visible_text_is_safe(text: str) -> None:
    assert is_safe(escape_hidden(text))


@given(st.text(st.characters(categories=("L", "N", "P", "S"))))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    hangul_fillers = {"\u115f", "\u1160", "\u3164", "\uffa0"}
    if not hangul_fillers & set(text):
        assert escape_hidden(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "\\u001b[31m"),
        ("a\r\n", "a\\r\n"),
        ("\u202e", "\\u202e"),
        ("a\u200bb", "a\\u200bb"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("👩\u200d💻\ttab", "👩\u200d💻\ttab"),
    ],
)
def test_what_is_hidden_is_shown(text: str, shown: str) -> None:
    assert escape_hidden(text) == shown


@given(any_text, st.integers(min_value=20, max_value=60))
def test_one_line_is_one_short_line(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert "\n" not in line
    assert "\t" not in line
    assert is_safe(line)
    assert len(line) <= 10 * limit + 40


def test_a_short_text_is_not_shortened() -> None:
    assert shorten("a" * 10, 10) == "a" * 10


def test_a_long_text_says_how_much_is_missing() -> None:
    assert shorten("a" * 1_234_010, 10) == "a" * 10 + " … [1,234,000 more characters]"
    assert shorten("ab\n" * 5, 100, lines=2) == "ab\nab\n… [10 more characters]"


def test_newlines_at_the_end_are_not_worth_a_note() -> None:
    assert shorten("ab\n\n", 2) == "ab\n\n"


@given(st.text(), st.integers(min_value=1, max_value=50), st.integers(min_value=1, max_value=5))
def test_shortened_text_begins_like_the_text(text: str, limit: int, lines: int) -> None:
    kept, _, note = shorten(text, limit, lines).rpartition("… [")
    if note.endswith(("more characters]", "more character]")):
        missing = int(note.split()[0].replace(",", ""))
        assert text.startswith(text[: len(text) - missing])
        assert kept[:-1] == text[: len(text) - missing]
        assert len(text) - missing <= limit
    else:
        assert shorten(text, limit, lines) == text


@given(any_value)
def test_any_value_can_be_shown(value: Any) -> None:
    assert is_safe(show_value(value))
    assert is_safe(show_diff(value))


@given(st.text(st.characters(exclude_characters="\n"), max_size=100))
def test_text_in_one_line_is_quoted_like_json(text: str) -> None:
    shown = show_value(text)
    if "\\U" not in shown:
        assert json.loads(shown.replace("\\U", "\\\\U")) == text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (42, "42"),
        ("42", '"42"'),
        (None, "null"),
        ("", '""'),
        ("a ", '"a "'),
        ("a\nb", "a\nb"),
        ("a\nb\n\n", "a\nb\\n\\n"),
        ({"a": [1, "é"]}, '{"a": [1, "é"]}'),
        ([float("inf")], '[{"$float": "inf"}]'),
        (b"", '0 bytes of text: ""'),
        (b"hi", '2 bytes of text: "hi"'),
        (b"\x89PNG", "4 bytes: 89 50 4e 47"),
        (b"\xff" * 65, "65 bytes: " + "ff " * 63 + "ff …"),
        ("x" * 12, '"xxxxxxxxxx" … [2 more characters]'),
    ],
)
def test_values_are_told_apart(value: Any, shown: str) -> None:
    assert show_value(value, limit=10 if value == "x" * 12 else 100) == shown


def test_a_value_of_some_size_is_laid_out_and_a_huge_one_cut() -> None:
    value = {f"name {number}": number for number in range(10)}
    assert show_value(value).startswith('{\n  "name 0": 0,\n')
    huge = show_value(["x" * 100] * 1000, limit=50)
    assert huge.endswith("more characters]")
    assert len(huge) < 100


@pytest.mark.parametrize(
    ("duration", "shown"),
    [(0.0, "0 ms"), (0.25, "250 ms"), (59.94, "59.9 s"), (61, "1 min 1 s"), (7260, "2 h 1 min")],
)
def test_times(duration: float, shown: str) -> None:
    assert seconds(duration) == shown


def test_counts() -> None:
    assert (count(1, "case"), count(1000, "case")) == ("1 case", "1,000 cases")


def test_the_command_that_shows_a_case(make: Make) -> None:
    run = make.run([])
    assert name_of(run) == str(run.path)
    assert show_command(run, "a b\n") == f"assay runs show {run.path} 'a b\\n'"
    run.path = Path(".assay/runs/20260102-run")
    assert show_command(run) == "assay runs show 20260102-run CASE"
