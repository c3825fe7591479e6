"""Corrections that would make a question easier to verify, but not better, are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.questions.correct.correction import definition_problems, fix_problems
from assay.questions.model import Question, Snippet

BEFORE = Question(
    "q", "Which parameter of `Field` names an alias?", {"A": "`alias`", "B": "`nick`", "C": "x"}
)


@pytest.mark.parametrize(
    ("changes", "key", "said"),
    [
        ({}, "A", None),
        ({"text": "Which parameter of `Field` is for validation?"}, "B", None),
        ({"text": "Which one, for a `Field`, is it?"}, "A", None),
        ({"options": {"A": "`alias`", "B": "`nick`"}}, "A", "it has 2 options and had 3"),
        ({"options": {"A": "One.", "B": "one", "C": "x"}}, "A", "say the same"),
        ({}, "D", "is not one of its options"),
        ({"text": "Which one is nicer?"}, "A", "no longer about what it tested: Field"),
        ({"snippet": Snippet("x")}, "A", "other code"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], key: str, said: str | None) -> None:
    problems = fix_problems(BEFORE, replace(BEFORE, **changes), key)
    assert problems == [] if said is None else said in problems[0]


@pytest.mark.parametrize(
    ("definition", "said"),
    [
        ({"question": "New?", "options": {"A": "a"}, "id": "q"}, None),
        ("text", "must be an object"),
        ({"id": "other"}, "`id` cannot be changed"),
        ({"target": "x"}, "`target` cannot be changed"),
        ({"options": {"A": ""}}, "from letters to texts"),
        ({"options": ["a"]}, "from letters to texts"),
        ({"correct_answer": 1}, "`correct_answer` must be text"),
    ],
)
def test_the_form_of_a_definition(definition: Any, said: str | None) -> None:
    problems = definition_problems(definition, {"id": "q", "question": "Old?"})
    assert problems == [] if said is None else said in problems[0]
