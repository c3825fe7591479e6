"""Exact and flexible text, and patterns."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.checks import ABSENT, run_check
from assay.errors import InputError

MODES = ["exact", "trim", "lines", "collapse", "ignore"]
spaces = st.text(alphabet=" \t\n\r", max_size=3)


@given(st.text())
def test_a_text_equals_itself(text: str) -> None:
    assert run_check("exact", text, text).diff == "equal"
    for mode in MODES:
        assert run_check("flexible", text, text, whitespace=mode).is_correct is True


@given(st.text(), st.text())
def test_exact_is_equality(actual: str, expected: str) -> None:
    assert run_check("exact", actual, expected).is_correct is (actual == expected)


@pytest.mark.parametrize("name", ["exact", "flexible", "regex"])
@pytest.mark.parametrize("actual", [1, None, b"a", ["a"], {"a": 1}, True])
def test_another_type_fails_and_both_are_named(name: str, actual: Any) -> None:
    result = run_check(name, actual, "a")
    assert result.is_correct is False
    assert result.diff == f"expected str, got {type(actual).__name__}"


@pytest.mark.parametrize("name", ["exact", "flexible", "regex"])
@pytest.mark.parametrize("expected", [1, None, b"a", ["a"]])
@pytest.mark.parametrize("actual", ["a", ABSENT])
def test_an_expectation_that_is_no_text_is_the_users_error(
    name: str, expected: Any, actual: Any
) -> None:
    with pytest.raises(InputError, match=f"must be text, not {type(expected).__name__}"):
        run_check(name, actual, expected)


def test_the_diff_of_one_line_shows_both_and_the_place() -> None:
    diff = run_check("exact", "The cat", "The hat").diff
    assert "'The cat'" in diff
    assert "'The hat'" in diff
    assert "character 5" in diff


@pytest.mark.parametrize(
    ("actual", "hint"),
    [("one\ntwo\r\n", "only white space"), ("One\ntwo\n", "only upper and lower case")],
)
def test_a_small_difference_is_called_by_its_name(actual: str, hint: str) -> None:
    assert hint in run_check("exact", actual, "one\ntwo\n").diff


@pytest.mark.parametrize(
    ("mode", "same", "different"),
    [
        ("exact", "a  b\nc", " a  b\nc"),
        ("trim", "\n a  b\nc\t", "a b\nc"),
        ("lines", "a  b  \r\nc\n\n", "a  b\n c"),
        ("collapse", " a\tb   c\n", "ab c"),
        ("ignore", "ab\nc", "abc d"),
    ],
)
def test_white_space_modes(mode: str, same: str, different: str) -> None:
    options: dict[str, Any] = {"whitespace": mode, "ignore_case": False}
    assert run_check("flexible", same, "a  b\nc", **options).is_correct is True
    assert run_check("flexible", different, "a  b\nc", **options).is_correct is False


def test_case_counts_only_when_asked() -> None:
    assert run_check("flexible", "STRASSE", "straße").is_correct is True
    result = run_check("flexible", "A", "a", ignore_case=False)
    assert result.is_correct is False
    assert "only upper and lower case" in result.diff


def test_the_diff_says_what_was_allowed() -> None:
    assert run_check("flexible", " A", "a").diff == (
        "equal without white space at both ends, ignoring case"
    )
    assert "ignoring case" in run_check("flexible", "b", "a").diff


@given(st.lists(st.text(alphabet="abc", min_size=1), min_size=1), st.data())
def test_the_amount_of_white_space_does_not_count_when_collapsed(
    words: list[str], data: st.DataObject
) -> None:
    gaps = [data.draw(st.text(alphabet=" \t\n", min_size=1, max_size=3)) for _ in words]
    spread = "".join(word + gap for word, gap in zip(words, gaps, strict=True))
    assert run_check("flexible", spread, " ".join(words), whitespace="collapse").is_correct is True
    assert run_check("flexible", spread, "".join(words), whitespace="ignore").is_correct is True


@given(spaces, st.text(), spaces)
def test_trim_removes_both_ends(before: str, text: str, after: str) -> None:
    assert run_check("flexible", before + text + after, text).is_correct is True


def test_an_unknown_mode_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'collapse'"):
        run_check("flexible", "a", "a", whitespace="collapsed")


def test_a_pattern_must_match_the_whole_text() -> None:
    assert run_check("regex", "abc", "a.c").diff == "matches 'a.c'"
    result = run_check("regex", "xxabc\n", "a.c")
    assert result.is_correct is False
    assert "only a part of it does: 'abc' at character 3" in result.diff
    assert "part" not in run_check("regex", "xyz", "a*").diff


@pytest.mark.parametrize(
    ("actual", "pattern", "option"),
    [("ABC", "abc", "ignore_case"), ("a\nb", "a$\n^b", "multiline"), ("a\nb", "a.b", "dotall")],
)
def test_flags_are_off_unless_asked(actual: str, pattern: str, option: str) -> None:
    assert run_check("regex", actual, pattern).is_correct is False
    assert run_check("regex", actual, pattern, **{option: True}).is_correct is True


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "a{99999999999}", "(" * 5000 + ")" * 5000])
@pytest.mark.parametrize("actual", ["a", ABSENT])
def test_what_is_no_pattern_is_the_users_error(pattern: str, actual: Any) -> None:
    with pytest.raises(InputError, match="is not a pattern"):
        run_check("regex", actual, pattern)


def test_a_pattern_with_a_doubtful_style_is_no_noise() -> None:
    assert run_check("regex", "[", "[[]").is_correct is True


@given(st.text())
def test_the_escape_of_a_text_matches_it(text: str) -> None:
    assert run_check("regex", text, re.escape(text)).is_correct is True
