"""Runs test files: every test on every connection, as many samples as its verdict needs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from assay import values
from assay.agents.connections import (
    Connection,
    ConnectionFailed,
    Settings,
    credentials_of,
    open_connection,
)
from assay.agents.connections.web import address, plain_url
from assay.agents.files import unanswerable
from assay.agents.files.reading import first_error
from assay.agents.model import AgentFile
from assay.agents.records import record_of
from assay.agents.samples import GROUP, Sampler
from assay.agents.sampling import Decision, Tally
from assay.agents.stopwatch import Stopwatch, TimeIsOver
from assay.errors import AssayError, BudgetExceeded, InputError
from assay.failures import account
from assay.models import Judge, ModelClient, metered
from assay.ratio import Ratio
from assay.redaction import redact_error, redactor
from assay.results import Case, CaseRecord, Outcome, VerifierReport
from assay.runs import Progress, Unit, execute


@dataclass(frozen=True)
class Reach:
    """How agents are reached where the files do not say, or say otherwise."""

    connections: tuple[str, ...] = ()
    host: str | None = None
    port: int | None = None
    url: str | None = None
    ca_file: str | None = None
    verify: bool = True

    def __post_init__(self) -> None:
        # A run keeps both, so they are looked at before there is one.
        if self.url is not None:
            plain_url(self.url)
        if self.host is not None:
            address("http", self.host, self.port or 1)


@dataclass(frozen=True)
class Sampling:
    """How samples are taken."""

    jobs: int = 1
    """Samples of one test at a time: more are faster, fewer stop earlier."""
    max_connections: int = 16
    """Conversations of all tests together at a time."""
    ratio: str | None = None
    takes_all: bool = False


@dataclass(frozen=True)
class Test:
    """A test file on one connection: what is counted."""

    file: AgentFile
    connection: str
    ratio: Ratio

    @property
    def identifier(self) -> str:
        return f"{self.file.path.as_posix()}::{self.connection}"


class Kept(Protocol):
    """Where finished samples of an unfinished test are kept."""

    def get(self, key: str) -> Any: ...

    def keep(self, key: str, value: Any) -> None: ...


def tests_of(files: Iterable[AgentFile], reach: Reach, sampling: Sampling) -> list[Test]:
    """Every file on every connection; an InputError for a check that could never pass there."""
    given = Ratio.parse(sampling.ratio) if sampling.ratio else None
    tests = []
    for file in files:
        connections = tuple(dict.fromkeys(reach.connections or file.connections))
        if problems := unanswerable(file, connections):
            raise first_error(problems)
        tests += [Test(file, name, given or file.success_ratio) for name in connections]
    return tests


def run_tests(
    folder: Path,
    tests: list[Test],
    reach: Reach,
    sampling: Sampling,
    client: ModelClient | None,
    *,
    progress: Progress | None = None,
    on_sample: Callable[[], None] = lambda: None,
) -> None:
    """Run the tests that have no record yet in a run folder; tell of every finished sample."""
    running = Running(reach, sampling, client, on_sample)
    # Each lane holds a test that may be waiting for its last samples: the pool stays busy.
    execute(
        folder,
        _units(tests, reach, sampling),
        running.work,
        jobs=max(1, min(sampling.max_connections, len(tests))),
        progress=progress,
        around=running,
    )


def _units(tests: list[Test], reach: Reach, sampling: Sampling) -> Iterator[Unit]:
    for place, test in enumerate(tests):
        fingerprint = values.fingerprint(
            test.file.fingerprint, test.connection, str(test.ratio), asdict(reach),
            sampling.takes_all,
        )  # fmt: skip
        yield Unit(test.identifier, place, fingerprint, test)


class Running:
    """What all tests of a run share: the judge, and the places for conversations."""

    def __init__(
        self,
        reach: Reach,
        sampling: Sampling,
        client: ModelClient | None,
        on_sample: Callable[[], None] = lambda: None,
    ) -> None:
        self._reach, self._sampling, self._client = reach, sampling, client
        self._on_sample = on_sample
        self._held = AsyncExitStack()
        self._judge = Judge(client)

    async def __aenter__(self) -> Self:
        self._slots = asyncio.Semaphore(self._sampling.max_connections)
        if self._client is not None:
            await self._held.enter_async_context(self._client)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._held.__aexit__(kind, error, trace)

    async def work(self, unit: Unit, parts: Kept) -> CaseRecord:
        """The record of one test."""
        test: Test = unit.payload
        started = time.perf_counter()
        secrets = dict(test.file.secrets)
        with metered() as meter:
            try:
                connection = open_connection(test.connection, self._settings(test))
                secrets |= credentials_of(connection)
                try:
                    decision, reports = await self._sampled(test, connection, parts)
                finally:
                    await connection.close()
            except (InputError, BudgetExceeded) as error:
                redact_error(error, redactor(secrets))
                raise
            except Exception as error:
                decision, reports = _broken(_told(error, redactor(secrets))), []
        record = record_of(unit, test.file, test.ratio, test.connection, decision, reports)
        return record.model_copy(
            update={
                "usage": meter.usage.as_record(),
                "duration": time.perf_counter() - started,
            }
        )

    def _settings(self, test: Test) -> Settings:
        reach = self._reach
        return Settings(
            agent=test.file.agent,
            host=reach.host,
            port=reach.port,
            metadata=test.file.metadata or {},
            use_direct=test.file.use_direct,
            ca_file=Path(reach.ca_file) if reach.ca_file else None,
            verify=reach.verify,
            url=reach.url,
        )

    async def _sampled(
        self, test: Test, connection: Connection, parts: Kept
    ) -> tuple[Decision, list[VerifierReport]]:
        """Take samples until the verdict is certain, or the test's own time is over."""
        watch = Stopwatch(test.file.timeout)
        sampler = Sampler(test.file, connection, self._judge, watch, self._slots)
        samples = _Samples(test, Tally(test.ratio, self._sampling.takes_all), parts)

        async def lane() -> None:
            while not watch.is_over and (index := samples.next()) is not None:
                try:
                    report = await sampler.take(samples.case(index))
                except TimeIsOver:
                    # What still talks at the end of the time was not taken.
                    return
                samples.finish(index, report)
                self._on_sample()

        lanes = min(self._sampling.jobs, test.ratio.samples)
        await _until(samples.decided, [lane() for _ in range(lanes)])
        decision = samples.tally.decision
        if decision is not None:
            return decision, samples.reports(decision.taken)
        assert test.file.timeout is not None
        return samples.tally.at_limit(test.file.timeout), samples.all_reports()


async def _until(decided: asyncio.Event, work: list[Coroutine[Any, Any, None]]) -> None:
    """Until all work is done, one has failed, or the event comes; nothing is left running."""
    lanes = [asyncio.create_task(one) for one in work]
    ending = asyncio.create_task(decided.wait())
    waiting: set[asyncio.Task[Any]] = {*lanes, ending}
    try:
        while not ending.done() and not all(lane.done() for lane in lanes):
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
    finally:
        for task in (*lanes, ending):
            task.cancel()
        await asyncio.gather(*lanes, ending, return_exceptions=True)


class _Samples:
    """The samples of one test: which to take next, and the reports of those that are finished."""

    def __init__(self, test: Test, tally: Tally, parts: Kept) -> None:
        self._test, self.tally, self._parts = test, tally, parts
        self._reports: dict[int, VerifierReport] = {}
        self.decided = asyncio.Event()

    def next(self) -> int | None:
        """The next sample to take; those that an earlier pass has finished are only counted."""
        while (index := self.tally.start()) is not None:
            kept = self._parts.get(f"sample {index + 1}")
            if kept is None:
                return index
            self._count(index, VerifierReport.unpack(kept))
        return None

    def case(self, index: int) -> Case:
        return Case(
            id=f"{self._test.identifier}#{index + 1}",
            group=GROUP,
            agent=self._test.file.name,
            connection=self._test.connection,
            sample=index + 1,
        )

    def finish(self, index: int, report: VerifierReport) -> None:
        if report.outcome is not Outcome.ERROR:
            # An error is taken again when the run is resumed.
            self._parts.keep(f"sample {index + 1}", report.pack())
        self._count(index, report)

    def _count(self, index: int, report: VerifierReport) -> None:
        self._reports[index] = report
        self.tally.finish(index, report.outcome)
        if self.tally.decision is not None:
            self.decided.set()

    def reports(self, taken: int) -> list[VerifierReport]:
        return [self._reports[index] for index in range(taken)]

    def all_reports(self) -> list[VerifierReport]:
        return [self._reports[index] for index in sorted(self._reports)]


def _told(error: Exception, conceal: Callable[[str], str]) -> str:
    if isinstance(error, ConnectionFailed):
        return error.told(conceal)
    return conceal(str(error) if isinstance(error, AssayError) else account(error))


def _broken(reason: str) -> Decision:
    return Decision(Outcome.ERROR, reason, 0, is_early=True)
