"""Wilson's interval: known figures, and what holds for all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model import Interval, Share, wilson


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    [
        (8, 10, 0.4902, 0.9433),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (50, 100, 0.4038, 0.5962),
        (0, 0, 0.0, 1.0),
    ],
)
def test_known_figures(hits: int, total: int, low: float, high: float) -> None:
    assert wilson(hits, total) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 1000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_share_lies_inside_and_the_mirror_image_is_the_same(counted: tuple[int, int]) -> None:
    hits, total = counted
    found, mirrored = wilson(hits, total), wilson(total - hits, total)
    assert 0 <= found.low <= hits / total <= found.high <= 1
    assert found.low == pytest.approx(1 - mirrored.high)


@pytest.mark.parametrize("counted", [(3, 2), (-1, 2)])
def test_what_is_no_share_is_refused(counted: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="is not a share"):
        wilson(*counted)


def test_an_interval_reads_as_percentages() -> None:
    assert str(Interval(0.4902, 0.9433)) == "49% to 94%"


def test_a_share_tells_its_interval_and_nothing_without_trials() -> None:
    assert str(Share(8, 10)) == "80% (49% to 94%)"
    assert str(Share(0, 0)) == "–"
    assert Share(0, 0).value is None
