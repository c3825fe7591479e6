"""Runs test files: every test on every connection, as many samples as its verdict needs."""

from __future__ import annotations

import asyncio
import os
import shlex
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, Self

from assay.agents.connections import (
    Connection,
    ConnectionFailed,
    Settings,
    credentials_of,
    open_connection,
)
from assay.agents.connections.web import address, plain_url
from assay.agents.files import ReadFile, unanswerable
from assay.agents.files.reading import first_error
from assay.agents.model import AgentFile
from assay.agents.records import record_of, wrong_file_record, wrong_input_record
from assay.agents.samples import GROUP, Place, Requests, Sampler
from assay.agents.sampling import RETRIES, Decision, Tally
from assay.agents.secrets import credentials_in
from assay.agents.stopwatch import Stopwatch, TimeIsOver
from assay.agents.trust import Trust
from assay.errors import AssayError, BudgetExceeded, InputError
from assay.findings import Finding
from assay.model import Case, CaseRecord, Outcome, Ratio, VerifierReport, values
from assay.models import Judge, ModelClient, metered
from assay.redaction import redact_error, redactor
from assay.runs import Unit
from assay.tracebacks import format_exception

_COMMAND = "command"
PYTHON = "python"
_KEYED = ("openai", "responses")
NO_MORE_TRUST: Final = Trust()
"""Agents of a test file's own project, and nothing else."""


@dataclass(frozen=True)
class Reach:
    """How agents are reached where the files do not say, or say otherwise."""

    connections: tuple[str, ...] = ()
    host: str | None = None
    port: int | None = None
    url: str | None = None
    command: str | None = None
    ca_file: str | None = None
    verify: bool = True

    def __post_init__(self) -> None:
        # A run keeps both, so they are looked at before there is one.
        if self.url is not None:
            plain_url(self.url)
        if self.host is not None:
            address("http", self.host, self.port or 1)
        _refuse_credentials(self.words)

    @property
    def words(self) -> tuple[str, ...]:
        """The program of the connection `command`, and its arguments."""
        try:
            return tuple(shlex.split(self.command or ""))
        except ValueError as error:
            raise InputError(f"--command cannot be read: {error}") from None


@dataclass(frozen=True)
class Sampling:
    """How samples are taken."""

    jobs: int | None = None
    """Samples of one test at a time, None for all: more are faster, fewer stop earlier."""
    max_connections: int = 32
    """Conversations of all tests with one server at a time."""
    ratio: str | None = None
    takes_all: bool = False
    retries: int = RETRIES
    """How often a sample that met an outage is tried again."""
    strict: bool = True
    """Whether a file that cannot be used ends the run; otherwise it is an error of its own."""

    def lanes(self, ratio: Ratio) -> int:
        """Return how many samples of a test with this ratio are taken at a time."""
        return min(self.jobs or ratio.samples, ratio.samples, self.max_connections)


@dataclass(frozen=True)
class Test:
    """A test file on one connection: what is counted."""

    file: AgentFile
    connection: str
    ratio: Ratio

    @property
    def identifier(self) -> str:
        return f"{name_file(self.file.path)}::{self.connection}"


def _refuse_credentials(words: Iterable[str]) -> None:
    """Refuse a command that holds a secret: a run keeps it, and the list of processes shows it."""
    for value, name in credentials_in(os.environ).items():
        if any(value in word for word in words):
            raise InputError(
                f"--command holds the value of {name}",
                advice="let the program read it from its environment",
            )


class Kept(Protocol):
    """Where finished samples of an unfinished test are kept."""

    def get(self, key: str) -> Any: ...

    def keep(self, key: str, value: Any) -> None: ...


@dataclass(frozen=True)
class WrongFile:
    """A test file that cannot be used, and everything that is wrong with it."""

    path: Path
    problems: list[Finding]

    @property
    def identifier(self) -> str:
        return name_file(self.path)


def name_file(path: Path) -> str:
    """Return the path of a file as the id of a case, which must be text with a UTF-8 form."""
    return path.as_posix().encode("utf-8", "backslashreplace").decode()


def tests_of(files: Iterable[AgentFile], reach: Reach, sampling: Sampling) -> list[Test]:
    """Every file on every connection; an InputError for a check that could never pass there."""
    found = [ReadFile(file.path, file) for file in files]
    return [one for one in plan_tests(found, reach, sampling) if isinstance(one, Test)]


def plan_tests(
    found: Iterable[ReadFile], reach: Reach, sampling: Sampling
) -> list[Test | WrongFile]:
    """Return the tests of all files, in order, with a WrongFile for each that cannot be used.

    Raise an InputError if a file is wrong and the sampling is strict, or if no file can be used.
    """
    given = Ratio.parse(sampling.ratio) if sampling.ratio else None
    planned: list[Test | WrongFile] = []
    for one in found:
        file, problems = one.file, one.problems
        if file is not None:
            connections = tuple(dict.fromkeys(reach.connections or file.connections))
            problems = unanswerable(file, connections)
            if _COMMAND in connections and not reach.words:
                raise InputError(
                    "the connection command needs a program",
                    where=str(file.path),
                    advice="name it yourself: --command 'python agent.py'; a test file cannot",
                )
        if file is None or problems:
            planned.append(WrongFile(one.path, problems))
        else:
            planned += [Test(file, name, given or file.success_ratio) for name in connections]
    wrong = [one for one in planned if isinstance(one, WrongFile)]
    if wrong and (sampling.strict or len(wrong) == len(planned)):
        problems = [problem for one in wrong for problem in one.problems]
        raise first_error(problems, is_linted=not reach.connections)
    return planned


def check_recorded(tests: Iterable[Test | WrongFile], reach: Reach, trust: Trust) -> None:
    """Raise an InputError if a resumed run would do what only its run folder asks for.

    That is to run code of another project, or to send secrets to a server that the user named
    nowhere else.
    """
    servers = [reach.url] if reach.url else []
    if reach.host:
        named = address("http", reach.host, reach.port or 1)
        servers.append(named if reach.port else named.removesuffix(":1"))
    for test in tests:
        if isinstance(test, Test) and test.connection == PYTHON:
            trust.check_project(test.file.path)
        elif isinstance(test, Test) and _sends_secrets(test):
            for server in servers:
                trust.check_server(server, is_verified=reach.verify and reach.ca_file is None)


def _sends_secrets(test: Test) -> bool:
    """Return whether a server gets something that is not for everybody."""
    if test.connection in (_COMMAND, "direct"):
        return False
    has_key = test.connection in _KEYED and bool(os.environ.get(Settings("").key_variable))
    return has_key or bool(test.file.secrets or test.file.metadata)


def list_units(
    tests: Sequence[Test | WrongFile], reach: Reach, sampling: Sampling
) -> Iterator[Unit]:
    """List tests as the cases of a run; another address or ratio is another input."""
    for place, test in enumerate(tests):
        if isinstance(test, WrongFile):
            yield Unit(test.identifier, place, "", test)
            continue
        fingerprint = values.fingerprint(
            test.file.fingerprint, test.connection, str(test.ratio), asdict(reach),
            sampling.takes_all,
        )  # fmt: skip
        yield Unit(test.identifier, place, fingerprint, test)


class Places:
    """The places for conversations with one server, given to those who wait in their order."""

    def __init__(self, count: int) -> None:
        self._turn = asyncio.Lock()
        self._free = asyncio.Semaphore(count)

    @asynccontextmanager
    async def take(self, count: int = 1) -> AsyncIterator[None]:
        """Hold so many places, once there are so many at the same time."""
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


class Running:
    """What all tests of a run share: the judge, and the places for conversations."""

    def __init__(
        self,
        reach: Reach,
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
        self._places = defaultdict[str, Places](lambda: Places(self._sampling.max_connections))
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

    async def run(self, unit: Unit, parts: Kept) -> CaseRecord:
        """The record of one test."""
        if isinstance(unit.payload, WrongFile):
            return wrong_file_record(unit, unit.payload.problems)
        test: Test = unit.payload
        started = time.perf_counter()
        secrets = dict(test.file.secrets)
        with metered() as meter:
            try:
                connection = open_connection(test.connection, self._settings(test))
                secrets |= credentials_of(connection)
                try:
                    decision, reports = await self._taken(test, connection, parts)
                finally:
                    await connection.close()
            except (InputError, BudgetExceeded) as error:
                redact_error(error, redactor(secrets))
                if isinstance(error, BudgetExceeded) or self._sampling.strict:
                    raise
                return wrong_input_record(unit, f"{test.file.path}: {error}")
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
            template=test.file.template,
            command=reach.words,
            code_rules=self._trust.for_file(test.file.path),
        )

    async def _taken(
        self, test: Test, connection: Connection, parts: Kept
    ) -> tuple[Decision, list[VerifierReport]]:
        """Wait for places and take the samples of a test.

        A test with a limit gets all its places at once and keeps them: if it had to share them, the
        time that others take would be on its clock.
        """
        places = self._places[test.connection]
        if test.file.timeout is None:
            return await self._sampled(test, connection, parts, places.take)
        async with places.take(self._sampling.lanes(test.ratio)):
            return await self._sampled(test, connection, parts, _nothing)

    async def _sampled(
        self, test: Test, connection: Connection, parts: Kept, place: Place
    ) -> tuple[Decision, list[VerifierReport]]:
        """Take samples until the verdict is certain, or the test's own time is over."""
        watch = Stopwatch(test.file.timeout)
        sampler = Sampler(test.file, connection, self._judge, watch, place, self._sampling.retries)
        samples = _Samples(test, Tally(test.ratio, self._sampling.takes_all), parts)

        async def lane() -> None:
            while not watch.is_over and (index := samples.next()) is not None:
                try:
                    report = await sampler.take(samples.case(index), samples.earlier(index))
                except TimeIsOver:
                    # What still talks at the end of the time was not taken.
                    return
                samples.finish(index, report)
                self._on_sample()

        lanes = self._sampling.lanes(test.ratio)
        await _until(samples.decided, [lane() for _ in range(lanes)])
        decision = samples.tally.decision
        if decision is not None:
            return decision, samples.reports(decision.taken)
        assert test.file.timeout is not None
        return samples.tally.at_limit(test.file.timeout), samples.all_reports()


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield


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

    def earlier(self, index: int) -> Requests:
        """Return what an earlier pass of the run asked the agent for this sample, to no avail."""
        kept = self._parts.get(f"requests {index + 1}")
        return Requests() if kept is None else Requests(*kept)

    def finish(self, index: int, report: VerifierReport) -> None:
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


def _told(error: Exception, conceal: Callable[[str], str]) -> str:
    if isinstance(error, ConnectionFailed):
        return error.told(conceal)
    return conceal(str(error) if isinstance(error, AssayError) else format_exception(error))


def _broken(reason: str) -> Decision:
    return Decision(Outcome.ERROR, reason, 0, is_early=True)
