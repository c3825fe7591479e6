"""Options about options: how they are read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.model import Question, Snippet
from assay.questions.verdict.compounds import Compound, CompoundKind, read_compound, read_compounds

LETTERS = ("A", "B", "C", "D", "E")


def _read(text: str) -> Compound | None:
    """Read as the last of five."""
    return read_compound(text, LETTERS, 4)


@pytest.mark.parametrize(
    ("text", "kind", "hold", "fail"),
    [
        ("All of the above", "all", "ABCD", ""),
        ("all of the above.", "all", "ABCD", ""),
        ("All the above", "all", "ABCD", ""),
        ("All of these", "all", "ABCD", ""),
        ("All of the options", "all", "ABCD", ""),
        ("All of the above are correct", "all", "ABCD", ""),
        ("None of the above", "none", "", "ABCD"),
        ("None of these.", "none", "", "ABCD"),
        ("None of the above options", "none", "", "ABCD"),
        ("None of the above is correct", "none", "", "ABCD"),
        ("None", "none", "", "ABCD"),
        ("Neither of the above", "none", "", "ABCD"),
        ("Neither", "none", "", "ABCD"),
        ("Both A and C", "both", "AC", ""),
        ("both `A` and `C`.", "both", "AC", ""),
        ("Both (A) and (C)", "both", "AC", ""),
        ("Both options A and C", "both", "AC", ""),
        ("Both A and C are correct", "both", "AC", ""),
        ("A and B", "both", "AB", ""),
        ("A & B", "both", "AB", ""),
        ("A, B and C", "both", "ABC", ""),
        ("A, B, and D", "both", "ABD", ""),
        ("Options B and C", "both", "BC", ""),
        ("A only", "only", "A", "BCD"),
        ("Only A", "only", "A", "BCD"),
        ("Only option B", "only", "B", "ACD"),
        ("A and C only", "only", "AC", "BD"),
        ("Only A and C", "only", "AC", "BD"),
        ("Neither A nor B", "neither", "", "AB"),
        ("Either A or B", "either", "AB", ""),
        ("A or C", "either", "AC", ""),
        ("All except B", "except", "ACD", "B"),
        ("All of the above except C", "except", "ABD", "C"),
        ("All of the above, except for C.", "except", "ABD", "C"),
        ("All but D", "except", "ABC", "D"),
        ("Everything except A and B", "except", "CD", "AB"),
    ],
)
def test_forms(text: str, kind: str, hold: str, fail: str) -> None:
    read = _read(text)
    assert read is not None
    assert (read.kind, read.hold, read.fail) == (CompoundKind(kind), tuple(hold), tuple(fail))


@pytest.mark.parametrize(
    "text",
    [
        "No error",
        "No error is raised",
        "A and B are equal",
        "A class",
        "A",
        "a only-once call",
        "a and b",
        "Both arguments",
        "Both",
        "All fields",
        "All",
        "All of the fields above the marker",
        "None is returned",
        "`None`",
        "None of the fields are set",
        "A or a subclass",
        "Only A is printed",
        "A and F",
        "A and E",
        "Only E",
        "Both A and A",
        "A list and a dict",
        "Either a str or an int",
        "All except the first",
        "Any of the above",
        "",
    ],
)
def test_ordinary_options(text: str) -> None:
    assert _read(text) is None


def test_a_word_for_two_needs_two_above() -> None:
    assert read_compound("Both", "ABC", 2) == Compound(CompoundKind.ALL, hold=("A", "B"))
    assert read_compound("Both of the above", "ABCD", 3) is None


def test_nothing_is_above_the_first_so_all_others_are_meant() -> None:
    first = read_compound("All of the above", "ABC", 0)
    assert first == Compound(CompoundKind.ALL, hold=("B", "C"))


@given(st.text(max_size=40), st.integers(0, 4))
def test_a_compound_is_never_about_itself(text: str, position: int) -> None:
    read = read_compound(text, LETTERS, position)
    assert read is None or LETTERS[position] not in read.about


def _question(*options: str, text: str = "Which is true?", code: str = "") -> Question:
    snippet = Snippet(code) if code else None
    return Question("q", text, dict(zip(LETTERS, options, strict=False)), snippet)


def test_the_value_none_is_not_a_compound() -> None:
    values = _question("0", "''", "True", "None")
    asked = _question("a string", "a list", "None", text="What does `f` return?")
    names = _question("`Field`", "a list", "None of the above", text="What does `f` return?")
    assert read_compounds(values) == read_compounds(asked) == {}
    assert set(read_compounds(names)) == {"C"}
    assert set(read_compounds(_question("a string", "a list", "None"))) == {"C"}


@pytest.mark.parametrize(
    "question",
    [
        _question("Only A", "Only B", "A and B", "Nothing is printed"),
        _question("A", "B", "A and B", "Nothing"),
        _question("first", "second", "A and B", code="class A: ...\nclass B(A): ..."),
        _question("first", "second", "A and B", text="Agent A calls agent B. Who answers?"),
        _question("first", "second", "A and B", text="Which of `A` and `B` is printed?"),
    ],
    ids=["self", "bare", "snippet", "prose", "code"],
)
def test_letters_that_the_question_uses_itself_are_not_options(question: Question) -> None:
    assert "C" not in read_compounds(question)


def test_a_compound_that_names_a_compound_is_ordinary() -> None:
    question = _question("first", "second", "Both A and B", "Both A and C", "None of the above")
    assert set(read_compounds(question)) == {"C", "E"}


def test_all_is_about_ordinary_options_and_none_about_every_other() -> None:
    question = _question("first", "second", "Both A and B", "All of the above", "None of the above")
    read = read_compounds(question)
    assert read["D"].hold == ("A", "B")
    assert read["E"].fail == ("A", "B", "C", "D")
