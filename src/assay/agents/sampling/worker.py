"""Runs single tests, taking as many concurrent samples as each verdict needs."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from assay.agents.connections import (
    Connection,
    ConnectionFailed,
    Settings,
    describe_failure,
    get_credentials,
    open_connection,
)
from assay.agents.plan import NO_MORE_TRUST, ConnectionOptions, Sampling, Test, WrongFile
from assay.agents.records import make_record, wrong_file_record, wrong_input_record
from assay.agents.sampling.sampler import GROUP, Place, Requests, Sampler, TakenSample
from assay.agents.sampling.stopwatch import Stopwatch, TimeIsOver
from assay.agents.sampling.tally import Decision, Tally
from assay.agents.trust import Trust
from assay.errors import AssayError, BudgetExceeded, InputError
from assay.model import Case, CaseRecord, Outcome, VerifierReport
from assay.models import Judge, ModelClient, open_meter
from assay.redaction import redact_error, redactor
from assay.runs import CONVERSATION, Unit
from assay.tracebacks import format_exception


class PartStore(Protocol):
    """Stores finished samples of an unfinished test."""

    def get(self, key: str) -> Any: ...

    def keep(self, key: str, value: Any) -> None: ...


class ConversationSlots:
    """The conversation slots of one server, granted in order of request."""

    def __init__(self, count: int) -> None:
        self._turn = asyncio.Lock()
        self._free = asyncio.Semaphore(count)

    @asynccontextmanager
    async def take(self, count: int = 1) -> AsyncIterator[None]:
        """Hold the given number of slots, once that many are free at the same time."""
        taken = 0
        try:
            async with self._turn:
                while taken < count:
                    await self._free.acquire()
                    taken += 1
            yield
        finally:
            for _ in range(taken):
                self._free.release()


class AgentsWorker:
    """State shared by all tests of a run: the judge and the conversation slots."""

    def __init__(
        self,
        reach: ConnectionOptions,
        sampling: Sampling,
        client: ModelClient | None,
        on_sample: Callable[[], None] = lambda: None,
        trust: Trust = NO_MORE_TRUST,
    ) -> None:
        self._trust = trust
        self._reach, self._sampling, self._client = reach, sampling, client
        self._on_sample = on_sample
        self._held = AsyncExitStack()
        self._judge = Judge(client)

    async def __aenter__(self) -> Self:
        # All tests of a run that name the same connection talk to the same server.
        self._places = defaultdict[str, ConversationSlots](
            lambda: ConversationSlots(self._sampling.max_connections)
        )
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

    async def run(self, unit: Unit, parts: PartStore) -> CaseRecord:
        """Return the record of one test."""
        if isinstance(unit.payload, WrongFile):
            return wrong_file_record(unit, unit.payload.problems)
        test: Test = unit.payload
        started = time.perf_counter()
        secrets = dict(test.file.secrets)
        with open_meter() as meter:
            try:
                connection = open_connection(test.connection, self._settings(test))
                secrets |= get_credentials(connection)
                try:
                    decision, reports = await self._take_samples(test, connection, parts)
                finally:
                    await connection.close()
            except (InputError, BudgetExceeded) as error:
                redact_error(error, redactor(secrets))
                if isinstance(error, BudgetExceeded) or self._sampling.strict:
                    raise
                return wrong_input_record(unit, f"{test.file.path}: {error}")
            except Exception as error:
                decision = Decision(
                    Outcome.ERROR, _explain(error, redactor(secrets)), 0, is_early=True
                )
                reports = []
        record = make_record(unit, test.file, test.ratio, test.connection, decision, reports)
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
            template=test.file.template,
            command=reach.words,
            code_rules=self._trust.for_file(test.file.path),
        )

    async def _take_samples(
        self, test: Test, connection: Connection, parts: PartStore
    ) -> tuple[Decision, list[VerifierReport]]:
        """Wait for slots and take the samples of a test.

        A test with a time limit gets all its slots at once and keeps them: if it had to share them,
        waiting for others would count towards its limit.
        """
        places = self._places[test.connection]
        if test.file.timeout is None:
            return await self._sample_until_certain(test, connection, parts, places.take)
        async with places.take(self._sampling.lanes(test.ratio)):
            return await self._sample_until_certain(test, connection, parts, _no_slot)

    async def _sample_until_certain(
        self, test: Test, connection: Connection, parts: PartStore, place: Place
    ) -> tuple[Decision, list[VerifierReport]]:
        """Take samples until the verdict is certain, or the test's own time is over."""
        watch = Stopwatch(test.file.timeout)
        sampler = Sampler(
            test.file,
            connection,
            self._judge,
            watch,
            place,
            self._sampling.retries,
            self._sampling.transcripts,
        )
        samples = _Samples(test, Tally(test.ratio, self._sampling.takes_all), parts)

        async def lane() -> None:
            while not watch.is_over and (index := samples.next()) is not None:
                try:
                    sample = await sampler.take(samples.case(index), samples.earlier(index))
                except TimeIsOver:
                    # Conversations still running at the time limit do not count.
                    return
                samples.finish(index, sample)
                self._on_sample()

        lanes = self._sampling.lanes(test.ratio)
        await _work_until(samples.decided, [lane() for _ in range(lanes)])
        decision = samples.tally.decision
        if decision is not None:
            return decision, samples.reports(decision.taken)
        assert test.file.timeout is not None
        return samples.tally.at_limit(test.file.timeout), samples.all_reports()


@asynccontextmanager
async def _no_slot() -> AsyncIterator[None]:
    yield


async def _work_until(decided: asyncio.Event, work: list[Coroutine[Any, Any, None]]) -> None:
    """Wait until all work is done, one task fails, or the event is set; leave nothing running."""
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

    def __init__(self, test: Test, tally: Tally, parts: PartStore) -> None:
        self._test, self.tally, self._parts = test, tally, parts
        self._reports: dict[int, VerifierReport] = {}
        self.decided = asyncio.Event()

    def next(self) -> int | None:
        """Return the next sample to take; those finished by an earlier pass are counted."""
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

    def earlier(self, index: int) -> Requests:
        """Return the failed requests of an earlier pass for this sample."""
        kept = self._parts.get(f"requests {index + 1}")
        return Requests() if kept is None else Requests(*kept)

    def finish(self, index: int, sample: TakenSample) -> None:
        report = sample.report
        if sample.conversation is not None:
            # Before the report: a sample that is there has its conversation.
            self._parts.keep(f"{CONVERSATION}{index + 1}", sample.conversation)
        if report.outcome is Outcome.ERROR:
            # An error is taken again when the run is resumed, which must not hide it.
            sent, repeated = report.case["requests"], report.case["repeated"]
            has_failed = bool(report.case["is_outage"])
            self._parts.keep(f"requests {index + 1}", [sent, repeated + has_failed])
        else:
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


def _explain(error: Exception, redact: Callable[[str], str]) -> str:
    if isinstance(error, ConnectionFailed):
        return describe_failure(error, redact)
    return redact(str(error) if isinstance(error, AssayError) else format_exception(error))
