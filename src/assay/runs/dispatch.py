"""Sends steps in batches to lanes that run them elsewhere, and repeats what a lost lane had."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from assay.model import FinishedCase, Outcome
from assay.runs import elsewhere as kinds
from assay.runs.elsewhere import BATCH_SECONDS, Message, SentStep, unpack
from assay.runs.engine import Chain, Step
from assay.runs.writer import Parts, Unit, make_error_record

MOST_STEPS = 1_024
_LARGEST_BATCH = 64 * 1024
"""Bytes after which no further step is added to a batch."""

_LINGER_SECONDS = 0.005


class LaneLostError(Exception):
    """The process or the machine of a lane has ended; the text says how."""


class UnsendableError(Exception):
    """A step cannot be sent to another process; the text says why."""


class Lane(Protocol):
    """Runs one batch at a time in another process."""

    def run(self, batch: list[Any]) -> AsyncIterator[list[Message]]:
        """Run steps as `encode` has made them; raise LaneLostError if the process ends."""


@dataclass(eq=False)
class _Job:
    """A step that waits or runs."""

    step: Step
    parts: Parts | None
    future: asyncio.Future[FinishedCase]
    members: asyncio.Queue[tuple[Unit, FinishedCase] | None] = field(default_factory=asyncio.Queue)
    """Those of a chain, as they come; None after the last."""
    losses: list[str] = field(default_factory=list)
    """How the lanes ended that had it."""


@dataclass
class _Batch:
    """Steps that are sent together, and what is sent of each."""

    jobs: list[_Job] = field(default_factory=list)
    encoded: list[Any] = field(default_factory=list)
    size: int = 0

    def takes(self, job: _Job) -> bool:
        """Return whether another step may be added."""
        # What was lost before runs alone: it may be what ends its process.
        is_suspect = bool(self.jobs and (self.jobs[0].losses or job.losses))
        return not is_suspect and self.size < _LARGEST_BATCH

    def add(self, job: _Job, encoded: Any) -> None:
        self.jobs.append(job)
        self.encoded.append(encoded)
        self.size += len(encoded) if isinstance(encoded, bytes) else 0


class Dispatcher:
    """Runs the steps of a run in lanes: a worker whose work is done elsewhere.

    `encode` makes of a step what a lane takes, or raises UnsendableError. A step that was lost
    `tries` times with its lane is an error of its case.
    """

    def __init__(self, subject: str, encode: Callable[[SentStep], Any], *, tries: int) -> None:
        self._subject, self._encode, self._tries = subject, encode, tries
        self._queue: deque[_Job] = deque()
        self._sizes: dict[Lane, int] = {}
        self._has_steps, self._has_room = asyncio.Event(), asyncio.Event()
        self._failure: BaseException | None = None

    @property
    def waiting(self) -> int:
        """Return how many steps wait for a lane."""
        return len(self._queue)

    async def wait_for_room(self) -> None:
        """Wait until the lanes can take another step soon, so that few are held."""
        while len(self._queue) >= sum(self._sizes.values()):
            self._check()
            self._has_room.clear()
            await self._has_room.wait()

    async def run(self, unit: Unit, parts: Parts) -> FinishedCase:
        """Return the record of one case; raise UnsendableError if it cannot be sent."""
        return await self._add(unit, parts).future

    async def follow(self, chain: Chain) -> AsyncIterator[tuple[Unit, FinishedCase]]:
        """Yield every case of a chain with its record, once, also if it has to be run again."""
        job = self._add(chain, None)
        met: set[str] = set()
        while (member := await job.members.get()) is not None:
            unit, record = member
            if unit.id not in met:
                met.add(unit.id)
                yield unit, record
        if (record := await job.future).outcome is Outcome.ERROR:
            yield _find_unit(chain)._replace(place=chain.place + len(met)), record

    def _add(self, step: Step, parts: Parts | None) -> _Job:
        self._check()
        job = _Job(step, parts, asyncio.get_running_loop().create_future())
        self._queue.append(job)
        self._has_steps.set()
        return job

    def fail(self, error: BaseException) -> None:
        """End the run with an exception."""
        self._failure = error
        self._has_room.set()
        while self._queue:
            _settle(self._queue.popleft(), error)

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    async def serve(self, lane: Lane) -> None:
        """Send batches to a lane until it is lost, which raises LaneLostError."""
        self._sizes[lane] = 1
        self._has_room.set()
        try:
            while True:
                batch = await self._take(lane)
                started = time.monotonic()
                await self._run_batch(lane, batch)
                self._adapt(lane, len(batch.jobs), time.monotonic() - started)
        finally:
            del self._sizes[lane]

    async def _take(self, lane: Lane) -> _Batch:
        """Wait for a step; return it with as many more as the lane does in one go."""
        batch = _Batch()
        while not batch.jobs:
            while not self._queue:
                self._has_steps.clear()
                await self._has_steps.wait()
            if len(self._queue) < self._sizes[lane]:
                # More come in a moment, and a batch costs more than a quick step.
                await asyncio.sleep(_LINGER_SECONDS)
            # Not more than its share, so that the last steps are spread over all lanes.
            most = min(self._sizes[lane], -(-len(self._queue) // len(self._sizes)))
            while self._queue and len(batch.jobs) < most and batch.takes(self._queue[0]):
                self._move(self._queue.popleft(), batch)
        self._has_room.set()
        return batch

    def _move(self, job: _Job, batch: _Batch) -> None:
        """Add a job to a batch, unless the run no longer waits for it or it cannot be sent."""
        if job.future.done():
            return
        known = job.parts.get_all() if job.parts is not None else {}
        try:
            batch.add(job, self._encode(SentStep(job.step, known)))
        except UnsendableError as error:
            _settle(job, error)

    def _adapt(self, lane: Lane, steps: int, seconds: float) -> None:
        """Let the next batch take about as long as a batch should."""
        fitting = int(steps * BATCH_SECONDS / max(seconds, 1e-6))
        self._sizes[lane] = max(1, min(fitting, 2 * self._sizes[lane], MOST_STEPS))

    async def _run_batch(self, lane: Lane, batch: _Batch) -> None:
        left = dict(enumerate(batch.jobs))
        try:
            async for messages in lane.run(batch.encoded):
                for message in messages:
                    if self._receive(batch.jobs[message.position], message):
                        del left[message.position]
            if left:
                raise LaneLostError("it gave no result")
        except LaneLostError as lost:
            for job in left.values():
                self._repeat(job, str(lost))
            raise
        except Exception as error:
            self.fail(error)
            for job in left.values():
                _settle(job, error)
            raise

    def _receive(self, job: _Job, message: Message) -> bool:
        """Take in a message; return whether it is the last of its step."""
        match message.kind:
            case kinds.PART:
                assert job.parts is not None
                job.parts.keep(*message.data)
                return False
            case kinds.MEMBER:
                unit, packed = message.data
                job.members.put_nowait((unit, unpack(packed, unit, self._subject)))
                return False
            case kinds.RETURNED:
                self._put_back(job)
            case kinds.RAISED:
                _settle(job, message.data)
            case kinds.FAILED:
                self._settle_as_error(job, message.data)
            case kinds.RECORD:
                assert isinstance(job.step, Unit)
                _settle(job, unpack(message.data, job.step, self._subject))
            case _:
                _settle(job, _ENDED)
        return True

    def _put_back(self, job: _Job) -> None:
        self._queue.appendleft(job)
        self._has_steps.set()

    def _repeat(self, job: _Job, reason: str) -> None:
        """Run a step again, or make it an error if it was lost too often."""
        job.losses.append(reason)
        if len(job.losses) < self._tries:
            self._put_back(job)
            return
        times = f"{len(job.losses)} times; the last one" if self._tries > 1 else "and"
        self._settle_as_error(job, f"its worker was lost {times} {reason}")

    def _settle_as_error(self, job: _Job, reason: str) -> None:
        record = make_error_record(_find_unit(job.step), self._subject, reason)
        _settle(job, FinishedCase(record.outcome, record.pack()))


def _find_unit(step: Step) -> Unit:
    """Return what the record of a step that was lost is about."""
    if isinstance(step, Unit):
        return step
    return Unit(f"{step.id}/(lost)", step.place, step.fingerprint, None)


def _settle(job: _Job, result: FinishedCase | BaseException) -> None:
    if job.future.done():
        return
    if isinstance(result, FinishedCase):
        job.future.set_result(result)
    else:
        job.future.set_exception(result)
        # Whoever waits for it may be cancelled before it looks, which is no mistake.
        job.future.exception()
    job.members.put_nowait(None)


_ENDED = FinishedCase(Outcome.PASSED, {})
"""What a chain ends with: its cases have records of their own."""
