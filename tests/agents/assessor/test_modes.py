"""Modes of failure: planted ones are found with their shares, in any order of the samples."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from assay.agents.failure_modes import FailedCheck, find_modes


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
    assert (mode.culprit, mode.why) == ("test", "every sample fails this check")
    (mode,) = find_modes(always, 6)
    assert (mode.culprit, mode.why) == ("agent", "1 of 6 samples pass this check")


def test_a_judge_that_disagrees_with_itself_points_at_the_test() -> None:
    disputed = [failed(number, "text.gist", "it may be", is_disputed=True) for number in range(2)]
    (mode,) = find_modes(disputed, 10)
    assert mode.culprit == "test"
    mixed = [*disputed, failed(2, "text.gist", "it may be")]
    assert find_modes(mixed, 10)[0].culprit == "agent"


def test_answers_like_no_other_are_various_and_no_mode() -> None:
    modes = find_modes([failed(n, "text.value", answer) for n, answer in enumerate("abc")], 10)
    assert [(mode.samples, mode.is_various) for mode in modes] == [((0, 1, 2), True)]
    assert str(modes[0].interval) == "11% to 60%"


def test_failures_are_told_apart_by_which_values_failed_before_any_word() -> None:
    def lacks(sample: int, *keywords: str) -> list[FailedCheck]:
        said = "The answer is the same whatever is missing."
        return [FailedCheck(sample, 1, "text.keywords", one, said, "") for one in keywords]

    failures = [*lacks(1, "Paris"), *lacks(2, "France"), *lacks(3, "Paris", "France"),
                *lacks(4, "Paris"), *lacks(5, "France", "Paris"), *lacks(6, "France")]  # fmt: skip
    modes = {mode.cause.values: mode.samples for mode in find_modes(failures, 10)}
    assert modes == {("Paris",): (1, 4), ("France",): (2, 6), ("France", "Paris"): (3, 5)}


HELLO, BYE = "Thanks for asking! ", " Can I do anything else for you today?"
# For each check: what passing answers say, and the planted modes with paraphrases of each.
PARAPHRASED: dict[tuple[str, str], tuple[list[str], dict[str, list[str]]]] = {
    ("text.keywords", "14 days"): (
        [
            f"{HELLO}You have {time} to return it.{BYE}"
            for time in ("14 days", "14 days from now", "exactly 14 days")
        ],
        {
            "wrong number": [
                f"{HELLO}You can return the item within {count} days of purchase.{BYE}"
                for count in (30, 60, 90)
            ],
            "no returns": [
                f"{HELLO}Unfortunately we do not accept returns of this item.{BYE}",
                f"{HELLO}Returns of this item are unfortunately not accepted.{BYE}",
                f"{HELLO}This item cannot be returned, unfortunately.{BYE}",
            ],
            "link": [
                f"{HELLO}Please see our website for the policy.{BYE}",
                f"{HELLO}The policy is on our website, please have a look.{BYE}",
                f"{HELLO}Have a look at the website for our policy.{BYE}",
            ],
            "escalates": [
                f"{HELLO}I will forward you to a human colleague.{BYE}",
                f"{HELLO}Let me forward this to a human colleague of mine.{BYE}",
                f"{HELLO}A human colleague will take over; I forward your case.{BYE}",
            ],
        },
    ),
    ("text.gist", "The answer names the capital."): (
        ["The capital of France is Paris.", "Paris is the capital of France."],
        {
            "wrong": [f"The capital of France is {city}." for city in ("Lyon", "Nice", "Metz")],
            "unsure": [
                "The capital of France is unknown to me.",
                "I am not sure what the capital of France is.",
                "The capital of France is not something that I know.",
            ],
            "moralises": [
                "The capital of France is a sensitive topic.",
                "Talking about the capital of France is a sensitive matter.",
                "That topic, the capital of France, is sensitive.",
            ],
            "asks back": [
                "Which country do you mean?",
                "Please say which country you mean.",
                "Do you mean a country? Which one?",
            ],
        },
    ),
}


def test_no_mode_mixes_what_was_planted_apart_and_paraphrases_find_each_other() -> None:
    mixed = placed = planted_answers = 0
    for (check, expected), (passing, modes) in PARAPHRASED.items():
        said = [(mode, answer) for mode, answers in modes.items() for answer in answers]
        random.Random(7).shuffle(said)
        planted_by = dict(enumerate((mode for mode, _ in said), 1))
        failures = [
            FailedCheck(number, 1, check, expected, answer, "")
            for number, (_, answer) in enumerate(said, 1)
        ]
        for mode in find_modes(failures, 30, passing={(1, check): passing}):
            if not mode.is_various:
                placed += len(mode.samples)
                counts = Counter(planted_by[sample] for sample in mode.samples)
                mixed += len(mode.samples) - max(counts.values())
        planted_answers += len(said)
    # Nothing that is in a mode is in the wrong one; about the rest nothing is claimed.
    assert (mixed, planted_answers) == (0, 24)
    assert placed >= 12


def test_a_chain_of_answers_does_not_join_what_has_nothing_in_common() -> None:
    words = [letter * 3 for letter in "abcdefghijkl"]
    chain = [failed(number, "text.gist", " ".join(words[number:][:4])) for number in range(9)]
    modes = [mode for mode in find_modes(chain, 20) if not mode.is_various]
    assert modes
    for mode in modes:
        first, last = (set(chain[mode.samples[end]].answer.split()) for end in (0, -1))
        assert first & last


def test_known_errors_of_the_judge_are_set_against_the_failures_of_a_gist() -> None:
    few = [failed(number, "text.gist", "it may be") for number in range(2)]
    many = [failed(number, "text.not_gist", "it may be") for number in range(9)]
    stock = [failed(number, "text.keywords", "it may be") for number in range(2)]
    modes = {
        mode.check: mode for mode in find_modes([*few, *many, *stock], 20, judge_error_rate=0.1)
    }
    errors = modes["text.gist"].judge_errors
    assert errors is not None
    assert (errors.samples, errors.share, round(errors.chance, 3)) == (2.0, 1.0, 0.608)
    assert modes["text.gist"].culprit == "judge"
    assert modes["text.not_gist"].culprit == "agent"
    assert (errors := modes["text.not_gist"].judge_errors)
    assert (round(errors.share, 3), errors.chance < 0.001) == (0.222, True)
    assert modes["text.keywords"].judge_errors is None
    unknown = find_modes(few, 20)
    assert (unknown[0].culprit, unknown[0].judge_errors) == ("agent", None)
