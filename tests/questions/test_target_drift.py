"""Drift finds the release in which a finding changed, with as few environments as halving needs."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.model import CaseRecord, Outcome
from assay.questions.target_drift import (
    Flip,
    Mode,
    Releases,
    Standing,
    Trace,
    at_release,
    check_versions,
    choose_releases,
    find_trouble,
    is_gone,
    needs_reading,
    pinned_release,
    trace,
)
from assay.sandbox import Target

RELEASES = [f"1.{number}.0" for number in range(40)]
OLD = Standing("Valid", (("A", "HOLDS"), ("B", "FAILS")))
NEW = Standing("Incorrect", (("A", "FAILS"), ("B", "HOLDS")))
LATER = Standing("Gone", (("A", "GONE"), ("B", "GONE")))


class World:
    """Releases of which a question changes in some; some cannot be installed."""

    def __init__(self, changes: Mapping[str, Standing], broken: Sequence[str] = ()) -> None:
        self.changes = changes
        self.broken = broken
        self.looked: list[str] = []

    def standing(self, version: str) -> Standing:
        before = [one for one in RELEASES[: RELEASES.index(version) + 1] if one in self.changes]
        return self.changes[before[-1]] if before else OLD

    def trace(self, versions: Sequence[str], mode: Mode = Mode.BETWEEN) -> Trace:
        found = Trace()

        async def look(version: str) -> Standing | None:
            assert version not in self.looked
            self.looked.append(version)
            if version in self.broken:
                found.missing[version] = "could not be installed"
                return None
            return self.standing(version)

        asyncio.run(
            trace(Releases("shop", check_versions(versions), mode), look, self.list_all, found)
        )
        return found

    def list_all(self) -> list[str]:
        return RELEASES


def flips(found: Trace) -> list[tuple[str, str]]:
    return [(one.before, one.after) for one in found.flips]


def before(version: str) -> str:
    return RELEASES[RELEASES.index(version) - 1]


@given(st.integers(1, 39))
def test_the_release_of_a_change_is_named(place: int) -> None:
    world = World({RELEASES[place]: NEW})
    found = world.trace([RELEASES[0], RELEASES[20], RELEASES[39]])
    assert flips(found) == [(RELEASES[place - 1], RELEASES[place])]
    # Three that were asked for, and at most as many as halving twenty takes.
    assert len(world.looked) <= 3 + 5


@given(st.integers(2, 40), st.data())
def test_one_change_in_a_range_takes_no_more_than_halving_and_both_ends(
    size: int, data: st.DataObject
) -> None:
    place = data.draw(st.integers(1, size - 1))
    world = World({RELEASES[place]: NEW})
    found = world.trace(RELEASES[:size], Mode.RANGE)
    assert flips(found) == [(RELEASES[place - 1], RELEASES[place])]
    assert len(world.looked) <= math.ceil(math.log2(size)) + 2
    assert len(found.seen) + found.assumed == size


@given(st.sets(st.integers(1, 39), min_size=2, max_size=2))
def test_a_second_change_behind_the_first_is_found_too(places: set[int]) -> None:
    first, second = sorted(places)
    found = World({RELEASES[first]: NEW, RELEASES[second]: LATER}).trace(RELEASES, Mode.RANGE)
    assert flips(found) == [
        (RELEASES[first - 1], RELEASES[first]),
        (RELEASES[second - 1], RELEASES[second]),
    ]


def test_equal_ends_are_taken_for_all_that_is_between() -> None:
    world = World({})
    found = world.trace(RELEASES, Mode.RANGE)
    assert (flips(found), world.looked, found.assumed) == ([], ["1.0.0", "1.39.0"], 38)


def test_without_a_change_nothing_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World({})
    monkeypatch.setattr(world, "list_all", lambda: pytest.fail("not needed"))
    assert not world.trace(["1.3.0", "1.9.0"]).flips


def test_nothing_but_what_was_named_is_looked_at_without_a_search() -> None:
    world = World({"1.5.0": NEW})
    found = world.trace(["1.3.0", "1.9.0"], Mode.EACH)
    assert (flips(found), world.looked) == ([("1.3.0", "1.9.0")], ["1.3.0", "1.9.0"])


def test_a_release_that_cannot_be_installed_is_passed_over_and_told() -> None:
    broken = ["1.20.0", "1.21.0", "1.19.0"]
    found = World({"1.20.0": NEW}, broken).trace(["1.0.0", "1.39.0"])
    assert flips(found) == [("1.18.0", "1.22.0")]
    assert set(found.missing) == set(broken)


def test_the_ends_of_a_range_are_the_outermost_that_can_be_installed() -> None:
    world = World({"1.20.0": NEW}, ["1.0.0", "1.1.0", "1.39.0"])
    found = world.trace(RELEASES, Mode.RANGE)
    assert (found.versions[0], found.versions[-1]) == ("1.2.0", "1.38.0")
    assert flips(found) == [("1.19.0", "1.20.0")]


def test_versions_are_sorted_as_versions() -> None:
    assert check_versions(["1.10.0", "1.9.0", "1.2.0"]) == ("1.2.0", "1.9.0", "1.10.0")


def test_a_finding_can_change_without_the_verdict() -> None:
    other = Standing("Valid", (("A", "HOLDS"), ("B", "UNPROVEN")))
    assert other != OLD
    assert Flip("1", "2", OLD, other).list_changes() == ["B: FAILS → UNPROVEN"]


def test_another_reason_is_no_change() -> None:
    assert Standing(OLD.verdict, OLD.states, "for another reason") == OLD


def test_only_the_release_of_one_package_is_changed() -> None:
    target = Target(("google-adk[extra]==1.20.0", "pytest-mock", "google_adk_more==1.0"))
    assert at_release(target, "Google_ADK", "2.0").requirements == (
        "google-adk[extra]==2.0",
        "pytest-mock",
        "google_adk_more==1.0",
    )
    assert at_release(Target(("shop>=1,<3",)), "shop", "2").requirements == ("shop==2",)
    assert at_release(Target(("other",)), "shop", "3").requirements == ("shop==3", "other")
    assert at_release(Target(current=True), "shop", "3") == Target(("shop==3",))


@pytest.mark.parametrize(
    ("requirement", "pinned"),
    [("shop==1.2", "1.2"), ("shop>=1.2", None), ("shop==1.*", None), ("other==1", None)],
)
def test_the_release_that_a_suite_pins_is_known(requirement: str, pinned: str | None) -> None:
    assert pinned_release(Target((requirement,)), "shop") == pinned


@pytest.mark.parametrize("versions", [["1.0"], ["1.0", "1.0.0"], [], ["1.0", "latest"]])
def test_versions_that_cannot_be_compared_are_refused(versions: list[str]) -> None:
    with pytest.raises(InputError):
        check_versions(versions)


@pytest.mark.parametrize(
    ("asked", "requirement", "meant"),
    [
        ("all", "shop==1.5.0", RELEASES),
        ("all", "shop", RELEASES),
        ("all", "shop>=1.3,<1.6", ["1.3.0", "1.4.0", "1.5.0"]),
        (">=1.3,<1.6", "shop==1.5.0", ["1.3.0", "1.4.0", "1.5.0"]),
        (">=1.30,!=1.31.*,<1.33", "shop>=1.3,<1.6", ["1.30.0", "1.32.0"]),
        ("==1.3.*,>1", "shop", None),
        (">=1.3,<<1.6", "shop", None),
        ("all,1.2.0", "shop", None),
    ],
)
def test_a_range_means_the_releases_in_it(
    asked: str, requirement: str, meant: list[str] | None
) -> None:
    def choose() -> Releases:
        return choose_releases(asked, [Target((requirement,))], lambda name: RELEASES)

    if meant is None:
        with pytest.raises(InputError):
            choose()
    else:
        assert choose() == Releases("shop", tuple(meant), Mode.RANGE)


def test_a_list_of_versions_needs_no_list_of_releases() -> None:
    chosen = choose_releases(
        "1.3, 1.2", [Target(("shop==1.0",))], lambda name: pytest.fail("not needed"), search=False
    )
    assert chosen == Releases("shop", ("1.2", "1.3"), Mode.EACH)


def test_suites_on_two_packages_need_the_name_of_one() -> None:
    targets = [Target(("shop==1",)), Target(("other==1",))]
    with pytest.raises(InputError, match="of which package"):
        choose_releases("1,2", targets, lambda name: RELEASES)
    assert choose_releases("1,2", targets, lambda name: RELEASES, package="Other").package == (
        "other"
    )


def test_a_name_that_no_package_has_is_refused() -> None:
    with pytest.raises(InputError, match="not the name of a package"):
        choose_releases("1,2", [], lambda name: RELEASES, package="--index-url")


def test_what_a_run_keeps_of_the_releases_is_read_again_and_checked() -> None:
    releases = Releases("shop", ("1.0", "2.0"), Mode.RANGE)
    assert Releases.from_run(releases.values()) == releases
    for wrong in (
        {},
        {"releases": 3},
        {"mode": "some"},
        {"releases": ["../.."]},
        {"package": "-e ."},
    ):
        with pytest.raises(InputError):
            Releases.from_run({**releases.values(), **wrong} if wrong else {})


def proof(**test: str | None) -> dict[str, object]:
    side = {"name": "test_option_A_holds", "status": "failed", "objection": None}
    return {"truth": "open", "tests": [side, {**side, **test}]}


@pytest.mark.parametrize(
    ("test", "gone"),
    [
        ({"name": "test_option_A_control"}, True),
        ({"status": "passed", "name": "test_option_A_control"}, False),
        ({"objection": "it could not be collected: ImportError: cannot import name 'Cart'"}, True),
        ({"objection": "it raised AttributeError: no attribute 'add'"}, True),
        ({"objection": "it could not be collected: No module named 'shop.cart'"}, False),
        ({"objection": "ModuleNotFoundError: No module named 'shop.cart'"}, True),
        # An extra that is not installed says nothing about the target.
        ({"objection": "ModuleNotFoundError: No module named 'litellm'"}, False),
        ({"objection": "OSError: disk full", "name": "test_option_A_control"}, False),
        ({"status": "timed out", "name": "test_option_A_control"}, False),
    ],
)
def test_what_a_proof_takes_for_granted_can_be_gone(test: dict[str, str], gone: bool) -> None:
    assert is_gone(proof(**test), ("shop",)) is gone
    assert not is_gone({**proof(**test), "truth": "false"}, ("shop",))


@pytest.mark.parametrize(
    ("state", "test", "reads"),
    [
        # Its control looks for what only other releases have, or it has none.
        ("UNPROVEN", {"name": "test_option_A_control"}, True),
        ("UNPROVEN", {}, True),
        # The class may be elsewhere, where the question says it is.
        ("UNPROVEN", {"objection": "ImportError: cannot import name 'Cart'"}, True),
        ("FAILS", {"name": "test_option_A_control"}, False),
    ],
)
def test_a_proof_that_says_nothing_on_a_release_is_written_anew(
    state: str, test: dict[str, str], reads: bool
) -> None:
    options = {"A": {"state": state, "proofs": [proof(**test)]}}
    record = CaseRecord(
        id="one", subject="questions", outcome=Outcome.UNVERIFIED, detail={"options": options}
    )
    assert needs_reading(record) is reads
    options["A"]["proofs"] = []
    assert not needs_reading(record.model_copy(update={"detail": {"options": options}}))


@pytest.mark.parametrize(
    ("detail", "trouble"),
    [
        ({"reason": "the key fails"}, None),
        ({"reason": "unstable: a new interpreter found a name after all"}, "unstable"),
        ({"options": {"A": {"state": "UNPROVEN", "reason": "unstable: other seed"}}}, "unstable"),
        ({"options": {"A": {"state": "UNPROVEN", "status": "timed out"}}}, "time limit"),
        # Another proof decides the option all the same.
        ({"options": {"A": {"state": "FAILS", "status": "timed out"}}}, None),
        ({"options": {"A": {"state": "UNPROVEN", "status": "failed"}}}, None),
    ],
)
def test_trouble_with_the_machine_is_no_finding(
    detail: dict[str, Any], trouble: str | None
) -> None:
    options = {
        name: {"reason": "", **one, "proofs": [proof(status=one.get("status", "failed"))]}
        for name, one in detail.get("options", {}).items()
    }
    record = CaseRecord(
        id="one",
        subject="questions",
        outcome=Outcome.UNVERIFIED,
        detail={"reason": "", **detail, "options": options},
    )
    found = find_trouble(record)
    assert found is None if trouble is None else trouble in str(found)
