"""Runs synchronous work on all cores of this machine: in forks of this process, or in threads."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import pickle
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from assay.model import CaseRecord, FinishedCase
from assay.processes import Channel, Child, Codec, refuse_exits
from assay.runs.dispatch import Dispatcher, Lane, LaneLostError, UnsendableError
from assay.runs.elsewhere import Message, SentStep, StepRunner
from assay.runs.writer import Parts, Unit
from assay.tracebacks import describe

logger = logging.getLogger("assay")

_BYTES = Codec(bytes, bytes)
_NOTHING_MORE = b""
_TRIES = 2
"""How often a case may end its process: among others, and then alone."""


class _LocalLane(Lane, Protocol):
    """A lane of this machine."""

    def close(self) -> None:
        """End what runs in it."""


class ForkLane:
    """Runs batches in a fork of this process, which needs nothing that can be imported."""

    def __init__(self, runner: StepRunner) -> None:
        self._runner = runner
        self._child: Child | None = None

    async def run(self, batch: list[Any]) -> AsyncIterator[list[Message]]:
        """Run pickled steps; raise LaneLostError if the process ends."""
        if self._child is None:
            self._child = Child.fork(self._serve, _BYTES)
        try:
            await self._child.send(pickle.dumps(batch))
            while (answer := (await self._child.receive())[0]) != _NOTHING_MORE:
                yield pickle.loads(answer)  # noqa: S301 - our own fork
        except EOFError:
            raise LaneLostError(await self._child.describe_end()) from None

    def _serve(self, channel: Channel) -> None:
        with contextlib.suppress(EOFError), refuse_exits():
            while True:
                request, _ = channel.receive()
                batch = pickle.loads(request)  # noqa: S301 - of the process that this is a fork of
                for messages in self._runner.run_straight(batch):
                    channel.send(pickle.dumps(messages))
                channel.send(_NOTHING_MORE)

    def close(self) -> None:
        """Kill the process and what it has started."""
        if self._child is not None:
            self._child.kill()


class ThreadLane:
    """Runs batches in a thread of this process."""

    def __init__(self, runner: StepRunner) -> None:
        self._runner = runner
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="assay-lane")

    async def run(self, batch: list[Any]) -> AsyncIterator[list[Message]]:
        """Run steps."""
        loop = asyncio.get_running_loop()
        box: asyncio.Queue[list[Message]] = asyncio.Queue()

        def work() -> None:
            try:
                for messages in self._runner.run_straight(batch):
                    loop.call_soon_threadsafe(box.put_nowait, messages)
            finally:
                loop.call_soon_threadsafe(box.put_nowait, [])

        working = loop.run_in_executor(self._thread, work)
        while messages := await box.get():
            yield messages
        await working

    def close(self) -> None:
        """Let the thread end once its task has."""
        self._thread.shutdown(wait=False, cancel_futures=True)


class LocalWorker(AbstractAsyncContextManager["LocalWorker"]):
    """A worker that never suspends, run several times at once.

    A case that cannot be sent to another process runs in a thread of this one, which is said once.
    """

    def __init__(
        self,
        opened: AbstractAsyncContextManager[Any],
        subject: str,
        jobs: int,
        *,
        uses_threads: bool = False,
    ) -> None:
        self._opened, self._jobs, self._uses_threads = opened, jobs, uses_threads
        encode = _pass_on if uses_threads else encode_for_fork
        self.dispatcher = Dispatcher(subject, encode, tries=_TRIES)
        self._subject = subject
        self._serving: list[asyncio.Task[None]] = []
        self._here: Dispatcher | None = None

    async def __aenter__(self) -> LocalWorker:
        self._runner = StepRunner(await self._opened.__aenter__())
        for _ in range(self._jobs):
            self._start(self.dispatcher, is_thread=self._uses_threads)
        return self

    def _start(self, dispatcher: Dispatcher, *, is_thread: bool) -> None:
        task = asyncio.create_task(self._keep_lane(dispatcher, is_thread))
        task.add_done_callback(lambda done: _pass_failure(done, dispatcher))
        self._serving.append(task)

    async def _keep_lane(self, dispatcher: Dispatcher, is_thread: bool) -> None:
        """Serve a lane; start another when its process has ended."""
        while True:
            lane: _LocalLane = ThreadLane(self._runner) if is_thread else ForkLane(self._runner)
            with contextlib.closing(lane), contextlib.suppress(LaneLostError):
                await dispatcher.serve(lane)

    async def __aexit__(self, *about: object) -> None:
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await self._opened.__aexit__(*about)  # type: ignore[arg-type]

    async def run(self, unit: Unit, parts: Parts) -> CaseRecord | FinishedCase:
        """Return the record of one case."""
        try:
            return await self.dispatcher.run(unit, parts)
        except UnsendableError as reason:
            if self._here is None:
                logger.warning(
                    "%s: %s; such cases run one at a time in this process; with --threads all "
                    "run side by side in it",
                    unit.id,
                    reason,
                )
                self._here = Dispatcher(self._subject, _pass_on, tries=1)
                self._start(self._here, is_thread=True)
            return await self._here.run(unit, parts)


def _pass_on(sent: SentStep) -> SentStep:
    return sent


def encode_for_fork(sent: SentStep) -> bytes:
    """Return a step as bytes; raise UnsendableError if it has something that cannot be pickled."""
    try:
        return pickle.dumps(sent)
    except Exception as error:
        # Whatever the user's own objects raise.
        raise UnsendableError(f"it cannot be sent to a worker process: {describe(error)}") from None


def _pass_failure(task: asyncio.Task[None], dispatcher: Dispatcher) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        dispatcher.fail(error)
