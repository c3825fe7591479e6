"""The chance of an uneven distribution, against known values of the chi-square distribution."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.lint_rules.consistency import _chi_square_tail, chance


@pytest.mark.parametrize(
    ("statistic", "degrees", "tail"),
    [
        (3.841, 1, 0.05),
        (5.991, 2, 0.05),
        (11.345, 3, 0.01),
        (13.277, 4, 0.01),
        (20.515, 5, 0.001),
        (18.475, 7, 0.01),
    ],
)
def test_the_tail_is_that_of_the_tables(statistic: float, degrees: int, tail: float) -> None:
    assert _chi_square_tail(statistic, degrees) == pytest.approx(tail, rel=0.01)


@given(st.lists(st.integers(0, 50), min_size=2, max_size=8).filter(sum))
def test_it_is_a_probability_and_order_does_not_matter(counts: list[int]) -> None:
    probability = chance(counts)
    assert 0 <= probability <= 1 + 1e-9
    assert chance(sorted(counts)) == pytest.approx(probability)


def test_even_counts_are_no_surprise() -> None:
    assert chance([5, 5, 5, 5]) == pytest.approx(1)
