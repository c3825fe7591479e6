"""The example suites are labelled by what is planted in them."""

from __future__ import annotations

import pytest

from assay.questions.model import Question
from benchmarks.accuracy.examples import SUITES, example_labels, planted_labels, right_answers
from benchmarks.accuracy.labels import Kind

OPTIONS = {"A": "one", "B": "two", "C": "All of the above"}


@pytest.mark.parametrize(
    ("text", "holds", "answers"),
    [
        ("Which of these works?", "A", "A"),
        ("Which of these works?", "AB", "AB"),
        ("Which of these works?", "ABC", "C"),
        ("Which of these does NOT work?", "AC", "B"),
    ],
)
def test_the_answers_follow_from_what_is_true(text: str, holds: str, answers: str) -> None:
    assert right_answers(Question("q", text, OPTIONS), holds) == set(answers)


def test_what_deserves_unproven_is_left_to_people() -> None:
    question = Question("q", "Which is best?", OPTIONS)
    label = planted_labels([question], {"q": {"verdict": "Unproven", "holds": ["A"]}})["q"]
    assert label.kind is Kind.JUDGEMENT
    assert not label.is_defect


@pytest.mark.parametrize("suite", SUITES)
def test_every_choice_of_the_example_suites_is_labelled(suite: str) -> None:
    labels = example_labels(suite)
    assert labels
    assert {label.kind for label in labels.values()} >= {Kind.VALID}
