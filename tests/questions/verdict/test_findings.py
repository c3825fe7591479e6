"""What all claims about an option together say of it."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.proofs.claims import Claim, Grounds, Relation
from assay.questions.verdict.option_findings import Settled, State, Truth, combine

NECESSARY, SUFFICIENT, EQUIVALENT = Relation.NECESSARY, Relation.SUFFICIENT, Relation.EQUIVALENT
TRUE, FALSE, BOTH, OPEN = Truth.TRUE, Truth.FALSE, Truth.BOTH, Truth.OPEN


def _settled(
    relation: Relation,
    truth: Truth,
    statement: str = "`x` is a field",
    grounds: Grounds = Grounds.EXECUTED,
    absent_path: bool = False,
) -> Settled:
    claim = Claim("A", statement, relation, grounds=grounds, absent_path=absent_path)
    return Settled(claim, truth, reason="it timed out" if truth is OPEN else "")


def _documented(relation: Relation, truth: Truth) -> Settled:
    return _settled(relation, truth, "the documentation says so", Grounds.DOCUMENTED)


@pytest.mark.parametrize(
    ("relation", "truth", "state"),
    [
        (NECESSARY, TRUE, State.UNPROVEN),
        (NECESSARY, FALSE, State.FAILS),
        (SUFFICIENT, TRUE, State.HOLDS),
        (SUFFICIENT, FALSE, State.UNPROVEN),
        (EQUIVALENT, TRUE, State.HOLDS),
        (EQUIVALENT, FALSE, State.FAILS),
        *((relation, BOTH, State.CONTRADICTED) for relation in Relation),
        *((relation, OPEN, State.UNPROVEN) for relation in Relation),
    ],
)
def test_one_claim(relation: Relation, truth: Truth, state: State) -> None:
    assert combine([_settled(relation, truth)]).state is state


def test_no_claim_leaves_it_unproven() -> None:
    assert combine([]).state is State.UNPROVEN
    assert combine([]).reason == "nothing was proven about it"


def test_reasons_tell_what_was_found() -> None:
    assert combine([_settled(EQUIVALENT, TRUE)]).reason == "`x` is a field"
    assert combine([_settled(EQUIVALENT, FALSE)]).reason == "it is not true that `x` is a field"
    assert "necessary but" in combine([_settled(NECESSARY, TRUE)]).reason
    assert "would have been enough" in combine([_settled(SUFFICIENT, FALSE)]).reason
    assert combine([_settled(EQUIVALENT, OPEN)]).reason == "it timed out"
    assert combine([_settled(EQUIVALENT, BOTH)]).reason == "both sides of its proof passed"


def test_what_stayed_open_is_told_before_what_was_not_enough() -> None:
    assert combine([_settled(NECESSARY, TRUE), _settled(EQUIVALENT, OPEN)]).reason == "it timed out"


def test_one_proof_that_confirms_and_one_that_refutes_contradict_each_other() -> None:
    finding = combine([_settled(SUFFICIENT, TRUE, "it runs"), _settled(NECESSARY, FALSE)])
    assert finding.state is State.CONTRADICTED
    assert "it runs" in finding.reason
    assert "`x` is a field" in finding.reason
    assert len(finding.rests_on) == 2


def test_an_open_claim_beside_a_settled_one_changes_nothing() -> None:
    assert combine([_settled(NECESSARY, FALSE), _settled(EQUIVALENT, OPEN)]).state is State.FAILS
    assert combine([_settled(SUFFICIENT, TRUE), _settled(NECESSARY, OPEN)]).state is State.HOLDS


def test_a_finding_rests_on_the_claims_that_decided_it() -> None:
    deciding, beside = _settled(NECESSARY, FALSE), _settled(NECESSARY, TRUE, "it is callable")
    assert combine([beside, deciding]).rests_on == (deciding.claim,)


def test_execution_outweighs_documentation_and_says_so() -> None:
    refuted = combine([_documented(EQUIVALENT, TRUE), _settled(NECESSARY, FALSE)])
    assert (refuted.state, refuted.grounds) == (State.FAILS, Grounds.EXECUTED)
    assert refuted.notes == ("documented otherwise: the documentation says so",)
    confirmed = combine([_documented(EQUIVALENT, FALSE), _settled(EQUIVALENT, TRUE)])
    assert (confirmed.state, confirmed.grounds) == (State.HOLDS, Grounds.EXECUTED)
    assert confirmed.notes == (
        "documented otherwise: it is not true that the documentation says so",
    )
    torn = combine([_documented(EQUIVALENT, BOTH), _settled(EQUIVALENT, TRUE)])
    assert torn.state is State.HOLDS


def test_documentation_alone_decides_on_its_own_grounds() -> None:
    assert combine([_documented(EQUIVALENT, TRUE)]).grounds is Grounds.DOCUMENTED
    assert combine([_documented(EQUIVALENT, FALSE)]).grounds is Grounds.DOCUMENTED
    both = combine([_documented(EQUIVALENT, TRUE), _documented(EQUIVALENT, FALSE)])
    assert both.state is State.CONTRADICTED


def test_what_is_documented_is_not_what_an_executed_finding_rests_on() -> None:
    executed = _settled(EQUIVALENT, TRUE)
    finding = combine([_documented(EQUIVALENT, TRUE), executed])
    assert finding.rests_on == (executed.claim,)
    assert finding.notes == ()


def test_an_absent_path_is_one_refuted_claim_about_a_full_name() -> None:
    absent = _settled(NECESSARY, FALSE, absent_path=True)
    assert combine([absent]).is_absent_path
    assert combine([absent, _settled(NECESSARY, FALSE)]).is_absent_path
    assert not combine([_settled(NECESSARY, FALSE)]).is_absent_path
    assert not combine([_settled(EQUIVALENT, TRUE, absent_path=True)]).is_absent_path


def test_notes_of_claims_come_along() -> None:
    noted = replace(_settled(EQUIVALENT, FALSE), notes=("broader-exception",))
    assert combine([noted, noted]).notes == ("broader-exception",)


SETTLED = st.builds(
    _settled,
    st.sampled_from(Relation),
    st.sampled_from(Truth),
    grounds=st.sampled_from(Grounds),
)


@given(st.lists(SETTLED, max_size=4))
def test_the_order_of_claims_decides_nothing(settled: list[Settled]) -> None:
    for shuffled in itertools.islice(itertools.permutations(settled), 6):
        one, other = combine(settled), combine(shuffled)
        assert (one.state, one.grounds) == (other.state, other.grounds)
        assert set(one.rests_on) == set(other.rests_on)


@given(st.lists(SETTLED, max_size=4))
def test_a_decision_needs_a_claim_that_can_make_it(settled: list[Settled]) -> None:
    finding = combine(settled)
    facts = {(one.claim.relation, one.truth) for one in settled}
    if finding.state is State.HOLDS:
        assert facts & {(SUFFICIENT, TRUE), (EQUIVALENT, TRUE)}
    if finding.state is State.FAILS:
        assert facts & {(NECESSARY, FALSE), (EQUIVALENT, FALSE)}
    assert bool(finding.rests_on) is (finding.state is not State.UNPROVEN)


@given(st.lists(SETTLED, max_size=4))
def test_executed_grounds_need_an_executed_proof_of_that_very_state(settled: list[Settled]) -> None:
    finding = combine(settled)
    if finding.state in (State.HOLDS, State.FAILS) and finding.grounds is Grounds.EXECUTED:
        executed = [one for one in settled if one.claim.grounds is Grounds.EXECUTED]
        assert combine(executed).state is finding.state


@given(st.lists(SETTLED, max_size=3), st.lists(SETTLED, max_size=2))
def test_documentation_never_changes_what_execution_decided(
    executed: list[Settled], added: list[Settled]
) -> None:
    proofs = [one for one in executed if one.claim.grounds is Grounds.EXECUTED]
    written = [one for one in added if one.claim.grounds is Grounds.DOCUMENTED]
    before = combine(proofs)
    if before.state is not State.UNPROVEN:
        assert combine([*written, *proofs]).state is before.state
