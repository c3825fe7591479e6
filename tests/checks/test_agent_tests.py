"""The stock tests and their negations."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.checks import ABSENT, run_check
from assay.errors import InputError

POSITIVE = ["value", "less", "greater", "keywords"]
ALL = POSITIVE + [f"not_{name}" for name in POSITIVE]

numbers = st.integers() | st.floats(allow_nan=False)
scalars = st.none() | st.booleans() | numbers | st.text()
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)


def holds(name: str, actual: Any, expected: Any) -> bool:
    result = run_check(name, actual, expected)
    assert result.is_correct is not None
    return result.is_correct


@pytest.mark.parametrize(
    ("name", "actual", "expected", "outcome"),
    [
        ("value", 3, 3.0, True),
        ("value", "3", 3, False),
        ("value", [1, 2], [[1, 2]], True),
        ("value", [1, 2], [1, 2], False),
        ("value", None, [None], True),
        ("value", {"a": 1}, [{"a": 1}], True),
        ("value", [], [[]], True),
        ("value", 5, [5, 5.0], True),
        ("not_value", 5, [4, 5], False),
        ("not_value", 5, [4, 6], True),
        ("not_value", [1, 2], [[1, 2]], False),
        ("less", 2, [3, 4], True),
        ("less", 3, [3, 4], False),
        ("less", "apple", "banana", True),
        ("not_less", 3, 3, True),
        ("not_less", 2, 3, False),
        ("greater", 4, 3, True),
        ("greater", 3, 3, False),
        ("not_greater", 3, 3, True),
        ("not_greater", 4, 3, False),
        ("keywords", "The Beatles", ["Beatles", "The"], True),
        ("keywords", "The Beatles", "beatles", False),
        ("keywords", "The Beatles", ["Beatles", "Stones"], False),
        ("keywords", ["a", 3], [3.0, "a"], True),
        ("keywords", {"key": "other"}, "key", True),
        ("keywords", {"key": "other"}, "other", False),
        ("keywords", b"binary", b"nar", True),
        ("not_keywords", "The Beatles", ["Stones", "Beatles"], False),
        ("not_keywords", "The Beatles", ["Stones", "Who"], True),
        ("not_keywords", {"key": "other"}, "other", True),
    ],
)
def test_examples(name: str, actual: Any, expected: Any, outcome: bool) -> None:
    assert holds(name, actual, expected) is outcome


def test_the_diff_names_each_item_that_failed_and_no_other() -> None:
    diff = run_check("keywords", "The Beatles", ["Beatles", "Stones", "Kinks"]).diff
    assert diff.splitlines() == [
        "'The Beatles' does not contain 'Stones'",
        "'The Beatles' does not contain 'Kinks'",
    ]


def test_many_failed_items_are_counted_beyond_the_limit() -> None:
    lines = run_check("value", 0, list(range(1, 1001))).diff.splitlines()
    assert len(lines) == 51
    assert lines[-1] == "and 950 more"


def test_texts_of_many_lines_are_shown_as_a_diff() -> None:
    diff = run_check("value", "a\nb\nc\n", "a\nx\nc\n").diff
    assert "-x" in diff
    assert "+b" in diff


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("expected", [None, {}, {"a": 1}, []])
@pytest.mark.parametrize("actual", [1, ABSENT])
def test_an_expectation_that_tests_nothing_is_the_users_error(
    name: str, expected: Any, actual: Any
) -> None:
    with pytest.raises(InputError, match=f"check '{name}': there is nothing to test"):
        run_check(name, actual, expected)


@pytest.mark.parametrize("name", ["keywords", "not_keywords"])
def test_an_empty_keyword_is_the_users_error(name: str) -> None:
    with pytest.raises(InputError, match="empty keyword"):
        run_check(name, "text", ["a", ""])


@pytest.mark.parametrize("name", ["less", "not_less", "greater", "not_greater"])
@pytest.mark.parametrize(("actual", "expected"), [("1", 1), (None, 1), ({}, 1), ([1], "a")])
def test_what_cannot_be_ordered_fails_and_names_both_types(
    name: str, actual: Any, expected: Any
) -> None:
    result = run_check(name, actual, [expected])
    assert result.is_correct is False
    assert f"{type(actual).__name__} with {type(expected).__name__}" in result.diff


@pytest.mark.parametrize("name", ["keywords", "not_keywords"])
@pytest.mark.parametrize(
    ("actual", "keyword"), [("text", 1), (5, 5), (None, "a"), (b"a", 97), ("a", b"a"), ({}, [1])]
)
def test_what_cannot_be_contained_fails_and_names_both_types(
    name: str, actual: Any, keyword: Any
) -> None:
    result = run_check(name, actual, [keyword])
    assert result.is_correct is False
    assert f"{type(actual).__name__} with {type(keyword).__name__}" in result.diff


@pytest.mark.parametrize("name", ["less", "not_less", "greater", "not_greater", "value"])
def test_nan_is_on_no_side(name: str) -> None:
    assert not holds(name, math.nan, 1)
    assert not holds(name, 1, math.nan)
    assert not holds(name, math.nan, math.nan)


@given(numbers, numbers)
def test_each_order_and_its_negation_are_complements(actual: float, expected: float) -> None:
    assert holds("less", actual, expected) != holds("not_less", actual, expected)
    assert holds("greater", actual, expected) != holds("not_greater", actual, expected)
    assert holds("less", actual, expected) == holds("greater", expected, actual)


@given(json_values)
def test_a_value_equals_itself(value: Any) -> None:
    assert holds("value", value, [value])
    assert not holds("not_value", value, [value])


@given(json_values, st.lists(json_values, min_size=1, max_size=4))
def test_a_list_is_the_conjunction_of_its_items(actual: Any, items: list[Any]) -> None:
    for name in ("value", "not_value", "less", "not_greater"):
        assert holds(name, actual, items) == all(holds(name, actual, [item]) for item in items)


@given(st.text(), st.text(min_size=1), st.text())
def test_a_part_of_a_text_is_a_keyword_of_it(before: str, keyword: str, after: str) -> None:
    assert holds("keywords", before + keyword + after, keyword)
    assert not holds("not_keywords", before + keyword + after, keyword)


@given(st.text(), st.text(min_size=1))
def test_keywords_and_their_negation_are_complements_for_text(text: str, keyword: str) -> None:
    assert holds("keywords", text, keyword) != holds("not_keywords", text, keyword)


def test_a_huge_integer_can_be_compared_and_reported() -> None:
    assert holds("greater", 10**5000, 1.5)
    result = run_check("less", 10**5000, 1.5)
    assert result.is_correct is False
    assert "too large to show" in result.diff
