"""Runs code that Assay does not control outside its event loop, so that time limits always hold.

A call that exceeds its time is abandoned in a daemon thread. The number of abandoned calls is
limited.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from assay.agents.connections.protocol import AgentFailed, ConnectionFailed

T = TypeVar("T")

_MOST_LEFT_BEHIND = 100
_FAREWELL = 0.5


class _Call:
    """A running call; tracked until its thread ends, even if it was abandoned."""

    is_left_behind = False


class Threads:
    """One thread per call; a hanging call does not delay the next one."""

    def __init__(self) -> None:
        self._running: set[_Call] = set()

    async def call(self, function: Callable[[], T]) -> T:
        """Return or raise the function's result; a cancelled call continues in the background."""
        if sum(each.is_left_behind for each in list(self._running)) >= _MOST_LEFT_BEHIND:
            raise ConnectionFailed(
                f"{_MOST_LEFT_BEHIND} calls of the agent exceeded their limit and never ended",
                advice="give the agent its own limit",
            )
        call, future = _Call(), Future[T]()
        self._running.add(call)
        self.start(lambda: self._settle(call, future, function))
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            call.is_left_behind = True
            raise

    def start(self, function: Callable[[], None]) -> None:
        """Run something in the background."""
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(function,), daemon=True).start()

    def _settle(self, call: _Call, future: Future[T], function: Callable[[], T]) -> None:
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(function())
            except BaseException as error:
                future.set_exception(_make_portable(error))
        self._running.discard(call)


class Loop:
    """An event loop in its own thread, for agents that are coroutines.

    They share one loop, because what they open (clients, locks) belongs to a loop; Assay's own loop
    stays free even if a coroutine blocks.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    async def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        async def guard() -> T:
            try:
                return await coroutine
            except (KeyboardInterrupt, SystemExit) as error:
                raise _make_portable(error) from None
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    raise
                raise AgentFailed("the agent cancelled itself") from None

        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(guard(), self._loop))

    async def close(self) -> None:
        """End what still runs; a coroutine that blocks ends later, unnoticed."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join, _FAREWELL)

    def _serve(self) -> None:
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(_cancel_others())
        finally:
            self._loop.close()


def _make_portable(error: BaseException) -> BaseException:
    """Return an error that can be passed between threads without ending the process or the loop."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return AgentFailed(f"the agent raised {type(error).__name__}")


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
