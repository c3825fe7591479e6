"""Numbers with tolerance."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.checks import ABSENT, preview, run_check
from assay.errors import InputError

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
tolerances = st.floats(min_value=0, max_value=1e300)


def holds(actual: Any, expected: Any, **options: Any) -> bool | None:
    return run_check("number", actual, expected, **options).is_correct


@pytest.mark.parametrize(
    ("actual", "expected", "options", "outcome"),
    [
        (3, 3.0, {}, True),
        (3.0000001, 3, {}, False),
        (1.1, 1.0, {"absolute": 0.1}, True),
        (0.3, 0.1, {"absolute": 0.2}, True),
        (1.11, 1.0, {"absolute": 0.1}, False),
        (110, 100, {"relative": 0.1}, True),
        (111, 100, {"relative": 0.1}, False),
        (-110, -100, {"relative": 0.1}, True),
        (111, 100, {"relative": 0.1, "absolute": 11}, True),
        (0.1, 0, {"relative": 0.5}, False),
        (math.inf, math.inf, {}, True),
        (math.inf, 1e308, {"relative": 1.0}, False),
        (1e308, -math.inf, {"absolute": 1e308}, False),
        (-1e308, 1e308, {"absolute": 1.5e308}, False),
        (-1e308, 1e308, {"relative": 1.9}, False),
        (-1e308, 1e308, {"relative": 2}, True),
        (10**400, 10**400, {}, True),
        (10**400 + 1, 10**400, {}, False),
        (10**400 + 1, 10**400, {"absolute": 1}, True),
        (10**400 + 2, 10**400, {"absolute": 1}, False),
        (10**400 + 10**390, 10**400, {"relative": 1e-10}, True),
        (10**400, 1.5, {"relative": 0.5}, False),
        (1.5, 10**400, {"relative": 1}, True),
        (10**5000, 1, {"absolute": 10**5000}, True),
        (3 * 10**5000, 1, {"absolute": 10**5000}, False),
        (5e-324, 0, {"absolute": 5e-324}, True),
    ],
    ids=preview,
)
def test_examples(actual: Any, expected: Any, options: dict[str, float], outcome: bool) -> None:
    assert holds(actual, expected, **options) is outcome


def test_the_diff_says_how_far_and_how_much_is_allowed() -> None:
    diff = run_check("number", 1.5, 1.0, absolute=0.25, relative=0.125).diff
    assert diff == "expected 1.0, got 1.5 (difference 0.5), more than 0.25 or 0.125 × expected"
    assert run_check("number", 1.125, 1.0, absolute=0.25).diff == "1.125 is within 0.25 of 1.0"
    assert run_check("number", 2, 1).diff == "expected 1, got 2 (difference 1)"


def test_nan_equals_nan_only_when_asked() -> None:
    assert holds(math.nan, math.nan) is False
    assert "nan_equal" in run_check("number", math.nan, math.nan).diff
    assert holds(math.nan, math.nan, nan_equal=True) is True
    assert holds(math.nan, 1, nan_equal=True, absolute=9) is False
    assert holds(1, math.nan, nan_equal=True, absolute=9) is False


def test_a_float_of_another_library_is_a_float() -> None:
    class Float(float):
        def __repr__(self) -> str:
            return f"Float({float(self)})"

    assert holds(Float(1.1), 1, absolute=0.1) is True


@pytest.mark.parametrize("actual", [True, False, "1", None, [1], b"1"])
def test_what_is_no_number_fails_and_both_types_are_named(actual: Any) -> None:
    result = run_check("number", actual, 1)
    assert result.is_correct is False
    assert result.diff == f"expected int, got {type(actual).__name__}"


@pytest.mark.parametrize("expected", [True, "1", None, [1]])
def test_an_expectation_that_is_no_number_is_the_users_error(expected: Any) -> None:
    with pytest.raises(InputError, match="must be a number"):
        run_check("number", ABSENT, expected)


@pytest.mark.parametrize("option", ["absolute", "relative"])
@pytest.mark.parametrize(
    "value", [-1, math.inf, math.nan, True, "0.1", None, -(10**5000)], ids=preview
)
def test_a_tolerance_must_be_finite_and_not_negative(option: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"option '{option}' must be a finite number"):
        run_check("number", 1, 1, **{option: value})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", 3),
        (" 3.0\n", 3),
        ("-2.5e3", -2500),
        (".5", 0.5),
        ("5.", 5),
        ("inf", math.inf),
        ("10000000000000001", 10000000000000001),
    ],
)
def test_text_is_a_number_only_when_asked(text: str, expected: float) -> None:
    assert holds(text, expected) is False
    assert holds(text, expected, from_text=True) is True


@pytest.mark.parametrize(
    "text", ["", "three", "1_000", "1,5", "0x10", "1 2", "--1", "٣", "1e999", "e5"]
)
def test_text_that_is_no_number_fails(text: str) -> None:
    result = run_check("number", text, math.inf, from_text=True)
    assert result.is_correct is False
    assert "is not a number" in result.diff


def test_more_digits_than_python_reads_are_no_crash() -> None:
    assert holds("1" * 5000, 1, from_text=True) is False


@given(numbers, tolerances, tolerances)
def test_a_number_is_within_every_tolerance_of_itself(
    number: float, absolute: float, relative: float
) -> None:
    assert holds(number, number, absolute=absolute, relative=relative) is True


@given(numbers, numbers, tolerances)
def test_an_absolute_tolerance_has_no_direction(one: float, other: float, absolute: float) -> None:
    assert holds(one, other, absolute=absolute) == holds(other, one, absolute=absolute)


@given(numbers, numbers, tolerances, tolerances)
def test_a_larger_tolerance_never_fails_what_passed(
    one: float, other: float, absolute: float, more: float
) -> None:
    if holds(one, other, absolute=absolute):
        assert holds(one, other, absolute=absolute + more)


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6), st.integers(0, 10**6))
def test_tolerance_is_exact_in_decimals(actual: int, expected: int, allowed: int) -> None:
    outcome = holds(actual / 1000, expected / 1000, absolute=allowed / 1000)
    assert outcome is (abs(actual - expected) <= allowed)


def test_a_text_of_many_digits_is_refused_at_once() -> None:
    start = time.process_time()
    assert run_check("number", "1" * 1_000_000 + "x", 1, from_text=True).is_correct is False
    assert time.process_time() - start < 1
