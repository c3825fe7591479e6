"""Drift: the same questions on several releases, and the release in which a finding changed."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from packaging.version import InvalidVersion, Version

from assay.errors import AssayError, InputError
from assay.model import CaseRecord
from assay.questions.model import Question
from assay.questions.proof_runners import ProofRunners
from assay.questions.provers import load_provers
from assay.questions.selection import Selection, select
from assay.questions.verification import Work, verify_one
from assay.reports import Paint, count, one_line
from assay.runs import run_in_loop
from assay.sandbox import Target, environment, list_releases

_PINNED = re.compile(r"\s*([A-Za-z0-9][\w.-]*)(\[[^\]]*\])?\s*==\s*([^\s;]+)\s*(;.*)?")


@dataclass(frozen=True)
class Standing:
    """The result of a question on one release: its verdict and its findings per option."""

    verdict: str
    states: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, record: CaseRecord) -> Standing:
        detail = record.detail
        if not isinstance(detail, dict):
            return cls("Error")
        states = {name: option["state"] for name, option in detail.get("options", {}).items()}
        states |= {name: found["truth"] for name, found in detail.get("names", {}).items()}
        return cls(str(detail["verdict"]), tuple(states.items()))


@dataclass(frozen=True)
class Flip:
    """A question whose result changed: the last release before and the first one after."""

    question: str
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
            f"{name}: {state} → {became.get(name, 'gone')}"
            for name, state in self.was.states
            if became.get(name) != state
        ]
        return lines


@dataclass
class Drift:
    """The matrix of questions and releases, and where it changes."""

    versions: tuple[str, ...]
    package: str = ""
    standings: dict[str, dict[str, Standing]] = field(default_factory=dict)
    flips: list[Flip] = field(default_factory=list)
    unbuildable: dict[str, str] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """Return 1 if any verdict differs between the versions, else 0."""
        return int(self.verdict_changed)

    def report(self, format: Literal["text", "json"] = "text") -> str:  # noqa: A002 - as `Run`
        """Return the matrix and the release of every change."""
        from assay.questions.target_drift import drift_lines, drift_values
        from assay.reports import Paint

        if format == "json":
            return json.dumps(drift_values(self, self.package), indent=2) + "\n"
        return "\n".join(drift_lines(self, self.package, Paint(False))) + "\n"

    @property
    def verdict_changed(self) -> bool:
        """Whether any question has a different verdict on one of the requested releases."""
        return any(
            len({standing.verdict for standing in row.values()}) > 1
            for row in self.standings.values()
        )


# Returns the results of some questions on one release.
Examine = Callable[[str, Sequence[str]], Awaitable[Mapping[str, Standing]]]


async def find_drift(
    questions: Sequence[str],
    versions: Sequence[str],
    examine: Examine,
    releases: Callable[[], Sequence[str]],
) -> Drift:
    """Return the matrix over the versions, and for every change the first release that has it."""
    drift = Drift(tuple(sorted(versions, key=Version)))
    seen: dict[str, Mapping[str, Standing]] = {}
    for version in drift.versions:
        seen[version] = await examine(version, questions)
    drift.standings = {
        question: {version: seen[version][question] for version in drift.versions}
        for question in questions
    }
    search = _Search(examine, releases, drift)
    for question, row in drift.standings.items():
        for before, after in zip(drift.versions, drift.versions[1:], strict=False):
            if row[before] != row[after]:
                drift.flips.append(await search.first_change(question, before, after, row))
    return drift


@dataclass
class _Search:
    """Bisects the releases between two versions; results are shared between questions."""

    examine: Examine
    releases: Callable[[], Sequence[str]]
    drift: Drift
    known: dict[tuple[str, str], Standing | None] = field(default_factory=dict)
    listed: list[str] | None = None

    async def first_change(
        self, question: str, before: str, after: str, row: Mapping[str, Standing]
    ) -> Flip:
        was, became = row[before], row[after]
        between = self._between(before, after)
        while between:
            middle = between[len(between) // 2]
            standing = await self._standing(question, middle)
            if standing is None:
                # A release that cannot be installed gives no result; its neighbours may.
                between.remove(middle)
            elif standing == was:
                before, between = middle, between[between.index(middle) + 1 :]
            else:
                after, became = middle, standing
                between = between[: between.index(middle)]
        return Flip(question, before, after, was, became)

    def _between(self, before: str, after: str) -> list[str]:
        if self.listed is None:
            self.listed = list(self.releases())
        return [one for one in self.listed if Version(before) < Version(one) < Version(after)]

    async def _standing(self, question: str, version: str) -> Standing | None:
        if (question, version) not in self.known:
            try:
                found = await self.examine(version, [question])
                self.known[question, version] = found[question]
            except AssayError as error:
                self.drift.unbuildable[version] = str(error).partition("\n")[0]
                self.known[question, version] = None
        return self.known[question, version]


def check_proofs(work: Sequence[Work]) -> int:
    """Return how many questions have proofs to replay; raise InputError if none has."""
    ready = 0
    for one in work:
        question = one.entry.question
        ready += not isinstance(question, Question) or bool(one.store.load(question))
    if not ready:
        raise InputError(
            "there are no proofs to replay",
            advice="make them with `assay questions verify SUITE` and commit the folder `proofs`",
        )
    return ready


def package_of(work: Sequence[Work], given: str | None = None) -> str:
    """Return the package whose releases are meant: the one the suites pin."""
    if given is not None:
        return given
    names = {
        found[1]
        for one in work
        for line in one.target.requirements[:1]
        if (found := _PINNED.fullmatch(line))
    }
    if len(names) != 1:
        raise InputError(
            "the suites do not name the package of the versions",
            advice="name it with --package, for example --package google-adk",
        )
    return names.pop()


def check_versions(versions: Sequence[str]) -> list[str]:
    """At least two different versions, each one readable."""
    for one in versions:
        try:
            Version(one)
        except InvalidVersion:
            raise InputError(f"{one!r} is not a version", advice="write it as 1.20.0") from None
    if len(set(map(Version, versions))) < 2:
        raise InputError("there is nothing to compare", advice="give at least two versions")
    return list(dict.fromkeys(versions))


def at_version(target: Target, package: str, version: str) -> Target:
    """Return the target with another version of one package."""
    wanted = _normal(package)
    lines = []
    for line in target.requirements:
        found = _PINNED.fullmatch(line)
        if found and _normal(found[1]) == wanted:
            line = f"{found[1]}{found[2] or ''}=={version}"
        lines.append(line)
    if not any(_normal(re.split(r"[\[=<>!~; ]", line)[0]) == wanted for line in lines):
        lines.insert(0, f"{package}=={version}")
    return replace(target, requirements=tuple(lines), current=False)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def examiner(
    work: Sequence[Work],
    package: str,
    *,
    jobs: int,
    isolation: str,
    say: Callable[[str], None],
) -> Examine:
    """Examines by replaying the stored proofs in the environment of a release; nothing is kept.

    What a proof leaves open on another release, because what surrounds it is gone, is proven anew.
    """
    by_id = {one.identifier: one for one in work}

    async def examine(version: str, questions: Sequence[str]) -> Mapping[str, Standing]:
        chosen = [by_id[question] for question in questions]
        moved = [replace(one, target=at_version(one.target, package, version)) for one in chosen]
        targets = dict.fromkeys(one.target for one in moved)
        say(f"{package} {version}: {len(moved)} to replay")
        environments = {target: await asyncio.to_thread(environment, target) for target in targets}
        runners = ProofRunners(environments, provers=load_provers(), jobs=jobs, isolation=isolation)
        async with runners:
            records = await asyncio.gather(
                *(verify_one(one, runners, writes=False) for one in moved)
            )
        return {
            one.identifier: Standing.of(record) for one, record in zip(moved, records, strict=True)
        }

    return examine


def compare_versions(
    selection: Selection,
    versions: Sequence[str],
    package: str | None = None,
    *,
    jobs: int,
    isolation: str = "auto",
    say: Callable[[str], None] = lambda text: None,
) -> Drift:
    """Replay the stored proofs of questions on several versions of a package."""
    wanted = check_versions(versions)
    work = select(selection)
    name = package_of(work, package)
    if without := len(work) - check_proofs(work):
        say(f"{without} of {len(work)} questions have no stored proof")
    examine = examiner(work, name, jobs=jobs, isolation=isolation, say=say)
    identifiers = [one.identifier for one in work]
    drift = run_in_loop(find_drift(identifiers, wanted, examine, lambda: list_releases(name)))
    return replace(drift, package=name)


VERSION = 1
_STYLES = {"Valid": "passed", "Unproven": "unverified"}


def drift_lines(drift: Drift, package: str, paint: Paint) -> Iterator[str]:
    """Yield the matrix with a column per version, then what changed and when."""
    names = {question: one_line(question) for question in drift.standings}
    width = max([len(name) for name in names.values()], default=0)
    columns = [max(len(version), len("Incorrect")) for version in drift.versions]
    head = "  ".join(
        version.ljust(size) for version, size in zip(drift.versions, columns, strict=True)
    )
    yield f"{package.ljust(width)}  {head}".rstrip()
    for question, row in drift.standings.items():
        cells = [
            paint(row[version].verdict.ljust(size), _STYLES.get(row[version].verdict, "failed"))
            for version, size in zip(drift.versions, columns, strict=True)
        ]
        yield f"{names[question].ljust(width)}  {'  '.join(cells)}"
    for flip in drift.flips:
        yield ""
        yield f"{paint(names[flip.question], 'bold')} changed in {package} {flip.after}"
        yield paint(f"  (the last release before: {flip.before})", "dim")
        yield from (f"  {one_line(line)}" for line in flip.list_changes())
    for version, why in drift.unbuildable.items():
        yield paint(f"{package} {version} could not be installed: {one_line(why)}", "dim")
    yield ""
    yield _verdict(drift)


def _verdict(drift: Drift) -> str:
    if not drift.flips:
        return "Nothing changed."
    what = count(len(drift.flips), "change")
    told = "verdicts differ" if drift.verdict_changed else "no verdict differs"
    return f"{what}; {told} between the versions."


def drift_values(drift: Drift, package: str) -> dict[str, Any]:
    """Return the same as JSON."""
    return {
        "version": VERSION,
        "package": package,
        "versions": list(drift.versions),
        "verdict_changed": drift.verdict_changed,
        "questions": {
            question: {
                version: {"verdict": standing.verdict, "options": dict(standing.states)}
                for version, standing in row.items()
            }
            for question, row in drift.standings.items()
        },
        "changes": [
            {
                "question": flip.question,
                "before": flip.before,
                "after": flip.after,
                "changed": flip.list_changes(),
            }
            for flip in drift.flips
        ],
        "could_not_be_installed": drift.unbuildable,
    }
