"""Mutants have the defect they are labelled with, and sound questions stay what they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.model import Question, Snippet
from assay.questions.mutants import (
    Defect,
    QuestionMutant,
    either,
    mutants,
    rename_last,
    reword,
    sound_variants,
)

METHOD = Question(
    "method",
    "Which of these is a method of `BaseModel`?",
    {"A": "`to_dict`", "B": "`model_dump`", "C": "`as_dict`", "D": "None of the above"},
)
NEGATED = Question(
    "negated",
    "Which of these is NOT a parameter of `Field`?",
    {"A": "`pattern`", "B": "`regex`", "C": "`gt`"},
)
ALL = Question(
    "all",
    "Which of these is a parameter of `Field`?",
    {"A": "`title`", "B": "`description`", "C": "All of the above"},
)
BEST = Question(
    "best", "What is the best way to copy a model?", {"A": "`copy()`", "B": "`model_copy()`"}
)
PRINTED = Question(
    "printed", "What does this print?", {"A": "1", "B": "2", "C": "3"}, Snippet("print(1)\n")
)
SOUND = [(METHOD, "B"), (NEGATED, "B"), (ALL, "C"), (BEST, "B"), (PRINTED, "A")]


def made(question: Question, key: str, defect: Defect) -> list[QuestionMutant]:
    return [one for one in mutants(question, key, count=9) if one.defect is defect]


@pytest.mark.parametrize(("question", "key"), SOUND, ids=[one.id for one, _ in SOUND])
@given(seed=st.integers(0, 50), count=st.integers(1, 4))
def test_what_holds_for_every_mutant(question: Question, key: str, seed: int, count: int) -> None:
    found = list(mutants(question, key, seed, count))
    assert found == list(mutants(question, key, seed, count))
    assert len({one.name for one in found}) == len(found)
    for one in found:
        assert (one.question, one.key) != (question, key)
        # Nothing that a prover is given may tell it apart.
        assert one.question.id == question.id
        assert one.key in one.question.options
        assert len(one.question.options) >= 2
        assert one.answers is None or one.answers <= set(one.question.options)
    for defect in Defect:
        assert sum(one.defect is defect for one in found) <= count


def test_a_swapped_key_is_never_the_right_one() -> None:
    found = made(METHOD, "B", Defect.KEY_SWAPPED)
    assert sorted(one.key for one in found) == ["A", "C"]
    assert all(one.question == METHOD and one.answers == frozenset("B") for one in found)
    # The parts of a compound hold with it, and nobody errs who says so.
    assert {one.answers for one in made(ALL, "C", Defect.KEY_SWAPPED)} == {frozenset("ABC")}


def test_the_right_option_goes_and_none_of_the_above_stays() -> None:
    found = made(METHOD, "B", Defect.ANSWER_REMOVED)
    assert sorted(one.key for one in found) == ["A", "B"]
    for one in found:
        assert one.question.options == {
            "A": "`to_dict`",
            "B": "`as_dict`",
            "C": "None of the above",
        }
        assert one.answers == frozenset("C")
    (added, *_) = made(NEGATED, "B", Defect.ANSWER_REMOVED)
    assert added.question.options == {"A": "`pattern`", "B": "`gt`", "C": "None of the above"}


def test_a_doubled_answer_leaves_two_right_options() -> None:
    found = made(METHOD, "B", Defect.ANSWER_DOUBLED)
    assert {one.answers for one in found} == {frozenset("AB"), frozenset("BC")}
    for one in found:
        assert one.answers is not None
        (other,) = one.answers - {"B"}
        assert one.question.options[other] == "The one called `model_dump`"


def test_a_distractor_becomes_true_without_saying_the_same() -> None:
    texts = {one.question.options["A"] for one in made(METHOD, "B", Defect.DISTRACTOR_TRUE)}
    assert "Either this: `to_dict`; or this: `model_dump`" in texts
    turned = {one.question.options["A"] for one in made(NEGATED, "B", Defect.DISTRACTOR_TRUE)}
    assert "`legacy_pattern`" in turned


def test_a_drifted_name_is_that_of_the_key() -> None:
    (one,) = made(METHOD, "B", Defect.NAME_DRIFTED)
    assert one.question.options["B"] == "`legacy_model_dump`"
    assert one.answers == frozenset("D")
    # There a name that does not exist is the right answer.
    assert made(NEGATED, "B", Defect.NAME_DRIFTED) == []


def test_a_blurred_question_does_not_say_what_it_is_about() -> None:
    (one,) = made(METHOD, "B", Defect.QUESTION_BLURRED)
    assert one.question.text == "Which of these is a method of something?"
    (printed,) = made(PRINTED, "A", Defect.QUESTION_BLURRED)
    assert printed.question.snippet is None


@pytest.mark.parametrize("defect", [Defect.ANSWER_REMOVED, Defect.NAME_DRIFTED])
def test_where_another_option_would_inherit_nothing_is_certain(defect: Defect) -> None:
    assert made(METHOD, "B", defect)
    assert made(BEST, "B", defect) == []
    found = list(mutants(METHOD, "B", count=9, shadowed=["A"]))
    assert defect not in {one.defect for one in found}


def test_where_options_speak_of_each_other_only_the_key_is_swapped_and_the_stem_blurred() -> None:
    kinds = {one.defect for one in mutants(ALL, "C", count=9)}
    assert kinds == {Defect.KEY_SWAPPED, Defect.QUESTION_BLURRED}


def test_sound_variants_keep_the_key_with_its_text() -> None:
    for question, key in SOUND:
        for one in sound_variants(question, key):
            assert one.defect is None
            assert one.question.options[one.key] == question.options[key]
            assert sorted(one.question.options.values()) == sorted(question.options.values())


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("`from a.b import C`", "`from a.b import C as C`"),
        ("`'json'`", '`"json"`'),
        ("model_dump", "The one called model_dump"),
        ("`f(1)`", "This one: `f(1)`"),
        ("It raises `ValueError`.", "It is true that it raises `ValueError`."),
        ("JSON is printed.", "It is true that JSON is printed."),
    ],
)
def test_other_words(text: str, other: str) -> None:
    assert reword(text) == other


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("`model_dump`", "`legacy_model_dump`"),
        ("`from a import Thing`", "`from a import LegacyThing`"),
        ("It raises `pydantic.ValidationError`.", "It raises `pydantic.LegacyValidationError`."),
        ("`user.model_copy(update={})`", "`user.legacy_model_copy(update={})`"),
        ("model_dump", "legacy_model_dump"),
        ("`False`", None),
        ("`'python'`", None),
        ("`ValueError`", None),
        ("None of these names", None),
        ("7", None),
    ],
)
def test_drifted_names(text: str, name: str | None) -> None:
    assert rename_last(text) == name


def test_either_is_about_both() -> None:
    assert either("One.", " two") == "Either this: One; or this: two"
