"""Runs a submission on the cases of a problem: draws, runs, verifies and records them.

Cases of an isolated command line group are units of the run and run a few at a time. The cases of
any other group share a work folder, a server or the state of their loader: they form one chain.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from assay.errors import InfrastructureError, InputError
from assay.model import (
    MISTAKE,
    CaseRecord,
    CaseResult,
    Outcome,
    VerificationResult,
    VerifierReport,
    compute_fingerprint,
)
from assay.runs import Chain, Parts, Step, Unit
from assay.submissions.blame import Blame
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig
from assay.submissions.protocols import (
    CaseRunner,
    CasesBrokenError,
    CaseSource,
    CaseStream,
    ChainBrokenError,
    ExpectedCase,
    NoCasesError,
    Prepare,
    SetUpFailedError,
    Site,
    StoreBrokenError,
    VerifierBrokenError,
    is_chain,
)
from assay.submissions.records import (
    UNREADABLE,
    Broken,
    Home,
    describe_unreadable,
    make_broken_record,
    make_case_record,
)
from assay.submissions.request import Filter
from assay.tracebacks import format_exception

_ENTRY = "entry_file"
# More cases than any group has: places are given out before the groups are read.
_PLACES_OF_A_GROUP = 10_000_000


@dataclass(frozen=True)
class CaseStep:
    """A case of an isolated group, as the payload of a unit: plain data."""

    checkpoint: str
    group: str
    drawn: ExpectedCase


@dataclass(frozen=True)
class ChainStep:
    """A group whose cases depend on each other, as the payload of a chain: plain data."""

    checkpoint: str
    group: str
    first_place: int
    fingerprint: str


@dataclass(frozen=True)
class _Group:
    """A group that is being run: where it belongs, and what runs its cases."""

    checkpoint: CheckpointConfig
    config: GroupConfig
    runner: CaseRunner
    assets: Mapping[str, str]
    missing: str | None = None
    is_chain: bool = False

    @property
    def home(self) -> Home:
        return _home(self.checkpoint, self.config)


class Verification:
    """The cases of some checkpoints as steps of a run; `around` holds their shared resources."""

    def __init__(
        self,
        problem: ProblemConfig,
        checkpoints: list[CheckpointConfig],
        source: CaseSource,
        prepare: Prepare,
        wanted: Filter,
        digest: str,
        prepare_reference: Prepare | None = None,
    ) -> None:
        self._problem, self._checkpoints = problem, checkpoints
        self._by_name = {one.name: one for one in checkpoints}
        self._source, self._prepare, self._wanted = source, prepare, wanted
        self._digest = digest
        self._held = AsyncExitStack()
        self._blame = Blame(source, prepare_reference, self._held)
        self._groups = 0
        self._empty: list[NoCasesError] = []
        # What listing and running cases share, where both happen in one process.
        self._sites: dict[str, Site] = {}
        self._streams: dict[tuple[str, str], CaseStream] = {}
        self._running: dict[tuple[str, str], _Group] = {}
        self._turn = asyncio.Lock()

    async def __aenter__(self) -> Self:
        if isinstance(self._source, AbstractAsyncContextManager):
            # A source with a process of its own ends it with the run.
            await self._held.enter_async_context(self._source)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._held.aclose()

    async def steps(self) -> AsyncIterator[Step]:
        """List everything that was requested, in order."""
        place = 0
        for checkpoint in self._checkpoints:
            groups = [one for one in checkpoint.groups.values() if self._wanted.takes_group(one)]
            if not groups:
                continue
            self._groups += len(groups)
            try:
                site = await self._site(checkpoint)
            except SetUpFailedError as error:
                broken = Broken(Home(checkpoint.name), str(error))
                yield Unit(f"{checkpoint.name}/(set-up)", place, self._digest, broken)
                place += _PLACES_OF_A_GROUP
                continue
            for group in groups:
                async for step in self._steps_of(checkpoint, group, site, place):
                    yield step
                place += _PLACES_OF_A_GROUP

    def check_met(self) -> None:
        """After the run, report a filter that matched nothing, or a run without cases."""
        self._wanted.check_met(self._problem, self._checkpoints)
        if self._empty and len(self._empty) == self._groups:
            raise InputError(
                "there are no cases at all",
                where=str(self._problem.path),
                advice="\n  ".join(map(str, self._empty)),
            )

    async def _steps_of(
        self, checkpoint: CheckpointConfig, config: GroupConfig, site: Site, place: int
    ) -> AsyncIterator[Step]:
        fingerprint = compute_fingerprint(
            self._digest, site.digest, checkpoint.name, config.model_dump(mode="json")
        )
        name, key = f"{checkpoint.name}/{config.name}", (checkpoint.name, config.name)
        try:
            stream = await self._held.enter_async_context(self._source.open(checkpoint, config))
        except CasesBrokenError as error:
            yield self._make_broken(_home(checkpoint, config), place, fingerprint, error)
            return
        if is_chain(self._problem, config, stream):
            self._streams[key] = stream
            yield Chain(
                name,
                compute_fingerprint(fingerprint, self._wanted.case),
                ChainStep(*key, place, fingerprint),
            )
            return
        number = 0
        try:
            while (drawn := await stream.draw()) is not None:
                if self._wanted.takes_case(drawn.case):
                    mark = compute_fingerprint(
                        fingerprint, drawn.case.describe(), drawn.describe_expectation()
                    )
                    identifier = f"{name}/{drawn.case.id}"
                    yield Unit(identifier, place + number, mark, CaseStep(*key, drawn))
                number += 1
        except (CasesBrokenError, InputError) as error:
            yield self._make_broken(_home(checkpoint, config), place + number, fingerprint, error)

    async def _site(self, checkpoint: CheckpointConfig) -> Site:
        """Return the submission, prepared once per checkpoint."""
        if checkpoint.name not in self._sites:
            prepared = await self._held.enter_async_context(self._prepare(checkpoint))
            self._sites[checkpoint.name] = prepared
        return self._sites[checkpoint.name]

    async def _group(self, checkpoint: str, group: str) -> _Group:
        """Return the runner for the cases of an isolated group, opened once."""
        async with self._turn:
            key = checkpoint, group
            if key not in self._running:
                about = self._by_name[checkpoint]
                config, site = about.groups[group], await self._site(about)
                runner = await self._held.enter_async_context(site.runner(config))
                self._running[key] = _Group(about, config, runner, site.assets, site.missing)
            return self._running[key]

    async def follow(self, chain: Chain) -> AsyncIterator[tuple[Unit, CaseRecord]]:
        """Run the cases of a chain; filtered-out cases run too, but are not recorded."""
        step: ChainStep = chain.payload
        checkpoint = self._by_name[step.checkpoint]
        config = checkpoint.groups[step.group]
        async with self._turn:
            site = await self._site(checkpoint)
        async with AsyncExitStack() as held:
            stream = self._streams.pop((step.checkpoint, step.group), None)
            if stream is None:
                stream = await held.enter_async_context(self._source.open(checkpoint, config))
            runner = await held.enter_async_context(site.runner(config))
            group = _Group(checkpoint, config, runner, site.assets, site.missing, is_chain=True)
            number, record = 0, None
            try:
                while (drawn := await stream.draw()) is not None:
                    # What a loader makes of earlier answers differs from run to run.
                    mark = compute_fingerprint(step.fingerprint, drawn.case.id)
                    identifier = f"{step.checkpoint}/{step.group}/{drawn.case.id}"
                    unit = Unit(identifier, step.first_place + number, mark, None)
                    record, actual = await self._run_case(unit, group, drawn)
                    if self._wanted.takes_case(drawn.case):
                        yield unit, record
                    number += 1
                    if actual is None:
                        raise ChainBrokenError(
                            f"the cases after {drawn.case.id!r} depend on it, and it has no result",
                            is_mistake=record.code == MISTAKE,
                        )
                    await stream.update(drawn, actual)
            except (CasesBrokenError, InputError) as error:
                has_failed = record is not None and record.outcome is Outcome.FAILED
                place = step.first_place + number
                broken = self._make_broken(group.home, place, step.fingerprint, error, has_failed)
                yield broken, make_broken_record(broken)

    def _make_broken(
        self,
        home: Home,
        place: int,
        fingerprint: str,
        error: CasesBrokenError | InputError,
        has_failed: bool = False,
    ) -> Unit:
        """Return the unit for unavailable cases; `has_failed` refers to the previous case."""
        if isinstance(error, NoCasesError):
            self._empty.append(error)
        name = f"{home.checkpoint}/{home.group}/(cases)"
        code = MISTAKE if isinstance(error, InputError) or error.is_mistake else "error"
        if has_failed and isinstance(error, StoreBrokenError):
            # A store need not be able to read what is wrong.
            code = UNREADABLE
        return Unit(name, place, fingerprint, Broken(home, str(error), code))

    async def run(self, unit: Unit, parts: Parts) -> CaseRecord:
        """Return the record of one unit that `steps` gave."""
        step: Broken | CaseStep = unit.payload
        if isinstance(step, Broken):
            return make_broken_record(unit)
        try:
            group = await self._group(step.checkpoint, step.group)
        except SetUpFailedError as error:
            # Only where another process has listed the cases; the one that did has said so.
            home = Home(step.checkpoint, step.group)
            return make_broken_record(unit._replace(payload=Broken(home, str(error))))
        return (await self._run_case(unit, group, step.drawn))[0]

    async def _run_case(
        self, unit: Unit, group: _Group, drawn: ExpectedCase
    ) -> tuple[CaseRecord, CaseResult | None]:
        """Return the record of a case, and the program's result if known."""
        clock = time.perf_counter()
        try:
            placed = drawn.place_assets(group.assets)
            actual = await group.runner.run(placed.case)
        except InfrastructureError as error:
            return _make_error(unit, group, drawn, clock, str(error)), None
        except InputError as error:
            return _make_error(unit, group, drawn, clock, str(error), is_mistake=True), None
        except Exception as error:
            return _make_error(unit, group, drawn, clock, format_exception(error)), None
        try:
            found = await self._judge(group, placed, actual)
            if group.missing is not None:
                # An interpreter that finds no program ends as some cases expect a program to end.
                found = {**found, _ENTRY: VerificationResult.create(group.missing, False)}
            duration = time.perf_counter() - clock
            report = VerifierReport.from_verifier_result(
                drawn.case, duration, actual, placed.expected, found
            )
        except VerifierBrokenError as error:
            return _make_error(unit, group, drawn, clock, str(error), is_mistake=True), actual
        except InfrastructureError as error:
            return _make_error(unit, group, drawn, clock, str(error)), actual
        except Exception as error:
            return _make_error(unit, group, drawn, clock, format_exception(error)), actual
        return make_case_record(unit, group.home, report, actual, duration), actual

    async def _judge(
        self, group: _Group, drawn: ExpectedCase, actual: CaseResult
    ) -> dict[str, VerificationResult]:
        """Return the verifier's judgement of a result, or that it could not read it.

        VerifierBrokenError is raised only for what is the fault of the verifier's author.
        """
        about = group.checkpoint, group.config, drawn
        try:
            return await self._source.verify(*about, actual)
        except VerifierBrokenError as error:
            if await self._blame.is_authors(error, *about, is_chain=group.is_chain):
                why = f"{error}\n  it gives no judgement of a right result either"
                raise VerifierBrokenError(why) from None
            return describe_unreadable(str(error), actual)


def _make_error(
    unit: Unit,
    group: _Group,
    drawn: ExpectedCase,
    clock: float,
    error: str,
    *,
    is_mistake: bool = False,
) -> CaseRecord:
    duration = time.perf_counter() - clock
    report = VerifierReport.from_error(drawn.case, duration, error)
    return make_case_record(unit, group.home, report, None, duration, is_mistake=is_mistake)


def _home(checkpoint: CheckpointConfig, config: GroupConfig) -> Home:
    return Home(checkpoint.name, config.name, str(config.type))
