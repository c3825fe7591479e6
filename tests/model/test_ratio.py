"""How samples decide a case: pure, over all combinations."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.model import Outcome, Ratio

outcomes = st.lists(st.sampled_from(list(Outcome)), min_size=1, max_size=8)


@given(outcomes, st.data())
def test_the_outcome_is_what_every_completion_of_the_open_samples_allows(
    sampled: list[Outcome], data: st.DataObject
) -> None:
    ratio = Ratio(data.draw(st.integers(1, len(sampled))), len(sampled))
    outcome, reason = ratio.outcome(sampled)
    passed = sampled.count(Outcome.PASSED)
    assert (outcome is Outcome.PASSED) == (passed >= ratio.needed)
    could_pass = len(sampled) - sampled.count(Outcome.FAILED) >= ratio.needed
    assert (outcome is Outcome.FAILED) == (not could_pass)
    if outcome is Outcome.ERROR:
        assert Outcome.ERROR in sampled
    if outcome is Outcome.UNVERIFIED:
        assert Outcome.UNVERIFIED in sampled
    assert f"{passed} of {len(sampled)}" in reason


def test_two_failures_of_ten_pass_eight_of_ten() -> None:
    samples = [Outcome.PASSED] * 8 + [Outcome.FAILED] * 2
    assert Ratio.parse("8/10").outcome(samples)[0] is Outcome.PASSED
    assert Ratio.parse("9/10").outcome(samples)[0] is Outcome.FAILED


@pytest.mark.parametrize(
    "text", [0.8, None, "", "8", "0/3", "4/3", "-1/2", "1/0", "a/b", "1/2/3", "1.5/2", "²/3"]
)
def test_what_is_no_ratio_is_refused(text: Any) -> None:
    with pytest.raises(InputError, match="success ratio"):
        Ratio.parse(text)


def test_a_ratio_reads_what_it_writes() -> None:
    assert str(Ratio.parse(" 8 / 10 ")) == "8/10"
