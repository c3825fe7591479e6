"""A pool of reusable child processes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Generic, Protocol, TypeVar


class _Member(Protocol):
    """Interface of pool members."""

    @property
    def has_ended(self) -> bool: ...

    async def close(self) -> None: ...


M = TypeVar("M", bound=_Member)


class Pool(Generic[M]):
    """A pool that creates members on demand and keeps them for reuse."""

    def __init__(self, start: Callable[[], Awaitable[M]]) -> None:
        self._start = start
        self.idle: list[M] = []
        self.busy: set[M] = set()

    @contextlib.asynccontextmanager
    async def take(self) -> AsyncIterator[M]:
        """Borrow a member for a block; if the block raises, the member is closed."""
        member = self.idle.pop() if self.idle else await self._start()
        self.busy.add(member)
        try:
            yield member
        except BaseException:
            # Its state is unknown, and work for a caller that has left must not continue.
            await member.close()
            raise
        finally:
            self.busy.discard(member)
        if member.has_ended:
            await member.close()
        else:
            self.idle.append(member)

    async def close(self) -> None:
        """Close the idle members."""
        idle, self.idle = self.idle, []
        await asyncio.gather(*(member.close() for member in idle))
