"""Drift finds the release in which a finding changed, with as few environments as halving needs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InfrastructureError, InputError
from assay.questions.target_drift import (
    Drift,
    Standing,
    at_version,
    check_versions,
    drift_lines,
    drift_values,
    find_drift,
)
from assay.reports import Paint
from assay.sandbox import Target

RELEASES = [f"1.{number}.0" for number in range(40)]
OLD = Standing("Valid", (("A", "HOLDS"), ("B", "FAILS")))
NEW = Standing("Incorrect", (("A", "FAILS"), ("B", "HOLDS")))


class World:
    """Releases of which each question changes in one; some cannot be installed."""

    def __init__(self, flips: Mapping[str, str], broken: Sequence[str] = ()) -> None:
        self.flips = flips
        self.broken = broken
        self.examined: list[str] = []

    async def examine(self, version: str, questions: Sequence[str]) -> dict[str, Standing]:
        if version in self.broken:
            raise InfrastructureError(f"{version} has no wheel")
        self.examined.append(version)
        place = RELEASES.index(version)
        return {
            question: NEW if place >= RELEASES.index(self.flips[question]) else OLD
            for question in questions
        }

    def drift(self, versions: Sequence[str]) -> Drift:
        return asyncio.run(find_drift(list(self.flips), versions, self.examine, lambda: RELEASES))


@given(st.integers(1, 39), st.integers(1, 39))
def test_the_release_of_every_change_is_named(first: int, second: int) -> None:
    world = World({"one": RELEASES[first], "two": RELEASES[second]})
    drift = world.drift([RELEASES[0], RELEASES[20], RELEASES[39]])
    assert {flip.question: flip.after for flip in drift.flips} == dict(world.flips)
    for flip in drift.flips:
        assert RELEASES.index(flip.after) == RELEASES.index(flip.before) + 1
    assert drift.verdict_changed
    # Three that were asked for, and at most as many as halving twenty takes for each question.
    assert len(world.examined) <= 3 + 2 * 5


def test_without_a_change_nothing_is_searched() -> None:
    world = World({"one": RELEASES[0]})
    drift = asyncio.run(
        find_drift(["one"], ["1.3.0", "1.9.0"], world.examine, lambda: pytest.fail("not needed"))
    )
    assert drift.flips == []
    assert not drift.verdict_changed


def test_a_release_that_cannot_be_installed_is_passed_over_and_told() -> None:
    broken = ["1.20.0", "1.21.0", "1.19.0"]
    drift = World({"one": "1.20.0"}, broken).drift(["1.0.0", "1.39.0"])
    (flip,) = drift.flips
    assert (flip.before, flip.after) == ("1.18.0", "1.22.0")
    assert set(drift.unbuildable) <= set(broken)
    assert drift.unbuildable


def test_a_version_that_was_asked_for_and_cannot_be_installed_is_an_error() -> None:
    with pytest.raises(InfrastructureError):
        World({"one": "1.20.0"}, ["1.39.0"]).drift(["1.0.0", "1.39.0"])


def test_versions_are_sorted_as_versions() -> None:
    drift = World({"one": "1.9.0"}).drift(["1.10.0", "1.9.0", "1.2.0"])
    assert drift.versions == ("1.2.0", "1.9.0", "1.10.0")


def test_a_finding_can_change_without_the_verdict() -> None:
    other = Standing("Valid", (("A", "HOLDS"), ("B", "UNPROVEN")))

    async def examine(version: str, questions: Sequence[str]) -> dict[str, Standing]:
        return {"one": OLD if version == "1.0.0" else other}

    drift = asyncio.run(find_drift(["one"], ["1.0.0", "1.1.0"], examine, lambda: RELEASES))
    assert [flip.list_changes() for flip in drift.flips] == [["B: FAILS → UNPROVEN"]]
    assert not drift.verdict_changed


def test_the_matrix_and_the_changes_are_told() -> None:
    drift = World({"suite.yaml::one": "1.20.0"}).drift(["1.0.0", "1.39.0"])
    text = "\n".join(drift_lines(drift, "shop", Paint()))
    assert "suite.yaml::one  Valid      Incorrect" in text
    assert "suite.yaml::one changed in shop 1.20.0" in text
    assert "A: HOLDS → FAILS" in text
    values = drift_values(drift, "shop")
    assert values["changes"][0]["after"] == "1.20.0"
    assert values["questions"]["suite.yaml::one"]["1.39.0"]["verdict"] == "Incorrect"


def test_only_the_version_of_one_package_is_changed() -> None:
    target = Target(("google-adk[extra]==1.20.0", "pytest-mock", "google_adk_more==1.0"))
    assert at_version(target, "Google_ADK", "2.0").requirements == (
        "google-adk[extra]==2.0",
        "pytest-mock",
        "google_adk_more==1.0",
    )
    assert at_version(Target(("other",)), "shop", "3").requirements == ("shop==3", "other")
    assert at_version(Target(current=True), "shop", "3") == Target(("shop==3",))


@pytest.mark.parametrize("versions", [["1.0"], ["1.0", "1.0.0"], [], ["1.0", "latest"]])
def test_versions_that_cannot_be_compared_are_refused(versions: list[str]) -> None:
    with pytest.raises(InputError):
        check_versions(versions)
