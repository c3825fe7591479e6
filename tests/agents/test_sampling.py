"""Counting, stopping early and the numbers, against their definitions."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.sampling.tally import (
    RETRY_DELAYS,
    Tally,
    all_pass,
    at_limit,
    compute_pass_chance,
    decide,
    describe_false_pass_rate,
    retry_delay,
    statistics,
)
from assay.model import Outcome, Ratio, wilson

PASSED, FAILED, ERROR, UNVERIFIED = (
    Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.UNVERIFIED,
)  # fmt: skip


@st.composite
def ratios(draw: st.DrawFn, most: int = 5) -> Ratio:
    samples = draw(st.integers(1, most))
    return Ratio(draw(st.integers(1, samples)), samples)


@given(ratios(), st.data())
def test_a_verdict_is_given_exactly_when_nothing_can_change_it(
    ratio: Ratio, data: st.DataObject
) -> None:
    samples = data.draw(st.lists(st.sampled_from(Outcome), min_size=1, max_size=ratio.samples))
    ends = product(Outcome, repeat=ratio.samples - len(samples))
    possible = {ratio.outcome([*samples, *end])[0] for end in ends}
    decision = decide(ratio, samples)
    assert (decision is not None) == (len(possible) == 1)
    if decision is not None:
        assert decision.outcome in possible
        assert decision.is_early == (decision.taken < ratio.samples)


@given(ratios(), st.data())
def test_a_verdict_never_changes_and_is_given_at_the_first_chance(
    ratio: Ratio, data: st.DataObject
) -> None:
    size = ratio.samples
    samples = data.draw(st.lists(st.sampled_from(Outcome), min_size=size, max_size=size))
    decisions = [decide(ratio, samples[:taken]) for taken in range(1, size + 1)]
    given_ones = [one for one in decisions if one is not None]
    assert len(set(given_ones)) == 1
    assert decisions.index(given_ones[0]) == given_ones[0].taken - 1


@pytest.mark.parametrize(
    ("ratio", "samples", "outcome", "reason"),
    [
        (
            "2/3", [PASSED, PASSED], PASSED,
            "decided after 2 of 3: 2 of 2 samples passed, 2/3 needed",
        ),
        (
            "2/3", [FAILED, FAILED], FAILED,
            "decided after 2 of 3: 0 of 2 samples passed, 2/3 needed",
        ),
        ("1/1", [PASSED], PASSED, "1 of 1 samples passed, 1/1 needed"),
        (
            "2/2", [ERROR, PASSED], ERROR,
            "1 of 2 samples passed, 2/2 needed, 1 ended in an error",
        ),
        (
            "2/3", [FAILED, ERROR, PASSED], ERROR,
            "1 of 3 samples passed, 2/3 needed, 1 ended in an error",
        ),
    ],
)  # fmt: skip
def test_what_a_verdict_says(
    ratio: str, samples: list[Outcome], outcome: Outcome, reason: str
) -> None:
    decision = decide(Ratio.parse(ratio), samples)
    assert decision is not None
    assert (decision.outcome, decision.reason) == (outcome, reason)


def test_an_error_alone_decides_nothing_while_samples_are_left() -> None:
    assert decide(Ratio(2, 3), [ERROR]) is None
    assert decide(Ratio(2, 3), [ERROR, PASSED]) is None
    assert decide(Ratio(2, 3), []) is None


def test_samples_count_in_the_order_they_were_started() -> None:
    tally = Tally(Ratio(2, 4))
    assert [tally.start() for _ in range(4)] == [0, 1, 2, 3]
    tally.finish(2, PASSED)
    tally.finish(3, PASSED)
    assert (tally.counted, tally.decision) == ([], None)
    tally.finish(0, FAILED)
    assert (tally.counted, tally.decision) == ([FAILED], None)
    tally.finish(1, FAILED)
    assert tally.decision is not None
    assert (tally.decision.outcome, tally.decision.taken) == (PASSED, 4)


@given(
    ratios(8), st.permutations(range(8)), st.lists(st.sampled_from(Outcome), min_size=8, max_size=8)
)
def test_the_verdict_does_not_depend_on_who_finishes_first(
    ratio: Ratio, order: list[int], outcomes: list[Outcome]
) -> None:
    tally = Tally(ratio)
    started = [tally.start() for _ in range(ratio.samples)]
    for index in order:
        if index in started:
            tally.finish(index, outcomes[index])
    assert tally.decision == decide(ratio, outcomes[: ratio.samples])


def test_nothing_is_started_after_the_verdict() -> None:
    tally = Tally(Ratio(1, 3))
    assert tally.start() == 0
    tally.finish(0, PASSED)
    assert tally.start() is None


def test_all_samples_are_taken_when_asked_for() -> None:
    tally = Tally(Ratio(1, 3), takes_all=True)
    for outcome in (PASSED, FAILED):
        index = tally.start()
        assert index is not None
        tally.finish(index, outcome)
        assert tally.decision is None
    assert tally.start() == 2
    tally.finish(2, PASSED)
    assert tally.start() is None
    assert tally.decision is not None
    assert (tally.decision.outcome, tally.decision.is_early) == (PASSED, False)
    assert tally.decision.reason == "2 of 3 samples passed, 1/3 needed"


@pytest.mark.parametrize(
    ("finished", "outcome"),
    [
        ([], FAILED),
        ([PASSED], FAILED),
        ([PASSED, PASSED], PASSED),
        ([PASSED, ERROR], ERROR),
        ([PASSED, UNVERIFIED], UNVERIFIED),
    ],
)
def test_when_the_time_is_over_the_needed_passes_must_be_in(
    finished: list[Outcome], outcome: Outcome
) -> None:
    decision = at_limit(Ratio(2, 4), finished, 1.5)
    assert decision.outcome is outcome
    assert decision.reason.startswith(f"the limit of 1.5 s ended after {len(finished)} of 4: ")
    assert decision.is_early


def test_when_the_time_is_over_samples_behind_a_running_one_count_too() -> None:
    tally = Tally(Ratio(1, 3))
    tally.start()
    tally.start()
    tally.finish(1, PASSED)
    assert tally.decision is None
    assert tally.at_limit(2).outcome is PASSED


def test_an_errored_sample_is_tried_again_twice() -> None:
    assert [retry_delay(attempts) for attempts in (1, 2, 3)] == [*RETRY_DELAYS, None]
    assert len(RETRY_DELAYS) == 2
    assert retry_delay(1, retries=0) is None
    assert [retry_delay(attempts, retries=4) for attempts in (3, 4, 5)] == [2.0, 2.0, None]


@given(st.integers(1, 8), st.data())
def test_pass_to_the_k_counts_sets_of_samples(samples: int, data: st.DataObject) -> None:
    passes = data.draw(st.integers(0, samples))
    assert all_pass(passes, samples, 1) == pytest.approx(passes / samples)
    assert all_pass(passes, samples, samples) == (1.0 if passes == samples else 0.0)
    pairs = [(one, other) for one in range(samples) for other in range(one)]
    if pairs:
        share = sum(one < passes and other < passes for one, other in pairs) / len(pairs)
        assert all_pass(passes, samples, 2) == pytest.approx(share)


@given(ratios(6), st.floats(0, 1))
def test_the_chance_to_pass_is_that_of_all_possible_runs(ratio: Ratio, rate: float) -> None:
    chance = math.fsum(
        math.prod(rate if passes else 1 - rate for passes in run)
        for run in product([True, False], repeat=ratio.samples)
        if sum(run) >= ratio.needed
    )
    assert compute_pass_chance(ratio, rate) == pytest.approx(chance, abs=1e-9)


@pytest.mark.parametrize(
    ("ratio", "right", "chance"),
    [
        ("8/10", "70%", "38%"),
        ("1/1", "90%", "90%"),
        ("2/3", "60%", "65%"),
        ("1/10", "5%", "40%"),
        ("90/100", "80%", "less than 1%"),
        ("5000/10000", "40%", "less than 1%"),
    ],
)
def test_what_a_ratio_lets_through(ratio: str, right: str, chance: str) -> None:
    said = f"{ratio} lets an agent that is right {right} of the time pass {chance} of the time"
    assert describe_false_pass_rate(Ratio.parse(ratio)) == said


def test_statistics_of_all_samples() -> None:
    found = statistics([PASSED] * 7 + [FAILED] + [ERROR] * 2 + [UNVERIFIED])
    assert (found.passes, found.failures, found.errors, found.unverified) == (7, 1, 2, 1)
    assert found.rate == 7 / 8
    assert found.interval == wilson(7, 8)
    assert found.all_of == pytest.approx({1: 7 / 8, 2: 21 / 28, 4: 0.5, 8: 0.0})


def test_nothing_is_said_of_an_agent_that_was_never_judged() -> None:
    found = statistics([ERROR, UNVERIFIED])
    assert (found.rate, found.interval, found.all_of) == (None, None, {})
