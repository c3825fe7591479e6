"""When two texts are the same, and when an option speaks about the others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.lint_rules.context import (
    blank_quotes,
    is_compound,
    is_none_of_them,
    normalise,
    prose,
)


@pytest.mark.parametrize(
    "option",
    ["None of the above", "none of these.", "All of the above", "Both A and C", "A and B", "A only",
     "Only B", "A, B and C", "Both of these", "Neither of the above", "`None of the above`"],
)  # fmt: skip
def test_options_about_options(option: str) -> None:
    assert is_compound(option)


@pytest.mark.parametrize(
    "option",
    ["No error.", "None is returned", "All of the tools", "A list", "Both agents and tools", "A",
     "Only the runner", "Alpha and Beta"],
)  # fmt: skip
def test_options_about_the_world(option: str) -> None:
    assert not is_compound(option)


def test_none() -> None:
    assert is_none_of_them("None of the above options")
    assert is_none_of_them("None of the above.")
    assert not is_none_of_them("All of the above")
    assert not is_none_of_them("None is returned")


@given(st.text())
def test_blanking_keeps_every_place(text: str) -> None:
    assert len(prose(text)) == len(blank_quotes(text)) == len(text)


@given(st.text())
def test_normalising_once_is_enough(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


def test_prose_is_what_is_neither_code_nor_quoted() -> None:
    assert prose("the agent's `x` isn't \"y\" here").split() == ["the", "agent's", "isn't", "here"]
