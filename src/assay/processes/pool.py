"""A pool of reusable child processes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Generic, Protocol, TypeVar


class _Member(Protocol):
    """What a pool can keep."""

    @property
    def has_ended(self) -> bool: ...

    async def close(self) -> None: ...


M = TypeVar("M", bound=_Member)


class Pool(Generic[M]):
    """As many members as are needed at the same time, each kept for the next who needs one."""

    def __init__(self, start: Callable[[], Awaitable[M]]) -> None:
        self._start = start
        self.idle: list[M] = []
        self.busy: set[M] = set()

    @contextlib.asynccontextmanager
    async def take(self) -> AsyncIterator[M]:
        """Have a member for the length of a block; one whose block raises is ended with it."""
        member = self.idle.pop() if self.idle else await self._start()
        self.busy.add(member)
        try:
            yield member
        except BaseException:
            # Its state is unknown, and what it does for somebody who left must not go on.
            await member.close()
            raise
        finally:
            self.busy.discard(member)
        if member.has_ended:
            await member.close()
        else:
            self.idle.append(member)

    async def close(self) -> None:
        """End the members that nobody has."""
        idle, self.idle = self.idle, []
        await asyncio.gather(*(member.close() for member in idle))
