"""Work at the edges of a conversation that is not the agent's: what begins it, what ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from assay.agents.connections.protocol import ConnectionFailed

T = TypeVar("T")

_BEGINNING = 30.0
_FAREWELL = 2.0


async def begin(work: Coroutine[Any, Any, T]) -> T:
    """Return what begins a conversation; a server that takes too long for it is an outage."""
    try:
        async with asyncio.timeout(_BEGINNING) as limit:
            return await work
    except TimeoutError:
        if not limit.expired():
            raise
        raise ConnectionFailed(
            f"the server did not begin a conversation within {_BEGINNING:g} s"
        ) from None


class Farewells:
    """Tells servers that conversations are over, without making anyone wait for it."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, farewell: Coroutine[Any, Any, None]) -> None:
        """Say it beside everything else; whether it is heard makes no difference."""
        task = asyncio.create_task(_say(farewell))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Give what is still being said a moment."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=_FAREWELL)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)


async def _say(farewell: Coroutine[Any, Any, None]) -> None:
    with suppress(ConnectionFailed, TimeoutError):
        async with asyncio.timeout(_FAREWELL):
            await farewell
