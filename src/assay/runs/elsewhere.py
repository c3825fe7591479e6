"""Runs batches of steps in another process, and the messages that it sends to the run."""

from __future__ import annotations

import asyncio
import pickle
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from assay.errors import AssayError, InfrastructureError
from assay.model import CaseRecord, FinishedCase, Outcome
from assay.runs.engine import Chain, Step, run_straight
from assay.runs.writer import Unit, make_error_record
from assay.tracebacks import describe, format_exception

BATCH_SECONDS = 0.25
"""No further step of a batch is started after this time."""
_FLUSH_SECONDS = 0.05
"""So long a finished record waits at most for others to be sent with it."""


class SentStep(NamedTuple):
    """A step as it is sent, with the parts of it that are already finished."""

    step: Step
    parts: Mapping[str, Any]


class Message(NamedTuple):
    """News of one step of a batch; `position` is that of the step in the batch."""

    kind: str
    position: int
    data: Any = None


RECORD = "record"
PART = "part"
MEMBER = "member"
"""A finished case of a chain."""
ENDED = "ended"
"""The chain is finished."""
RETURNED = "returned"
"""The step was not started, because the time of the batch is over."""
FAILED = "failed"
"""The step could not be read, so it has no record; the data says why."""
RAISED = "raised"
"""The worker raised what ends the run."""


class PartsElsewhere:
    """Parts of a step that runs elsewhere: those sent with it, and those it sends back."""

    def __init__(self, known: Mapping[str, Any], send: Callable[[Any], None]) -> None:
        self._known, self._send = dict(known), send

    def get(self, key: str) -> Any:
        """Return the value that is stored under a key, or None."""
        return self._known.get(key)

    def keep(self, key: str, value: Any) -> None:
        """Send a finished part to the run, which stores it."""
        self._known[key] = value
        self._send((key, value))


@dataclass(frozen=True)
class StepRunner:
    """Runs batches of steps, pickled or not, with an open worker."""

    worker: Any
    """A `Worker`; one whose cases depend on each other also has `follow`."""
    seconds: float = BATCH_SECONDS

    def run_straight(self, batch: list[SentStep | bytes]) -> Iterator[list[Message]]:
        """Run steps of a worker that never suspends, in this thread."""
        started = flushed = time.monotonic()
        messages: list[Message] = []
        for position, sent in enumerate(batch):
            now = time.monotonic()
            if position and now - started >= self.seconds:
                messages += [Message(RETURNED, left) for left in range(position, len(batch))]
                break
            if messages and now - flushed >= _FLUSH_SECONDS:
                yield messages
                messages, flushed = [], now
            run_straight(self._run(position, sent, messages.append))
        yield messages

    async def run(self, batch: list[SentStep | bytes]) -> AsyncIterator[list[Message]]:
        """Run steps one after the other; yield the messages of a step while it runs."""
        box: asyncio.Queue[Message | None] = asyncio.Queue()
        task = asyncio.create_task(self._run_all(batch, box))
        is_open = True
        try:
            while is_open:
                messages = [await box.get()]
                while not box.empty():
                    messages.append(box.get_nowait())
                is_open = messages[-1] is not None
                yield [one for one in messages if one is not None]
            await task
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _run_all(
        self, batch: list[SentStep | bytes], box: asyncio.Queue[Message | None]
    ) -> None:
        started = time.monotonic()
        try:
            for position, sent in enumerate(batch):
                if position and time.monotonic() - started >= self.seconds:
                    box.put_nowait(Message(RETURNED, position))
                else:
                    await self._run(position, sent, box.put_nowait)
        finally:
            box.put_nowait(None)

    async def _run(
        self, position: int, given: SentStep | bytes, send: Callable[[Message], None]
    ) -> None:
        try:
            sent = pickle.loads(given) if isinstance(given, bytes) else given  # noqa: S301 - the run's
        except Exception as error:
            # The user's own objects may raise anything.
            reason = f"the case cannot be read in another process: {describe(error)}"
            return send(Message(FAILED, position, reason))
        try:
            if isinstance(sent.step, Chain):
                async for unit, record in self.worker.follow(sent.step):
                    send(Message(MEMBER, position, (unit._replace(payload=None), pack(record))))
                send(Message(ENDED, position))
            else:
                parts = PartsElsewhere(sent.parts, lambda part: send(Message(PART, position, part)))
                record = await self.worker.run(sent.step, parts)
                send(Message(RECORD, position, pack(record)))
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            send(Message(RAISED, position, to_portable(error)))


PackedRecord: TypeAlias = tuple[str, dict[str, Any]] | str
"""The outcome and the journal's short form of a record; or why it has none."""


def pack(record: CaseRecord | FinishedCase) -> PackedRecord:
    """Return a record as it is sent."""
    try:
        return record.outcome.value, record.pack()
    except (TypeError, ValueError, ArithmeticError, RecursionError) as error:
        return f"its result cannot be kept: {describe(error)}"


def unpack(packed: PackedRecord, unit: Unit, subject: str) -> FinishedCase:
    """Return a record that was sent; an error of the case if it could not be."""
    if isinstance(packed, str):
        return FinishedCase(Outcome.ERROR, make_error_record(unit, subject, packed).pack())
    return FinishedCase(Outcome(packed[0]), packed[1])


def to_portable(error: BaseException) -> BaseException:
    """Return an exception that can be sent: itself, or one that says the same."""
    if isinstance(error, AssayError | KeyboardInterrupt):
        return error
    try:
        # What cannot be read again would only fail on the other side.
        pickle.loads(pickle.dumps(error))  # noqa: S301 - made in this line
    except Exception:
        return InfrastructureError(f"a worker raised {format_exception(error)}")
    return error
