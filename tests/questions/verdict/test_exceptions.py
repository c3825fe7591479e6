"""Which of the exceptions that options name was meant by what was raised."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.proofs.claims import Claim, Relation
from assay.questions.verdict.exceptions import BROADER, ExceptionMatch, match_exceptions
from assay.questions.verdict.option_findings import Settled, State, Truth, combine

RAISED = (
    "pydantic_core._pydantic_core.ValidationError",
    "builtins.ValueError",
    "builtins.Exception",
    "builtins.BaseException",
    "builtins.object",
)


def _named(option: str, exception: str, truth: Truth | None = None) -> Settled:
    """What a proof by `isinstance` finds for an option that names an exception."""
    names = [one.rpartition(".")[2] for one in RAISED]
    found = Truth.TRUE if exception.rpartition(".")[2] in names else Truth.FALSE
    claim = Claim(option, f"{exception} is raised", Relation.EQUIVALENT)
    truth = truth or found
    raised = RAISED if truth is Truth.TRUE else ()
    return Settled(claim, truth, raised=raised, exception=exception)


def _match(policy: str, **options: str) -> dict[str, Truth]:
    settled = {option: [_named(option, name)] for option, name in options.items()}
    return {option: one.truth for option, (one,) in match_exceptions(settled, policy).items()}


def test_the_closest_holds_and_its_ancestors_do_not() -> None:
    found = _match("closest", A="Exception", B="ValidationError", C="ValueError", D="KeyError")
    assert found == {"A": Truth.FALSE, "B": Truth.TRUE, "C": Truth.FALSE, "D": Truth.FALSE}


def test_the_closest_holds_even_if_it_is_not_the_very_class() -> None:
    assert _match("closest", A="Exception", B="ValueError") == {"A": Truth.FALSE, "B": Truth.TRUE}
    assert _match("closest", A="Exception", B="TypeError") == {"A": Truth.TRUE, "B": Truth.FALSE}


def test_isinstance_lets_every_ancestor_hold() -> None:
    found = _match("isinstance", A="Exception", B="ValidationError", C="ValueError")
    assert set(found.values()) == {Truth.TRUE}


def test_exact_lets_only_the_class_itself_hold() -> None:
    assert _match("exact", A="ValueError", B="pydantic.ValidationError") == {
        "A": Truth.FALSE,
        "B": Truth.TRUE,
    }
    assert _match("exact", A="ValueError") == {"A": Truth.FALSE}


def test_names_are_compared_by_their_last_part() -> None:
    found = _match("closest", A="`pydantic.ValidationError`".strip("`"), B="builtins.ValueError")
    assert found == {"A": Truth.TRUE, "B": Truth.FALSE}


def test_two_names_of_the_same_class_both_hold() -> None:
    found = _match("closest", A="pydantic.ValidationError", B="ValidationError")
    assert set(found.values()) == {Truth.TRUE}


def test_another_class_of_the_same_name_comes_no_nearer() -> None:
    settled = {
        "A": [_named("A", "ValueError")],
        "B": [_named("B", "jsonschema.ValidationError", Truth.FALSE)],
    }
    matched = match_exceptions(settled, "closest")
    assert matched["A"][0].truth is Truth.TRUE
    assert matched["B"][0].truth is Truth.FALSE


def test_an_open_rival_that_may_come_nearer_leaves_it_open() -> None:
    settled = {
        "A": [_named("A", "ValueError")],
        "B": [_named("B", "ValidationError", Truth.OPEN)],
    }
    (matched,) = match_exceptions(settled, "closest")["A"]
    assert matched.truth is Truth.OPEN
    assert "B may name" in matched.reason


def test_other_names_of_builtin_classes_are_known() -> None:
    raised = ("FileNotFoundError", "OSError", "Exception")
    named = {"A": "IOError", "B": "Exception", "C": "socket.error"}
    settled = {
        option: [
            Settled(
                Claim(option, "", Relation.EQUIVALENT), Truth.TRUE, raised=raised, exception=name
            )
        ]
        for option, name in named.items()
    }
    matched = match_exceptions(settled, "closest")
    assert [matched[one][0].truth for one in "ABC"] == [Truth.TRUE, Truth.FALSE, Truth.TRUE]


def test_a_name_that_cannot_be_placed_is_left_open_beside_others() -> None:
    alias = Settled(
        Claim("A", "", Relation.EQUIVALENT), Truth.TRUE, raised=RAISED, exception="MyAlias"
    )
    assert match_exceptions({"A": [alias]}, "closest")["A"][0].truth is Truth.TRUE
    beside = match_exceptions({"A": [alias], "B": [_named("B", "Exception")]}, "closest")
    assert beside["A"][0].truth is Truth.OPEN


def test_notes_say_what_the_other_readings_would() -> None:
    settled = {"A": [_named("A", "ValueError")], "B": [_named("B", "ValidationError")]}
    closest = match_exceptions(settled, "closest")
    assert closest["A"][0].notes == (
        BROADER,
        "with exception_match `isinstance` it would be true",
    )
    assert closest["B"][0].notes == ()
    isinstance_ = match_exceptions(settled, "isinstance")
    assert isinstance_["A"][0].notes == (
        "with exception_match `closest` it would be false",
        "with exception_match `exact` it would be false",
    )


def test_the_finding_on_a_broader_exception_says_why() -> None:
    settled = {"A": [_named("A", "ValueError")], "B": [_named("B", "ValidationError")]}
    finding = combine(match_exceptions(settled, "closest")["A"])
    assert finding.state is State.FAILS
    assert BROADER in finding.notes
    assert finding.reason.endswith("was raised, to which B comes nearer")


def test_claims_that_name_no_exception_stay_as_they_are() -> None:
    plain = Settled(Claim("A", "it runs", Relation.EQUIVALENT), Truth.TRUE)
    settled = {"A": [plain], "B": [_named("B", "ValidationError")]}
    assert match_exceptions(settled, "exact")["A"] == (plain,)


NAMES = ("ValidationError", "ValueError", "Exception", "KeyError", "TypeError")


@pytest.mark.parametrize("policy", ExceptionMatch)
def test_laws_over_every_set_of_names(policy: ExceptionMatch) -> None:
    for names in itertools.product(NAMES, repeat=3):
        named = dict(zip("ABC", names, strict=True))
        found = _match(policy, **named)
        true = {named[option] for option, truth in found.items() if truth is Truth.TRUE}
        ranked = [name for name in NAMES[:3] if name in names]
        assert len(true) <= (3 if policy is ExceptionMatch.ISINSTANCE else 1)
        if policy is ExceptionMatch.CLOSEST:
            assert true == set(ranked[:1])
        if policy is ExceptionMatch.EXACT:
            assert true == set(names) & {"ValidationError"}
        if policy is ExceptionMatch.ISINSTANCE:
            assert true == set(ranked)


@given(
    st.dictionaries(st.sampled_from("ABCD"), st.sampled_from(NAMES)),
    st.dictionaries(st.sampled_from("ABCD"), st.sampled_from(Truth)),
    st.sampled_from(ExceptionMatch),
)
def test_no_policy_makes_anything_true(
    named: dict[str, str], truths: dict[str, Truth], policy: ExceptionMatch
) -> None:
    settled = {one: [_named(one, name, truths.get(one))] for one, name in named.items()}
    for option, (after,) in match_exceptions(settled, policy).items():
        before = settled[option][0]
        assert after.truth is before.truth or before.truth is Truth.TRUE
        assert after.claim == before.claim
