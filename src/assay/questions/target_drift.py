"""Drift: how questions stand on several releases, and in which release a finding changed. Pure."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any, Self

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version

from assay.errors import InputError
from assay.model import CaseRecord
from assay.questions.verdict.option_findings import State
from assay.questions.verdict.verdict import Verdict
from assay.sandbox import Status, Target

GONE = "Gone"
_UNSTABLE = "unstable: "
_OPERATOR = re.compile(r"\s*[<>=!~]")
_ABSENT = re.compile(r"\b(?:ImportError|ModuleNotFoundError|AttributeError)\b")
_NO_MODULE = re.compile(r"No module named '([^']+)'")


# --- Releases ------------------------------------------------------------------------------------


class Mode(StrEnum):
    """Which of the releases are looked at."""

    EACH = "each"  # those that were named and no other
    BETWEEN = "between"  # those that were named, and between two that differ as many as needed
    RANGE = "range"  # both ends of a range, and between them as many as needed


@dataclass(frozen=True)
class Releases:
    """The releases of a package that were asked for, oldest first."""

    package: str
    versions: tuple[str, ...]
    mode: Mode

    @property
    def described(self) -> str:
        """The releases in a few words."""
        if self.mode is not Mode.RANGE:
            return f"{self.package} {', '.join(self.versions)}"
        count = f"{len(self.versions)} releases"
        return f"{self.package} {self.versions[0]} to {self.versions[-1]} ({count})"

    @property
    def required(self) -> tuple[str, ...]:
        """The releases that must be looked at, each of them; in a range any two ends serve."""
        return () if self.mode is Mode.RANGE else self.versions

    def values(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"package": self.package, "releases": list(self.versions), "mode": self.mode.value}

    @classmethod
    def from_run(cls, values: Mapping[str, Any]) -> Self:
        """Read what a run folder says; anybody may have written it."""
        try:
            mode = Mode(values["mode"])
            package = canonicalize_name(str(values["package"]), validate=True)
            return cls(package, check_versions([str(one) for one in values["releases"]]), mode)
        except (KeyError, TypeError, ValueError):
            raise InputError(
                "run.json does not say which releases were asked for", advice="start a new run"
            ) from None


def choose_releases(
    asked: str | Iterable[str],
    targets: Iterable[Target],
    list_releases: Callable[[str], Sequence[str]],
    *,
    package: str | None = None,
    search: bool = True,
) -> Releases:
    """Return the releases that a list of versions, a range such as `>=1.16,<2`, or `all` means.

    Without a range `all` is that of the suites' own requirement. Only a range is looked up.
    """
    required = _find_requirement(targets, package)
    name = canonicalize_name(required.name)
    words = [one.strip() for one in (asked.split(",") if isinstance(asked, str) else asked)]
    words = [one for one in words if one]
    if words == ["all"]:
        # The suite's own release does not say where to stop.
        allowed = SpecifierSet() if _find_pin(required) else required.specifier
    elif words and all(map(_OPERATOR.match, words)):
        try:
            allowed = SpecifierSet(",".join(words))
        except InvalidSpecifier:
            raise InputError(
                f"{','.join(words)!r} is not a range of releases", advice="write it as >=1.16,<2"
            ) from None
    else:
        mode = Mode.BETWEEN if search else Mode.EACH
        return Releases(name, check_versions(words), mode)
    found = [one for one in list_releases(name) if allowed.contains(one)]
    if len(found) < 2:
        raise InputError(
            f"{len(found)} of the releases of {name} are in the range {allowed}",
            advice="give a range with at least two",
        )
    return Releases(name, check_versions(found), Mode.RANGE)


def check_versions(versions: Sequence[str]) -> tuple[str, ...]:
    """Return the versions in order; raise an InputError unless at least two differ."""
    for one in versions:
        try:
            Version(one)
        except InvalidVersion:
            raise InputError(
                f"{one!r} is not a version", advice="write it as 1.20.0, or give a range or `all`"
            ) from None
    distinct = {Version(one): one for one in reversed(versions)}
    if len(distinct) < 2:
        raise InputError("there is nothing to compare", advice="give at least two versions")
    return tuple(distinct[one] for one in sorted(distinct))


def _find_requirement(targets: Iterable[Target], package: str | None) -> Requirement:
    """Return the requirement whose releases are meant: the first one that the suites name."""
    firsts = [_read_requirement(line) for one in targets for line in one.requirements[:1]]
    found = {canonicalize_name(one.name): one for one in firsts if one is not None}
    if package is not None:
        try:
            wanted = canonicalize_name(package, validate=True)
        except InvalidName:
            raise InputError(f"{package!r} is not the name of a package") from None
        return found.get(wanted) or Requirement(wanted)
    if len(found) != 1:
        raise InputError(
            "the suites do not say of which package the versions are",
            advice="name it with --package, for example --package google-adk",
        )
    return next(iter(found.values()))


def _read_requirement(line: str) -> Requirement | None:
    try:
        return Requirement(line)
    except InvalidRequirement:
        return None


def at_release(target: Target, package: str, version: str) -> Target:
    """Return the target with one release of a package."""
    wanted, is_named = canonicalize_name(package), False
    lines = []
    for line in target.requirements:
        found = _read_requirement(line)
        if found is not None and canonicalize_name(found.name) == wanted:
            extras = f"[{','.join(sorted(found.extras))}]" if found.extras else ""
            marker = f"; {found.marker}" if found.marker else ""
            line = f"{found.name}{extras}=={version}{marker}"
            is_named = True
        lines.append(line)
    if not is_named:
        lines.insert(0, f"{package}=={version}")
    return replace(target, requirements=tuple(lines), current=False, about=())


def pinned_release(target: Target, package: str) -> str | None:
    """Return the release of a package that a target pins."""
    for line in target.requirements:
        found = _read_requirement(line)
        if found is not None and canonicalize_name(found.name) == canonicalize_name(package):
            return _find_pin(found)
    return None


def _find_pin(required: Requirement) -> str | None:
    pins = [one.version for one in required.specifier if one.operator in ("==", "===")]
    return pins[0] if pins and not pins[0].endswith("*") else None


# --- Standings -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Standing:
    """How a question stands on one release: its verdict and, per option, what was found.

    An option is GONE if its proof cannot be run there because what it takes for granted is
    missing: a class it imports, a member that its control looks up.
    """

    verdict: str
    states: tuple[tuple[str, str], ...] = ()
    reason: str = field(default="", compare=False)

    @property
    def is_decided(self) -> bool:
        """Whether anything is known about the question on this release."""
        known = (State.HOLDS, State.FAILS, "true", "false")
        return self.verdict != Verdict.UNPROVEN or any(state in known for _, state in self.states)

    def describe(self) -> str:
        states = ", ".join(f"{name} {state}" for name, state in self.states)
        return f"{self.verdict} ({states})" if states else self.verdict

    def values(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"verdict": self.verdict, "options": dict(self.states), "reason": self.reason}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        return cls(values["verdict"], tuple(values["options"].items()), values["reason"])

    @classmethod
    def of(cls, record: CaseRecord, modules: Sequence[str] = ()) -> Self:
        """Return the standing that a record of verification says; `modules` are the target's."""
        detail: Any = record.detail
        states = {name: found["truth"] for name, found in detail.get("names", {}).items()}
        for name, option in detail.get("options", {}).items():
            gone = option["state"] == State.UNPROVEN and any(
                is_gone(proof, modules) for proof in option["proofs"]
            )
            states[name] = GONE.upper() if gone else option["state"]
        verdict = str(detail["verdict"])
        # A question about what this release does not have is not wrong, its subject is gone.
        is_gone_here = verdict == Verdict.UNPROVEN and GONE.upper() in states.values()
        if is_gone_here or record.code == "premise-missing":
            verdict = GONE
        return cls(verdict, tuple(states.items()), str(detail["reason"]))


def is_gone(proof: Mapping[str, Any], modules: Sequence[str] = ()) -> bool:
    """Tell whether a proof that stayed open needs something that this release does not have."""
    if proof["truth"] != "open":
        return False
    for test in proof["tests"]:
        objection = test["objection"] or ""
        if test["status"] == "passed":
            continue
        if _ABSENT.search(objection):
            return not _is_foreign(objection, modules)
        if test["name"].endswith("_control") and test["status"] == "failed" and not objection:
            return True
    return False


def needs_reading(record: CaseRecord) -> bool:
    """Tell whether a proof of an option says nothing on this release, so that another may.

    It may import a class from where only other releases have it, its control may look for such a
    member, or a claim that held elsewhere has no control that would show it false here.
    """
    detail: Any = record.detail
    return any(
        option["state"] == State.UNPROVEN
        and any(one["truth"] == "open" for one in option["proofs"])
        for option in detail.get("options", {}).values()
    )


def find_trouble(record: CaseRecord) -> str | None:
    """Return why a record says more about the machine than about the release, if it does."""
    detail: Any = record.detail
    if str(detail["reason"]).startswith(_UNSTABLE):
        return str(detail["reason"])
    for option in detail.get("options", {}).values():
        if option["state"] != State.UNPROVEN:
            continue
        if option["reason"].startswith(_UNSTABLE):
            return str(option["reason"])
        for test in (test for proof in option["proofs"] for test in proof["tests"]):
            if test["status"] == Status.TIMED_OUT:
                return f"{test['name']} ran into its time limit"
    return None


def _is_foreign(message: str, modules: Sequence[str]) -> bool:
    """Tell whether a module is missing that is not the target's, such as that of an extra."""
    found = _NO_MODULE.search(message)
    if found is None or not modules:
        return False
    name = f"{found[1]}."
    return not any(name.startswith(f"{one}.") or f"{one}.".startswith(name) for one in modules)


@dataclass(frozen=True)
class Flip:
    """A change: the last release before it, the first one after it, and both standings."""

    before: str
    after: str
    was: Standing
    became: Standing

    def list_changes(self) -> list[str]:
        """Return what changed, one line each."""
        lines = []
        if self.was.verdict != self.became.verdict:
            lines.append(f"{self.was.verdict} → {self.became.verdict}")
        became = dict(self.became.states)
        lines += [
            f"{name}: {state} → {became.get(name, 'not asked')}"
            for name, state in self.was.states
            if became.get(name) != state
        ]
        return lines


# --- The search ----------------------------------------------------------------------------------

# Return how a question stands on a release; None if the release says nothing.
Look = Callable[[str], Awaitable[Standing | None]]


@dataclass
class Trace:
    """One question on the releases that were looked at."""

    seen: dict[str, Standing] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    """The releases that say nothing: why each could not be installed or gave no stable result."""
    assumed: int = 0
    """How many releases were not looked at, because those around them agree."""

    @property
    def versions(self) -> list[str]:
        return sorted(self.seen, key=Version)

    @property
    def flips(self) -> list[Flip]:
        return [
            Flip(before, after, self.seen[before], self.seen[after])
            for before, after in pairwise(self.versions)
            if self.seen[before] != self.seen[after]
        ]


async def trace(
    releases: Releases, look: Look, list_between: Callable[[], Sequence[str]], into: Trace
) -> None:
    """Look at the releases that were asked for, and halve what is between two that differ.

    A release that says nothing is passed over; at an end of a range the next one serves.
    """

    async def see(version: str) -> bool:
        standing = await look(version)
        if standing is not None:
            into.seen[version] = standing
        return standing is not None

    if releases.mode is Mode.RANGE:
        for order in (releases.versions, releases.versions[::-1]):
            for version in order:
                if version in into.seen or await see(version):
                    break
    else:
        for version in releases.versions:
            await see(version)
    if releases.mode is Mode.EACH:
        return
    between: Sequence[str] | None = releases.versions if releases.mode is Mode.RANGE else None
    for before, after in pairwise(into.versions):
        if between is None and into.seen[before] != into.seen[after]:
            between = list_between()
        if between is not None:
            await _halve(between, before, after, see, into)


async def _halve(
    known: Sequence[str],
    before: str,
    after: str,
    see: Callable[[str], Awaitable[bool]],
    into: Trace,
) -> None:
    """Look at the middle of two releases that differ, and again on both sides of it."""
    low, high = Version(before), Version(after)
    between = [one for one in known if low < Version(one) < high and one not in into.missing]
    if into.seen[before] == into.seen[after]:
        into.assumed += len(between)
        return
    while between:
        middle = between.pop(len(between) // 2)
        if await see(middle):
            await _halve(known, before, middle, see, into)
            await _halve(known, middle, after, see, into)
            return
