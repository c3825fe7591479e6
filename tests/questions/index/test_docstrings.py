"""Docstrings in the three usual ways to write them, and in none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.index.facts import parse_docstring

GOOGLE = """Send it.

Longer text: with a colon.

Args:
  first: What comes
    first.
  second (int, optional): What comes second.
  *rest: Everything else.

Returns:
  nothing: at all.
"""
NUMPY = """Send it.

Parameters
----------
first : str
    What comes
    first.
second, third : int
    Two of them.

Returns
-------
thing : str
    No parameter.
"""
REST = """Send it.

:param first: What comes
    first.
:param int second: What comes second.
:returns: Nothing.
"""


def test_google() -> None:
    found = parse_docstring(GOOGLE)
    assert found.first == "Send it."
    assert found.names == {
        "first": "What comes first.",
        "second": "What comes second.",
        "rest": "Everything else.",
    }


def test_numpy() -> None:
    both = "Two of them."
    assert parse_docstring(NUMPY).names == {
        "first": "What comes first.",
        "second": both,
        "third": both,
    }


def test_rest() -> None:
    assert parse_docstring(REST).names == {
        "first": "What comes first.",
        "second": "What comes second.",
    }


@pytest.mark.parametrize(
    "text",
    [
        "Deprecated: use the other.",
        "Old.\n\n.. deprecated:: 2.0\n   Use new.",
        "This is deprecated.",
    ],
)
def test_marks_of_deprecation(text: str) -> None:
    assert "eprecated" in parse_docstring(text).deprecated


@pytest.mark.parametrize(
    "text", ["Warns of things.", "Good.\n\nReplaces what was deprecated in 1.0."]
)
def test_what_only_mentions_the_word_is_not_deprecated(text: str) -> None:
    assert parse_docstring(text).deprecated == ""


@given(st.text() | st.text(alphabet="Args: \n-x"))
def test_any_text_can_be_taken_apart(text: str) -> None:
    found = parse_docstring(text)
    assert "\n" not in found.first
    assert bool(found.first) == bool(text.strip())
