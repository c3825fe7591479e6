"""The sixty questions that are timed: all different, the shuffled ones with their keys."""

from __future__ import annotations

from assay.questions.model import Question
from benchmarks.accuracy.speed import QUESTIONS, sixty


def test_there_are_sixty_and_each_key_keeps_its_text() -> None:
    options = {"A": "one", "B": "two", "C": "three", "D": "four"}
    questions = [(Question(f"q{number}", "Which?", options), "B") for number in range(41)]
    made = sixty(questions)
    assert len(made) == QUESTIONS == len({one["id"] for one in made})
    assert {one["options"][one["correct_answer"]] for one in made} == {"two"}
    assert all(one["options"] != options for one in made[41:])
