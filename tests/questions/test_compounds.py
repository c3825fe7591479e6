"""Options about options: how they are read and what follows from their parts."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.claims import Claim, Grounds, Relation
from assay.questions.compounds import (
    Compound,
    CompoundKind,
    decided_by,
    derive,
    read_compound,
    read_compounds,
)
from assay.questions.findings import Finding, State
from assay.questions.model import Question, Snippet
from assay.questions.stems import Stem, StemKind

LETTERS = ("A", "B", "C", "D", "E")
ONE_TRUE = Stem(StemKind.ONE_TRUE)
ONE_FALSE = Stem(StemKind.ONE_FALSE)
LOOSE = Stem(StemKind.OTHER)


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


HOLDS, FAILS, UNPROVEN, CONTRADICTED = (
    Finding(State.HOLDS, "so"),
    Finding(State.FAILS, "not so"),
    Finding(State.UNPROVEN),
    Finding(State.CONTRADICTED),
)
DOCUMENTED = Finding(State.HOLDS, "it is written", grounds=Grounds.DOCUMENTED)


def _derive(text: str, *parts: Finding, stem: Stem = ONE_TRUE) -> Finding:
    """The finding on a last option from those on the ones before it."""
    letters = LETTERS[: len(parts) + 1]
    compound = read_compound(text, letters, len(parts))
    assert compound is not None
    findings = dict(zip(letters, parts, strict=False))
    return derive(findings, {letters[-1]: compound}, stem)[letters[-1]]


@pytest.mark.parametrize(
    ("text", "parts", "state"),
    [
        ("All of the above", (HOLDS, HOLDS), State.HOLDS),
        ("All of the above", (HOLDS, FAILS), State.FAILS),
        ("All of the above", (UNPROVEN, FAILS), State.FAILS),
        ("All of the above", (HOLDS, UNPROVEN), State.UNPROVEN),
        ("All of the above", (HOLDS, CONTRADICTED), State.UNPROVEN),
        ("None of the above", (FAILS, FAILS), State.HOLDS),
        ("None of the above", (HOLDS, UNPROVEN), State.FAILS),
        ("None of the above", (FAILS, UNPROVEN), State.UNPROVEN),
        ("None of the above", (FAILS, CONTRADICTED), State.UNPROVEN),
        ("None of the above", (FAILS, DOCUMENTED), State.UNPROVEN),
        ("Both A and C", (HOLDS, FAILS, HOLDS), State.HOLDS),
        ("Both A and C", (HOLDS, HOLDS, FAILS), State.FAILS),
        ("A only", (HOLDS, FAILS, FAILS), State.HOLDS),
        ("A only", (HOLDS, HOLDS, UNPROVEN), State.FAILS),
        ("A only", (HOLDS, DOCUMENTED, FAILS), State.UNPROVEN),
        ("A only", (FAILS, UNPROVEN, UNPROVEN), State.FAILS),
        ("Neither A nor B", (FAILS, FAILS, HOLDS), State.HOLDS),
        ("Neither A nor B", (FAILS, HOLDS, HOLDS), State.FAILS),
        ("Either A or B", (HOLDS, HOLDS), State.HOLDS),
        ("Either A or B", (HOLDS, FAILS), State.UNPROVEN),
        ("Either A or B", (FAILS, FAILS), State.FAILS),
        ("All except B", (HOLDS, FAILS, HOLDS), State.HOLDS),
        ("All except B", (HOLDS, HOLDS, HOLDS), State.FAILS),
    ],
)
def test_derivation(text: str, parts: tuple[Finding, ...], state: State) -> None:
    assert _derive(text, *parts).state is state


def test_what_is_derived_names_its_parts() -> None:
    claims = [Claim(letter, f"{letter} is so", Relation.EQUIVALENT) for letter in "AB"]
    holds = Finding(State.HOLDS, "so", rests_on=(claims[0],))
    fails = Finding(State.FAILS, "not so", rests_on=(claims[1],))
    derived = _derive("All of the above", holds, fails)
    assert derived.reason == "B fails"
    assert derived.derived_from == ("A", "B")
    assert derived.rests_on == (claims[1],)
    assert _derive("None of the above", holds, fails).reason == "A holds"
    assert _derive("Neither A nor B", fails, fails).reason == "A and B fail"
    assert "depends on B" in _derive("All of the above", holds, UNPROVEN).reason


def test_documented_parts_give_documented_grounds() -> None:
    assert _derive("Both A and B", HOLDS, DOCUMENTED).grounds is Grounds.DOCUMENTED
    assert _derive("Both A and B", FAILS, DOCUMENTED).grounds is Grounds.EXECUTED


@pytest.mark.parametrize("kind", [StemKind.SUPERLATIVE, StemKind.WHY, StemKind.OTHER])
def test_that_options_work_decides_no_compound_where_working_is_not_being_asked_for(
    kind: StemKind,
) -> None:
    stem = Stem(kind)
    assert _derive("All of the above", HOLDS, HOLDS, stem=stem).state is State.UNPROVEN
    assert _derive("None of the above", HOLDS, FAILS, stem=stem).state is State.UNPROVEN
    assert _derive("A only", HOLDS, FAILS, stem=stem).state is State.UNPROVEN
    assert _derive("A only", HOLDS, HOLDS, stem=stem).state is State.UNPROVEN
    assert _derive("All of the above", HOLDS, FAILS, stem=stem).state is State.FAILS
    assert _derive("None of the above", FAILS, FAILS, stem=stem).state is State.HOLDS


def test_in_a_negated_question_words_about_truth_leave_it_open() -> None:
    assert _derive("Both A and B", HOLDS, HOLDS, stem=ONE_FALSE).state is State.HOLDS
    worded = _derive("Both A and B are correct", HOLDS, HOLDS, stem=ONE_FALSE)
    assert worded.state is State.UNPROVEN
    assert "are correct" in worded.reason


def test_an_above_with_options_below_decides_only_where_both_readings_agree() -> None:
    compound = read_compound("All of the above", "ABCD", 2)
    assert compound is not None

    def state(a: Finding, b: Finding, d: Finding) -> State:
        return derive({"A": a, "B": b, "D": d}, {"C": compound}, ONE_TRUE)["C"].state

    assert state(HOLDS, HOLDS, HOLDS) is State.HOLDS
    assert state(HOLDS, HOLDS, FAILS) is State.UNPROVEN
    assert state(HOLDS, FAILS, HOLDS) is State.FAILS
    assert state(HOLDS, HOLDS, UNPROVEN) is State.UNPROVEN


TEXTS = [
    "All of the above",
    "None of the above",
    "Both A and B",
    "Only A",
    "A and C only",
    "Neither A nor C",
    "Either B or C",
    "All except B",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("stem", [ONE_TRUE, ONE_FALSE, LOOSE], ids=lambda stem: stem.kind)
def test_more_knowledge_never_takes_back_what_was_derived(text: str, stem: Stem) -> None:
    for parts in itertools.product((HOLDS, FAILS, UNPROVEN), repeat=3):
        before = _derive(text, *parts, stem=stem).state
        if before is State.UNPROVEN or UNPROVEN not in parts:
            continue
        place = parts.index(UNPROVEN)
        for known in (HOLDS, FAILS):
            after = _derive(text, *parts[:place], known, *parts[place + 1 :], stem=stem).state
            assert after is before


@pytest.mark.parametrize("text", TEXTS)
def test_what_decides_a_compound_is_enough_to_decide_it(text: str) -> None:
    compound = read_compound(text, "ABCD", 3)
    assert compound is not None
    compounds = {"D": compound}
    for parts in itertools.product((HOLDS, FAILS, UNPROVEN, DOCUMENTED), repeat=3):
        findings = derive(dict(zip("ABC", parts, strict=True)), compounds, ONE_TRUE)
        deciding = decided_by("D", findings, compounds)
        alone = {one: findings[one] if one in deciding else UNPROVEN for one in "ABC"}
        assert derive(alone, compounds, ONE_TRUE)["D"].state is findings["D"].state
