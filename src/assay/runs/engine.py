"""The engine: takes cases from an iterator, runs a few at a time and writes each record once.

Cases are never all held in memory. Work that never awaits runs without an event loop.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import sys
import threading
import time
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
)
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TextIO, TypeAlias, TypeVar

from assay.errors import AssayError, InfrastructureError, InputError
from assay.model import CaseRecord, FinishedCase, Outcome
from assay.runs.journal import SYNC_SECONDS
from assay.runs.writer import Parts, RunWriter, Unit
from assay.tracebacks import describe, origin
from assay.traces import enter_case

Work: TypeAlias = Callable[[Unit, Parts], Awaitable[CaseRecord | FinishedCase]]


T = TypeVar("T")


@dataclass(frozen=True)
class Chain:
    """Cases that depend on those before them: one lane runs them in order, from the first on.

    A resumed run repeats an unfinished chain as a whole, because the state of its later cases is
    gone, and writes only the missing records.
    """

    id: str
    fingerprint: str
    payload: Any
    place: int = 0
    """Where its cases come among all others."""

    @property
    def unit(self) -> Unit:
        """The chain as a unit that can have parts; it never has a record."""
        return Unit(f"chain {self.id}", -1, self.fingerprint, None)


Step: TypeAlias = Unit | Chain


Follow: TypeAlias = Callable[[Chain], AsyncIterator[tuple[Unit, CaseRecord | FinishedCase]]]


"""Runs a chain: yields every case of it with its record, in order."""


class Progress(Protocol):
    """Receives progress events of the engine; see `TerminalProgress` for the terminal version."""

    def count_case(self, outcome: Outcome) -> None: ...

    def count_stored(self) -> None: ...


class NoProgress:
    """A progress that shows nothing."""

    def count_case(self, outcome: Outcome) -> None: ...

    def count_stored(self) -> None: ...


def execute(
    path: Path,
    units: Iterable[Step] | AsyncIterable[Step],
    work: Work,
    *,
    jobs: int = 1,
    waits: bool = True,
    progress: Progress | None = None,
    around: AbstractAsyncContextManager[Any] | None = None,
    follow: Follow | None = None,
    wait_for_room: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Run the units that have no record yet, `jobs` at a time, and write their records.

    If units must be awaited, their source is asynchronous; some may be chains, which `follow` runs.
    With `wait_for_room` a unit is drawn as soon as that returns, and `jobs` does not count.

    `around` is entered before the first and left after the last, in the event loop they run in.
    `waits` False promises that `work` never suspends; it then runs in the calling thread as a plain
    loop. An interrupt or an error leaves a run that can be resumed.
    """
    if jobs < 1:
        raise InputError(f"jobs must be at least 1, not {jobs}")
    try:
        with RunWriter(path) as writer:
            shown = progress or NoProgress()
            source = _Source(units) if isinstance(units, Iterable) else _AwaitedSource(units)
            if waits:
                steps = _Steps(work, follow)
                lanes = (
                    _lanes(writer, source, steps, jobs, shown)
                    if wait_for_room is None
                    else _feed(writer, source, steps, wait_for_room, shown)
                )
                run_in_loop(_run_around(_sync_around(writer, lanes), around))
            else:
                assert isinstance(source, _Source)
                run_straight(
                    _run_around(_lane(writer, source, _Steps(work, follow), shown), around)
                )
            if not source.is_exhausted:
                raise InputError(
                    "a task cancelled the run",
                    advice=f"what is finished is kept; continue with: assay runs resume {path}",
                )
            writer.finish()
    except SystemExit as error:
        # Not propagated: it would end Assay with a foreign exit code.
        raise InputError(
            f"the run was ended from within: {describe(error)}", where=origin(error)
        ) from error
    except sqlite3.Error as error:
        # It can be rebuilt: the next process that opens the run does so.
        (path.absolute() / "index.sqlite").unlink(missing_ok=True)
        raise InfrastructureError(
            f"the index of the run cannot be kept: {error}",
            where=str(path / "index.sqlite"),
            advice=f"nothing is lost; continue with: assay runs resume {path}",
        ) from error


class _Source:
    """The units, drawn by all lanes; exceptions of their iterator become input errors."""

    def __init__(self, units: Iterable[Step]) -> None:
        self._units = units
        self._iterator: Iterator[Step] | None = None
        self._drawn = 0
        self.is_exhausted = False

    def __iter__(self) -> Iterator[Step]:
        return self

    def __next__(self) -> Step:
        if self.is_exhausted:
            raise StopIteration
        try:
            if self._iterator is None:
                self._iterator = iter(self._units)
            unit = next(self._iterator)
        except StopIteration:
            self.is_exhausted = True
            raise
        except (AssayError, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise _make_break_error(self._drawn, error) from error
        self._drawn += 1
        return unit


class _AwaitedSource:
    """The same for async iterators; one lane draws at a time."""

    def __init__(self, units: AsyncIterable[Step]) -> None:
        self._units = units
        self._iterator: AsyncIterator[Step] | None = None
        self._drawing = asyncio.Lock()
        self._drawn = 0
        self.is_exhausted = False

    def __aiter__(self) -> AsyncIterator[Step]:
        return self

    async def __anext__(self) -> Step:
        async with self._drawing:
            if self.is_exhausted:
                raise StopAsyncIteration
            try:
                if self._iterator is None:
                    self._iterator = aiter(self._units)
                unit = await anext(self._iterator)
            except StopAsyncIteration:
                self.is_exhausted = True
                raise
            except (AssayError, KeyboardInterrupt, asyncio.CancelledError):
                raise
            except BaseException as error:
                raise _make_break_error(self._drawn, error) from error
            self._drawn += 1
            return unit


def _make_break_error(drawn: int, error: BaseException) -> InputError:
    return InputError(f"the cases broke off after {drawn}: {describe(error)}", where=origin(error))


@dataclass(frozen=True)
class _Steps:
    """Processes the steps of a run."""

    run: Work
    follow: Follow | None


async def _run_around(
    work: Coroutine[Any, Any, None], around: AbstractAsyncContextManager[Any] | None
) -> None:
    async with around or nullcontext():
        await work


async def _lanes(
    writer: RunWriter, source: _Source | _AwaitedSource, work: _Steps, jobs: int, progress: Progress
) -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(jobs):
            if isinstance(source, _Source):
                group.create_task(_lane(writer, source, work, progress))
            else:
                group.create_task(_awaiting_lane(writer, source, work, progress))


async def _feed(
    writer: RunWriter,
    source: _Source | _AwaitedSource,
    work: _Steps,
    wait_for_room: Callable[[], Awaitable[None]],
    progress: Progress,
) -> None:
    """Run every step in a task of its own, drawn when there is room for it."""
    async with asyncio.TaskGroup() as group:
        while True:
            await wait_for_room()
            try:
                step = await anext(source) if isinstance(source, _AwaitedSource) else next(source)
            except (StopIteration, StopAsyncIteration):
                return
            group.create_task(_take(writer, step, work, progress))
            # The task puts its step where room is counted.
            await asyncio.sleep(0)


async def _sync_around(writer: RunWriter, work: Coroutine[Any, Any, None]) -> None:
    """Run the lanes of a run, with its journal flushed to disk again and again."""
    syncing = asyncio.create_task(_keep_syncing(writer))
    try:
        await work
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None
    finally:
        syncing.cancel()


async def _lane(writer: RunWriter, source: _Source, work: _Steps, progress: Progress) -> None:
    for step in source:
        await _take(writer, step, work, progress)


async def _awaiting_lane(
    writer: RunWriter, source: _AwaitedSource, work: _Steps, progress: Progress
) -> None:
    async for step in source:
        await _take(writer, step, work, progress)


async def _take(writer: RunWriter, step: Step, work: _Steps, progress: Progress) -> None:
    if type(step) is Chain:
        assert work.follow is not None, "whoever lists chains can follow them"
        await _follow(writer, step, work.follow, progress)
        return
    assert type(step) is Unit
    if not writer.wants(step):
        progress.count_stored()
        return
    with enter_case(step.id):
        record = await work.run(step, Parts(writer, step))
    writer.add(step, record)
    progress.count_case(record.outcome)


async def _follow(writer: RunWriter, chain: Chain, follow: Follow, progress: Progress) -> None:
    """Run a chain, unless an earlier pass ran all of it and nothing in it is to run again."""
    parts = Parts(writer, chain.unit)
    known: list[tuple[str, int, str]] = parts.get(_MEMBERS) or []
    before = [Unit(name, place, fingerprint, None) for name, place, fingerprint in known]
    if before and all(writer.has(unit) for unit in before):
        for unit in before:
            writer.wants(unit)
            progress.count_stored()
        return
    members = []
    async for unit, record in follow(chain):
        members.append(list(unit[:3]))
        if writer.wants(unit):
            writer.add(unit, record)
            progress.count_case(record.outcome)
        else:
            progress.count_stored()
    parts.keep(_MEMBERS, members)


_MEMBERS = "members"


async def _keep_syncing(writer: RunWriter) -> None:
    while True:
        await asyncio.sleep(SYNC_SECONDS)
        writer.sync()


def run_straight(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends, without an event loop.

    So a synchronous task may itself use `asyncio.run`, and Ctrl-C interrupts it at once.
    """
    try:
        work.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    work.close()
    raise RuntimeError("work that promised never to wait has waited")


def run_in_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a new event loop, even if one is already running (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    ended: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            ended.append(asyncio.run(work))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="assay-run")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return ended[0]


REFRESH_SECONDS = 0.1


class TerminalProgress:
    """Rewrites one line of a terminal, a few times a second."""

    def __init__(self, total: int | None = None, stream: TextIO | None = None) -> None:
        self._total = total
        self._stream = stream or sys.stderr
        self._counts = dict.fromkeys(Outcome, 0)
        self._kept = 0
        self._samples = 0
        self._started = time.monotonic()
        self._shown_at = 0.0
        self._width = 0

    def count_case(self, outcome: Outcome) -> None:
        self._counts[outcome] += 1
        self._refresh()

    def count_stored(self) -> None:
        self._kept += 1
        self._refresh()

    def count_sample(self) -> None:
        """Count one more finished sample of a case that has several."""
        self._samples += 1
        self._refresh()

    def _refresh(self) -> None:
        now = time.monotonic()
        if now - self._shown_at >= REFRESH_SECONDS:
            self._shown_at = now
            self._show(self.line(now - self._started))

    def line(self, elapsed: float) -> str:
        """Return the progress line after the given number of seconds."""
        ran = sum(self._counts.values())
        done = ran + self._kept
        parts = [f"{done:,}" + (f"/{self._total:,}" if self._total is not None else "") + " cases"]
        parts += [f"{count:,} {outcome}" for outcome, count in self._counts.items() if count]
        if self._samples:
            parts.append(f"{self._samples:,} samples")
        if self._kept:
            parts.append(f"{self._kept:,} finished before")
        if ran and elapsed > 0:
            rate = ran / elapsed
            parts.append(f"{rate:,.1f}/s")
            if self._total is not None and done < self._total:
                parts.append(f"{_clock((self._total - done) / rate)} left")
        return "  ".join(parts)

    def _show(self, line: str) -> None:
        line = line[: shutil.get_terminal_size().columns - 1]
        self._stream.write("\r" + line.ljust(self._width))
        self._stream.flush()
        self._width = len(line)

    def close(self) -> None:
        """Remove the line, so that further output starts on a clean one."""
        if self._width:
            self._show("")
            self._stream.write("\r")
            self._stream.flush()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
