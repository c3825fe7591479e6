"""Policies: what each looks at, and that none is met by nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.model import GroupType, Outcome
from assay.submissions.records import POLICIES, Counted, judge

PASSED, FAILED, ERROR = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR


def cases(**outcomes: list[Outcome]) -> list[Counted]:
    return [Counted(type_, outcome) for type_, several in outcomes.items() for outcome in several]


@pytest.mark.parametrize(
    ("given", "met"),
    [
        (cases(Core=[PASSED], Error=[PASSED]), set(POLICIES)),
        (cases(Core=[PASSED], Error=[FAILED]), set(POLICIES) - {"all-cases"}),
        (cases(Core=[FAILED], Functionality=[PASSED]), {"any-case"}),
        (cases(Core=[PASSED, FAILED]), {"any-case", "any-core-cases"}),
        (cases(Core=[PASSED], Functionality=[ERROR]), {"any-case", "any-core-cases"}),
        (cases(Core=[PASSED], Regression=[FAILED]), {
            "any-case", "core-cases", "any-core-cases", "all-core-cases",
        }),
        (cases(Core=[Outcome.UNVERIFIED]), set()),
        (cases(Core=[ERROR]), set()),
    ],
)  # fmt: skip
def test_which_policies_are_met(given: list[Counted], met: set[str]) -> None:
    assert {name for name in POLICIES if judge(name, given).is_met} == met


@pytest.mark.parametrize("name", POLICIES)
def test_no_policy_is_met_by_nothing(name: str) -> None:
    with pytest.raises(InputError, match=name):
        judge(name, [])


def test_a_policy_about_core_cases_needs_some() -> None:
    with pytest.raises(InputError, match="Core cases, and there are none"):
        judge("core-cases", cases(Functionality=[PASSED]))


def test_what_a_baseline_accepts_does_not_count_and_may_be_everything() -> None:
    known = Counted("Core", FAILED, is_known=True)
    assert judge("all-cases", [known]).is_met
    assert judge("all-cases", [known]).reason == "all 1 cases are accepted by the baseline"
    assert not judge("all-cases", [known, Counted("Core", FAILED)]).is_met
    assert not judge("all-cases", [known, Counted("Core", ERROR)]).is_met
    with pytest.raises(InputError, match="there are none"):
        judge("core-cases", [Counted("Error", FAILED, is_known=True)])


several = st.lists(
    st.builds(
        Counted,
        st.sampled_from([one.value for one in GroupType]),
        st.sampled_from(Outcome),
        st.just(False),
    ),
    min_size=1,
)


@given(several, st.sampled_from(sorted(POLICIES)))
def test_a_policy_that_wants_all_is_met_only_without_any_error(
    given_cases: list[Counted], name: str
) -> None:
    try:
        gate = judge(name, given_cases)
    except InputError:
        return
    if gate.is_met:
        assert any(one.outcome is PASSED for one in given_cases)
        if not POLICIES[name].is_any:
            assert all(one.outcome is not ERROR for one in given_cases)
