"""The plan of `drift`: the same proofs on several releases, one environment open at a time."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from assay.errors import AssayError, InputError
from assay.model import CaseRecord, Outcome
from assay.questions.drift_report import SUBJECT, drift_fingerprint, drift_record
from assay.questions.model import Question
from assay.questions.plan import QuestionsRequest
from assay.questions.proof_runners import ProofRunners, TargetRunner
from assay.questions.proofs.store import NewProof, NoProofs, StoredProof
from assay.questions.provers import load_provers
from assay.questions.selection import build_environments, samples, select
from assay.questions.target_drift import (
    Releases,
    Standing,
    Trace,
    at_release,
    choose_releases,
    find_trouble,
    needs_reading,
    pinned_release,
    trace,
)
from assay.questions.verdict.compounds import read_compounds
from assay.questions.verification import Work, error_record, examine_question, verify_one
from assay.runs import Manifest, Parts, Progress, Run, Unit
from assay.sandbox import Target, list_releases

# So many questions wait for a release together; more would open each release more than once.
_TOGETHER = 500
# On so many releases the provers are asked for the proofs of a question.
_ASKED = 2
_PROOFS = "proofs"
_NEW = TypeAdapter(list[NewProof])

Say = Callable[[str], None]


class NoResultError(Exception):
    """A release that says nothing: its environment cannot be built, or a proof is not stable."""


class HeldProofs(NoProofs):
    """A store of the proofs it was given: those of another store, and new ones."""

    def __init__(
        self, suite: Path, stored: Sequence[StoredProof], new: Sequence[NewProof] = ()
    ) -> None:
        super().__init__(suite)
        self._proofs = [
            *stored,
            *(StoredProof(one.proof, is_current=True, expected=one.outcomes()) for one in new),
        ]

    def load(self, question: Question) -> list[StoredProof]:
        return self._proofs


class Replaying(ProofRunners):
    """Runners without their provers: what no proof decides stays open."""

    def __init__(self, runners: ProofRunners) -> None:
        self._runners = runners

    def of(self, target: Target) -> TargetRunner:
        return replace(self._runners.of(target), provers=())


class Lending:
    """Opens the runners of one target at a time, for all questions that wait for it.

    The next one is the target that most wait for, so that each is opened about once and no more
    than one has its processes running.
    """

    def __init__(
        self, open_runners: Callable[[Target], AbstractAsyncContextManager[ProofRunners]]
    ) -> None:
        self._open_runners = open_runners
        self._changed = asyncio.Condition()
        self._waiting: Counter[Target] = Counter()
        self._failed: dict[Target, str] = {}
        self._users = 0
        self._current: Target | None = None
        self._runners: ProofRunners | None = None
        self._opened = AsyncExitStack()

    @asynccontextmanager
    async def lend(self, target: Target) -> AsyncIterator[ProofRunners]:
        """Wait for the turn of a target and lend its runners."""
        async with self._changed:
            self._waiting[target] += 1
            try:
                await self._changed.wait_for(lambda: self._is_turn(target))
                if target in self._failed:
                    raise NoResultError(self._failed[target])
                if self._current != target:
                    await self._switch(target)
            finally:
                self._waiting[target] -= 1
                self._changed.notify_all()
            self._users += 1
        assert self._runners is not None
        try:
            yield self._runners
        finally:
            self._users -= 1
            async with self._changed:
                self._changed.notify_all()

    def _is_turn(self, target: Target) -> bool:
        if target in self._failed or self._current == target:
            return True
        return self._users == 0 and self._waiting[target] == max(self._waiting.values())

    async def _switch(self, target: Target) -> None:
        self._current = None
        await self._opened.aclose()
        try:
            self._runners = await self._opened.enter_async_context(self._open_runners(target))
        except AssayError as error:
            first, _, _ = str(error).partition("\n")
            self._failed[target] = f"could not be installed: {first}"
            raise NoResultError(self._failed[target]) from None
        self._current = target

    async def close(self) -> None:
        """End the runners that are open."""
        await self._opened.aclose()


@dataclass
class DriftWorker:
    """Traces single questions over the releases."""

    releases: Releases
    lending: Lending
    jobs: int
    _slots: asyncio.Semaphore = field(init=False)
    _listed: Sequence[str] | None = None

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.jobs)

    async def run(self, unit: Unit, parts: Parts) -> CaseRecord:
        """Return the record of one question; its releases are parts that a resumed run has."""
        work, stored = unit.payload
        clock = time.perf_counter()
        try:
            if isinstance(stored, InputError):
                raise stored
            record = await self._trace(unit, parts, work, stored)
        except Exception as error:
            # Whatever goes wrong with one question is its error and not the end of the others.
            failed = error_record(work, error)
            record = failed.model_copy(update={"subject": SUBJECT, "fingerprint": unit.fingerprint})
        return record.model_copy(update={"duration": time.perf_counter() - clock})

    async def _trace(
        self, unit: Unit, parts: Parts, work: Work, stored: list[StoredProof]
    ) -> CaseRecord:
        found = Trace()
        held = await self._complete(work, stored, parts, found)

        async def look(version: str) -> Standing | None:
            if (kept := parts.get(version)) is not None:
                return Standing.from_values(kept)
            try:
                standing = await self._stand(replace(work, store=held), version)
            except NoResultError as error:
                found.missing[version] = str(error)
                return None
            parts.keep(version, standing.values())
            return standing

        await trace(self.releases, look, self._list_between, found)
        return drift_record(work, self.releases, found, unit.fingerprint)

    def _list_between(self) -> Sequence[str]:
        if self._listed is None:
            try:
                self._listed = list_releases(self.releases.package)
            except AssayError:
                # Between which of the versions it changed is known all the same.
                self._listed = ()
        return self._listed

    async def _stand(self, work: Work, version: str) -> Standing:
        """Replay the proofs of a question on a release; ask the provers where they do not fit."""
        moved = replace(work, target=at_release(work.target, self.releases.package, version))
        async with self.lending.lend(moved.target) as runners, self._slots:
            # Once more if something went wrong: the machine may have been busy.
            for _ in range(2):
                record = await verify_one(moved, Replaying(runners), writes=False)
                if needs_reading(record):
                    record = await verify_one(moved, runners, writes=False)
                if (trouble := find_trouble(record)) is None:
                    return Standing.of(record, runners.of(moved.target).modules)
        raise NoResultError(f"gave no stable result: {trouble}")

    async def _complete(
        self, work: Work, stored: list[StoredProof], parts: Parts, found: Trace
    ) -> HeldProofs:
        """Return the stored proofs, and those that the provers add on one release.

        The provers are asked on the release that the suite pins, and on the newest if they find
        nothing there: it may lack what the question is about. Every release then replays the same
        files.
        """
        question, new = work.entry.question, []
        if isinstance(question, Question) and _has_open(question, stored):
            if (kept := parts.get(_PROOFS)) is not None:
                new = _NEW.validate_python(kept)
            else:
                new = await self._prove(work, question, stored, found)
                parts.keep(_PROOFS, _NEW.dump_python(new, mode="json"))
        return HeldProofs(work.entry.file, stored, new)

    async def _prove(
        self, work: Work, question: Question, stored: list[StoredProof], found: Trace
    ) -> list[NewProof]:
        package, versions = self.releases.package, self.releases.versions
        pinned = pinned_release(work.target, package)
        held = HeldProofs(work.entry.file, stored)
        asked = 0
        for version in sorted(versions, key=lambda one: (one != pinned, one != versions[-1])):
            target = at_release(work.target, package, version)
            moved = replace(work, target=target, store=held)
            try:
                async with self.lending.lend(target) as runners, self._slots:
                    runner = runners.of(target)
                    examined = await examine_question(moved, question, runner, writes=False)
            except NoResultError as error:
                found.missing[version] = str(error)
                continue
            asked += 1
            if examined.new or asked == _ASKED:
                return list(examined.new)
        return []


def _has_open(question: Question, proofs: Iterable[StoredProof]) -> bool:
    """Tell whether an option that has to be proven has no proof."""
    proven = {one.proof.claim.option for one in proofs if one.is_current}
    return any(one not in proven for one in question.options.keys() - read_compounds(question))


class DriftPlan:
    """Looks at the same questions on several releases and says where a finding changes."""

    waits = True

    def __init__(
        self,
        asked: QuestionsRequest,
        releases: Releases,
        say: Say | None = None,
        *,
        title: str = "",
    ) -> None:
        self.asked = replace(asked, more=releases.values())
        self.releases = releases
        self._say = say or (lambda text: None)
        self._work = select(asked.selection)
        self.total: int | None = len(self._work)
        self.jobs = max(asked.jobs, min(len(self._work), _TOGETHER))
        self.manifest = Manifest(
            subject=SUBJECT,
            title=f"{title or ', '.join(asked.selection.suites)} on {releases.described}",
            is_partial=bool(asked.selection.cases or asked.selection.types),
            asked=self.asked.values(),
            # What is undecided on every release has not changed.
            unverified_fails=False,
        )

    def __reduce__(self) -> tuple[object, ...]:
        return DriftPlan, (self.asked, self.releases)

    @classmethod
    def of(
        cls,
        asked: QuestionsRequest,
        wanted: str | Iterable[str],
        say: Say | None = None,
        *,
        package: str | None = None,
        search: bool = True,
        title: str = "",
    ) -> DriftPlan:
        """Make the plan of a list of versions, a range or `all`."""
        targets = dict.fromkeys(one.target for one in select(asked.selection))
        releases = choose_releases(wanted, targets, list_releases, package=package, search=search)
        return cls(asked, releases, say, title=title)

    @classmethod
    def from_run(
        cls, values: dict[str, Any], *, jobs: int | None = None, say: Say | None = None
    ) -> DriftPlan:
        """Make the plan of a run again, from what its run.json says was asked."""
        asked = QuestionsRequest.from_run(values, jobs=jobs)
        return cls(asked, Releases.from_run(values), say)

    def cases(self) -> Iterator[Unit]:
        """List the questions, each with its stored proofs."""
        for place, one in enumerate(self._work):
            question = one.entry.question
            stored: list[StoredProof] | InputError = []
            try:
                if isinstance(question, Question):
                    stored = one.store.load(question)
            except InputError as error:
                # A folder that cannot be read costs its own question.
                stored = error
            held = [] if isinstance(stored, InputError) else stored
            mark = drift_fingerprint(one, self.releases.package, held)
            yield Unit(one.identifier, place, mark, (one, stored))

    @asynccontextmanager
    async def open_worker(
        self, folder: Path, progress: Progress | None
    ) -> AsyncIterator[DriftWorker]:
        """Lend a worker that traces single questions."""
        lending = Lending(self._open_runners)
        try:
            yield DriftWorker(self.releases, lending, self.asked.jobs)
        finally:
            await lending.close()

    @asynccontextmanager
    async def _open_runners(self, target: Target) -> AsyncIterator[ProofRunners]:
        self._say(f"{target}")
        environments = await asyncio.to_thread(build_environments, self._at(target), self._say)
        runners = ProofRunners(
            environments,
            provers=load_provers(),
            samples=samples(self._at(target)),
            jobs=self.asked.jobs,
            isolation=self.asked.isolation,
        )
        async with runners:
            yield runners

    def _at(self, target: Target) -> list[Work]:
        """Return the questions with a target that is one of theirs on some release."""
        package = self.releases.package
        moved = (
            replace(one, target=at_release(one.target, package, version))
            for one in self._work
            if (version := pinned_release(target, package)) is not None
        )
        return [one for one in moved if one.target == target]

    def finish(self, run: Run) -> list[str]:
        """Refuse a run in which nothing could be compared."""
        counts: Mapping[Outcome, int] = run.counts()
        if counts[Outcome.UNVERIFIED] == sum(counts.values()):
            raise InputError(
                "no question is decided on any release, so there is nothing to compare",
                where=", ".join(self.asked.selection.suites),
                advice="`assay questions verify` says what is missing",
            )
        return []
