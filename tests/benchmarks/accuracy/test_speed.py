"""The questions that are timed: all different, the shuffled ones with their keys."""

from __future__ import annotations

from assay.questions.model import Question
from benchmarks.accuracy.speed import Spent, multiply


def test_each_is_different_and_each_key_keeps_its_text() -> None:
    options = {"A": "one", "B": "two", "C": "three", "D": "four"}
    questions = [(Question(f"q{number}", f"Which {number}?", options), "B") for number in range(41)]
    made = multiply(questions, 200)
    assert len(made) == 200 == len({one["id"] for one in made})
    assert len({(one["question"], *one["options"].values()) for one in made}) == 200
    assert {one["options"][one["correct_answer"]] for one in made} == {"two"}
    assert all(one["options"] != options for one in made[41:])
    assert len(multiply(questions, 20)) == 20


def test_idle_cores_are_bound_by_the_process_that_cannot_be_split() -> None:
    assert Spent(9, own=4, proofs=6).idle(2) == 5
    assert Spent(9, own=4, proofs=2).idle(2) == 4
