"""Words that turn a question round are seen, and ordinary circumstances are not taken for them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.lexical.stem import (
    asks_for_failure,
    is_negated,
    is_outside_target,
)


@pytest.mark.parametrize(
    "text",
    [
        "Which import raises an ImportError in version 2?",
        "Which of these calls fails?",
        "What parameter was removed in 2.0?",
        "Which class is deprecated?",
        "Which of the following imports is broken?",
        "Which option is no longer accepted by `run`?",
        "Which name is missing from `shop`?",
        "Which argument of `shop.Client` was removed?",
    ],
)
def test_a_question_for_what_fails(text: str) -> None:
    assert asks_for_failure(text)


@pytest.mark.parametrize(
    "text",
    [
        "Which parameter limits the number of retries?",
        "If a tool fails, which callback should you use?",
        "You need to retry when a call raises an error. Which plugin can help?",
        "Which plugin retries a tool that raises an exception?",
        "Which parameter is used to report errors?",
        "Which callback runs when a tool has failed?",
        "Which import is right for `Runner`?",
    ],
)
def test_circumstances_that_fail_are_no_question_for_failure(text: str) -> None:
    assert not asks_for_failure(text)


@pytest.mark.parametrize(
    ("text", "turned"),
    [
        ("Which parameter sends the message to anything other than standard error?", True),
        ("Which parameter asks for the value a third time?", True),
        ("Which parameter doesn't colour the output?", True),
        ("Which parameter is used instead of `err`?", True),
        ("Which parameter sends the message to standard error?", False),
        ("Which method runs a task without waiting for it?", False),
        ("Which parameter gives the annotation of a note?", False),
    ],
)
def test_a_description_by_what_is_not_meant(text: str, turned: bool) -> None:
    assert is_negated(text) is turned


@pytest.mark.parametrize(
    ("text", "elsewhere"),
    [
        ("What was the full path of `schema` in version 1?", True),
        ("Which import of `BaseSettings` worked before 2.0?", True),
        ("What does this print on Windows?", True),
        ("What does this print on Python 3.8?", True),
        ("Which class does shop-kit 1.4 offer?", True),
        ("Which method was formerly called `parse_obj`?", True),
        ("Which class does shop-kit 2 offer?", False),
        ("Which class does shop-kit v2.11 offer?", False),
        ("Which parameter of `Field` takes an alias?", False),
        ("Which parameter limits the calls to 500 in a run?", False),
        ("Which parameter is used to pass the message?", False),
        ("Which parameter used to pass the message?", True),
    ],
)
def test_another_version_platform_or_time(text: str, elsewhere: bool) -> None:
    assert is_outside_target(text, ["shop-kit"], ["2.11.7"]) is elsewhere


@given(st.text())
def test_any_text_can_be_asked(text: str) -> None:
    assert asks_for_failure(text) in (True, False)
    assert is_negated(text) in (True, False)
    assert is_outside_target(text, ["shop-kit"], ["2.11.7"]) in (True, False)
