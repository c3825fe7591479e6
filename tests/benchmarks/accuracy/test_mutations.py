"""Mutations keep what they promise: the same chance the same mutants, the key with its text."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.model import Question, Snippet
from assay.questions.mutants import in_prose, shuffle_options
from benchmarks.accuracy.damages import CHANGING
from benchmarks.accuracy.mutations import (
    KEEPING,
    announce,
    loud_prose,
    mutants,
    number_options,
    refence,
    remove_backticks,
    rename_letters,
    typographic,
)

OPTIONS = {"A": "`verify`", "B": "cert", "C": "trust_env=True", "D": "None of the above"}
PLAIN = Question("plain", "Which parameter of `httpx.Client` isn't there?", OPTIONS)
FENCED = Question(
    "fenced",
    "What's printed by this?\n\n```python\nprint('a-b')\n```\n",
    {"A": "a-b", "B": "a", "C": "b", "D": "nothing"},
)
SNIPPET = Question("snippet", "What is printed?", {"A": "1", "B": "2"}, Snippet("print(1)\n"))
QUESTIONS = [(PLAIN, "B"), (FENCED, "A"), (SNIPPET, "A")]

seeds = st.integers(0, 10_000)


@given(seeds)
def test_a_shuffle_moves_the_key_with_its_text(seed: int) -> None:
    mutated = shuffle_options(PLAIN, "B", Random(seed))
    if mutated is not None:
        question, key = mutated
        assert question.options[key] == "cert"
        assert question.options["D"] == "None of the above"
        assert sorted(question.options.values()) == sorted(OPTIONS.values())
        assert list(question.options) == list(OPTIONS)


def test_options_that_name_letters_are_not_moved() -> None:
    options = {"A": "one", "B": "two", "C": "Both A and B", "D": "three"}
    question = Question("letters", "Which is right?", options)
    assert shuffle_options(question, "C", Random(1)) is None
    assert rename_letters(question, "C", Random(1)) is None


@given(seeds)
def test_renamed_letters_keep_the_order_and_the_key(seed: int) -> None:
    mutated = rename_letters(PLAIN, "C", Random(seed))
    assert mutated is not None
    question, key = mutated
    assert list(question.options.values()) == list(OPTIONS.values())
    assert question.options[key] == OPTIONS["C"]
    assert not set(question.options) & set(OPTIONS)


def test_words_change_and_code_does_not() -> None:
    text = "say `a b` and\n\n    code here\n\n```\nmore code\n```\nend"
    changed = in_prose(text, str.upper)
    assert changed == "SAY `a b` AND\n\n    code here\n\n```\nmore code\n```\nEND"


def test_loud_words_leave_names_alone() -> None:
    question = Question("loud", "what does json.loads return in `x`, max_size or none?", {"A": "1"})
    mutated = loud_prose(question, "A", Random(0))
    assert mutated is not None
    assert mutated[0].text == "WHAT DOES json.loads RETURN IN `x`, max_size OR NONE?"


def test_typography_stays_out_of_code() -> None:
    mutated = typographic(FENCED, "A", Random(0))
    assert mutated is not None
    assert "print('a-b')" in mutated[0].text
    assert "What’s" in mutated[0].text


def test_backticks_go_and_fences_stay() -> None:
    mutated = remove_backticks(PLAIN, "B", Random(0))
    assert mutated is not None
    assert mutated[0].text == "Which parameter of httpx.Client isn't there?"
    assert mutated[0].options["A"] == "verify"
    assert remove_backticks(FENCED, "A", Random(0)) is None


def test_other_fences_hold_the_same_code() -> None:
    mutated = refence(FENCED, "A", Random(0))
    assert mutated is not None
    assert "print('a-b')\n" in mutated[0].text
    assert refence(PLAIN, "B", Random(0)) is None


def test_numbered_options_end_as_they_were() -> None:
    mutated = number_options(PLAIN, "B", Random(0))
    assert mutated is not None
    assert re.fullmatch(r"B[.)] cert", mutated[0].options["B"])


@given(seeds)
def test_an_announced_stem_is_still_there(seed: int) -> None:
    mutated = announce(PLAIN, "B", Random(seed))
    assert mutated is not None
    assert PLAIN.text in mutated[0].text


@pytest.mark.parametrize("name", sorted(KEEPING))
@given(seed=seeds)
def test_what_keeps_the_meaning_keeps_every_option(name: str, seed: int) -> None:
    for question, key in QUESTIONS:
        mutated = KEEPING[name](question, key, Random(seed))
        if mutated is not None:
            changed, its_key = mutated
            assert len(changed.options) == len(question.options)
            assert _bare(question.options[key]) in _bare(changed.options[its_key])
            assert changed.snippet == question.snippet


def _bare(text: str) -> str:
    return text.replace("`", "").strip()


@pytest.mark.parametrize("name", sorted(CHANGING))
@given(seed=seeds)
def test_what_may_change_the_meaning_gives_a_question(name: str, seed: int) -> None:
    for question, key in QUESTIONS:
        mutated = CHANGING[name](question, key, Random(seed))
        assert mutated is None or isinstance(mutated[0], Question)


def test_the_same_seed_gives_the_same_mutants() -> None:
    one = list(mutants(QUESTIONS, CHANGING, 60, seed=3))
    assert one == list(mutants(QUESTIONS, CHANGING, 60, seed=3))
    assert one != list(mutants(QUESTIONS, CHANGING, 60, seed=4))
    assert len(one) == 60
    assert len({mutant.question.id for mutant in one}) == 60


def test_both_sorts_are_made_and_each_says_which_it_is() -> None:
    made = list(mutants(QUESTIONS, CHANGING, 100))
    kept = [mutant for mutant in made if mutant.keeps_meaning]
    assert 30 <= len(kept) <= 70
    for mutant in made:
        table = KEEPING if mutant.keeps_meaning else CHANGING
        assert set(mutant.mutation.split("+")) <= set(table)
