"""What follows for options about options from what is known of their parts."""

from __future__ import annotations

import itertools

import pytest

from assay.questions.proofs.claims import Claim, Grounds, Relation
from assay.questions.verdict.compounds import derive, find_deciding, read_compound
from assay.questions.verdict.option_findings import OptionFinding, State
from assay.questions.verdict.stems import Stem, StemKind

LETTERS = ("A", "B", "C", "D", "E")
ONE_TRUE = Stem(StemKind.ONE_TRUE)
ONE_FALSE = Stem(StemKind.ONE_FALSE)
LOOSE = Stem(StemKind.OTHER)

HOLDS, FAILS, UNPROVEN, CONTRADICTED = (
    OptionFinding(State.HOLDS, "so"),
    OptionFinding(State.FAILS, "not so"),
    OptionFinding(State.UNPROVEN),
    OptionFinding(State.CONTRADICTED),
)
DOCUMENTED = OptionFinding(State.HOLDS, "it is written", grounds=Grounds.DOCUMENTED)


def _derive(text: str, *parts: OptionFinding, stem: Stem = ONE_TRUE) -> OptionFinding:
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
def test_derivation(text: str, parts: tuple[OptionFinding, ...], state: State) -> None:
    assert _derive(text, *parts).state is state


def test_what_is_derived_names_its_parts() -> None:
    claims = [Claim(letter, f"{letter} is so", Relation.EQUIVALENT) for letter in "AB"]
    holds = OptionFinding(State.HOLDS, "so", rests_on=(claims[0],))
    fails = OptionFinding(State.FAILS, "not so", rests_on=(claims[1],))
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

    def state(a: OptionFinding, b: OptionFinding, d: OptionFinding) -> State:
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
        deciding = find_deciding("D", findings, compounds)
        alone = {one: findings[one] if one in deciding else UNPROVEN for one in "ABC"}
        assert derive(alone, compounds, ONE_TRUE)["D"].state is findings["D"].state
