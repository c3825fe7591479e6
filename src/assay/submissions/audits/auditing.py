"""Audits a problem: runs its reference solution twice, and has its verifier judge what is wrong."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import functools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from assay.documents import LARGEST_SOURCE, UnreadableFileError, read_bytes
from assay.errors import InfrastructureError, InputError
from assay.failures import account
from assay.results import CaseResult
from assay.submissions.adapters.tracked import patterns_of
from assay.submissions.audits.facts import facts_of
from assay.submissions.audits.findings import GroupAudit
from assay.submissions.audits.trials import Judge, Judged, Tried, try_case
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig
from assay.submissions.running import Prepare, Site, is_chain
from assay.submissions.seams import (
    CasesBrokenError,
    CaseStream,
    Drawn,
    Runner,
    SetUpFailedError,
    Source,
    StoreBrokenError,
    VerifierBrokenError,
)
from assay.submissions.selection import Filter

_MOST_WORDS = 40
_LONGEST_WORD = 40


class AuditProgress(Protocol):
    """Is told what an audit does."""

    def ran(self, group: str) -> None:
        """The reference has run a case once more."""

    def tried(self, group: str, mutants: int) -> None:
        """A case has been tried with everything there is."""


class Silent:
    """A progress that shows nothing."""

    def ran(self, group: str) -> None: ...

    def tried(self, group: str, mutants: int) -> None: ...


@dataclass
class Auditor:
    """What an audit needs of a problem."""

    problem: ProblemConfig
    source: Source
    wanted: Filter
    jobs: int = 1
    progress: AuditProgress = field(default_factory=Silent)

    async def audit(self, checkpoint: CheckpointConfig, prepare: Prepare) -> list[GroupAudit]:
        """Every group of a checkpoint that was asked for, with the reference made ready."""
        groups = [one for one in checkpoint.groups.values() if self.wanted.takes_group(one)]
        if not groups:
            return []
        try:
            async with prepare(checkpoint) as site:
                return [await self._group(checkpoint, group, site) for group in groups]
        except SetUpFailedError as error:
            return [GroupAudit(checkpoint.name, "(set-up)", "", broken=str(error))]

    async def _group(
        self, checkpoint: CheckpointConfig, group: GroupConfig, site: Site
    ) -> GroupAudit:
        """Two runs of the reference, then all trials of the cases that were in both."""
        place = _Place(checkpoint, group, site)
        first, broken = await self._run(place)
        second, broken_again = await self._run(place)
        audit = GroupAudit(
            checkpoint.name, group.name, str(group.type), broken=broken or broken_again
        )
        for one, again in zip(first, second, strict=False):
            if not self.wanted.takes_case(one.drawn.case):
                continue
            tracked = patterns_of(self.problem, group, one.drawn.case)
            words = vocabulary_of(self.problem.path)
            trials = await try_case(one, again, self._judge(place), tracked, words)
            audit.cases.append(facts_of(trials))
            self.progress.tried(audit.name, len(trials.mutants))
            # A judgement need not wait for anything; an interrupt must not wait for them all.
            await asyncio.sleep(0)
        return audit

    async def _run(self, place: _Place) -> tuple[list[Tried], str]:
        """The reference on every case, from a fresh start; and why the cases ended early."""
        tried: list[Tried] = []
        try:
            async with (
                self.source.open(place.checkpoint, place.group) as stream,
                place.site.runner(place.group) as runner,
            ):
                if is_chain(self.problem, place.group, stream):
                    await self._follow(place, stream, runner, tried)
                else:
                    await self._side_by_side(place, stream, runner, tried)
        except CasesBrokenError as error:
            return tried, str(error)
        return tried, ""

    async def _follow(
        self, place: _Place, stream: CaseStream, runner: Runner, tried: list[Tried]
    ) -> None:
        while (drawn := await stream.draw()) is not None:
            one = await self._tried(place, drawn, runner)
            tried.append(one)
            # A store that cannot take a case in is told about by what comes of the later ones.
            with contextlib.suppress(StoreBrokenError):
                await stream.update(drawn, one.actual)

    async def _side_by_side(
        self, place: _Place, stream: CaseStream, runner: Runner, tried: list[Tried]
    ) -> None:
        lanes = asyncio.Semaphore(self.jobs)

        async def run(drawn: Drawn) -> Tried:
            async with lanes:
                return await self._tried(place, drawn, runner)

        tasks: list[asyncio.Task[Tried]] = []
        try:
            while (drawn := await stream.draw()) is not None:
                # The others of an isolated group tell nothing about those that were asked for.
                if self.wanted.takes_case(drawn.case):
                    tasks.append(asyncio.create_task(run(drawn)))
        finally:
            # Also if there are no further cases to be had, those before are told about.
            tried += await _all_of(tasks)

    async def _tried(self, place: _Place, drawn: Drawn, runner: Runner) -> Tried:
        drawn = drawn.placed(place.site.assets)
        actual = await runner.run(drawn.case)
        judged = await self._judge(place)(drawn, actual)
        self.progress.ran(place.name)
        return Tried(drawn, actual, judged)

    def _judge(self, place: _Place) -> Judge:
        async def judge(drawn: Drawn, actual: CaseResult) -> Judged:
            try:
                found = await self.source.verify(place.checkpoint, place.group, drawn, actual)
            except (VerifierBrokenError, InputError) as error:
                return Judged(error=str(error))
            except InfrastructureError:
                raise
            except Exception as error:
                return Judged(error=account(error))
            return Judged(found)

        return judge


@dataclass(frozen=True)
class _Place:
    """A group of a checkpoint, and the reference that is ready for it."""

    checkpoint: CheckpointConfig
    group: GroupConfig
    site: Site

    @property
    def name(self) -> str:
        return f"{self.checkpoint.name}/{self.group.name}"


@functools.cache
def vocabulary_of(folder: Path) -> tuple[str, ...]:
    """Return the short texts in the code of a problem: what its verifier may look for."""
    words: dict[str, None] = {}
    for file in sorted(folder.glob("*.py")):
        with contextlib.suppress(SyntaxError, ValueError, OSError, UnreadableFileError):
            for node in ast.walk(ast.parse(read_bytes(file, LARGEST_SOURCE))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    words[node.value] = None
    return tuple(word for word in words if 0 < len(word) <= _LONGEST_WORD)[:_MOST_WORDS]


async def _all_of(tasks: list[asyncio.Task[Tried]]) -> list[Tried]:
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
