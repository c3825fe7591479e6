"""Modes of failure: planted ones are found with their shares, in any order of the samples."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from assay.agents.assessor.modes import FailedCheck, find_modes


def failed(sample: int, check: str, answer: str, *, is_disputed: bool = False) -> FailedCheck:
    return FailedCheck(sample, 1, check, "expected", answer, "reason", is_disputed)


def planted() -> list[FailedCheck]:
    """20 samples: 6 refuse, 4 name another city in two wordings, 3 return a wrong total."""
    refused = [
        failed(number, "text.keywords", f"Sorry, I cannot help with request {number}.")
        for number in range(6)
    ]
    city = [
        failed(number, "text.keywords", answer)
        for number, answer in enumerate(
            ["The capital is Lyon.", "The capital is Lyon, sir."] * 2, 6
        )
    ]
    total = [failed(number, "sly_data.total.value", f"{number}.5") for number in range(10, 13)]
    return [*refused, *city, *total]


def told(failures: list[FailedCheck]) -> list[tuple[str, int, tuple[str, ...]]]:
    return [(mode.check, len(mode.samples), mode.common) for mode in find_modes(failures, 20)]


def test_planted_modes_are_found_with_their_shares() -> None:
    assert told(planted()) == [
        ("text.keywords", 6, ("cannot", "help", "i", "request", "sorry", "with")),
        ("text.keywords", 4, ("capital", "is", "lyon", "the")),
        ("sly_data.total.value", 3, ()),
    ]


def test_the_order_of_the_samples_does_not_matter() -> None:
    shuffled = planted()
    random.Random(1).shuffle(shuffled)
    assert find_modes(shuffled, 20) == find_modes(planted(), 20)


answers = st.lists(st.sampled_from(["red", "green", "blue", "7"]), max_size=4).map(" ".join)
failures = st.builds(
    failed, st.integers(0, 9), st.sampled_from(["text.value", "text.keywords"]), answers
)


@given(st.lists(failures, max_size=12), st.randoms(use_true_random=False))
def test_any_order_gives_the_same_modes_and_loses_no_sample(
    several: list[FailedCheck], shuffle: random.Random
) -> None:
    modes = find_modes(several, 10)
    other = list(several)
    shuffle.shuffle(other)
    assert find_modes(other, 10) == modes
    for check in {one.check for one in several}:
        covered = {sample for mode in modes if mode.check == check for sample in mode.samples}
        assert covered == {one.sample for one in several if one.check == check}


def test_a_check_that_every_sample_fails_points_at_the_test() -> None:
    always = [failed(number, "text.value", "the same") for number in range(5)]
    (mode,) = find_modes(always, 5)
    assert (mode.is_tests_fault, mode.why) == (True, "every sample fails this check")
    (mode,) = find_modes(always, 6)
    assert (mode.is_tests_fault, mode.why) == (False, "1 of 6 samples pass this check")


def test_a_judge_that_disagrees_with_itself_points_at_the_test() -> None:
    disputed = [failed(number, "text.gist", "it may be", is_disputed=True) for number in range(2)]
    (mode,) = find_modes(disputed, 10)
    assert mode.is_tests_fault
    mixed = [*disputed, failed(2, "text.gist", "it may be")]
    assert not find_modes(mixed, 10)[0].is_tests_fault


def test_answers_like_no_other_are_one_mode_of_their_own() -> None:
    modes = find_modes([failed(n, "text.value", answer) for n, answer in enumerate("abc")], 10)
    assert [mode.samples for mode in modes] == [(0, 1, 2)]
    assert str(modes[0].interval) == "11% to 60%"
