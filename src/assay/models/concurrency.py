"""How many calls run at a time: more while they succeed, half as many when a provider is busy."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

FIRST_LIMIT = 4.0


class AdaptiveConcurrency:
    """A limit that finds what a provider bears; a pause asked of one call holds for all."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = min(FIRST_LIMIT, float(most))
        self._busy = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._cut_at = 0.0
        self._resume_at = 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Around one call."""
        await self._take()
        try:
            # Again after a sleep: meanwhile another call may have been told to wait longer.
            while (left := self._resume_at - time.monotonic()) > 0:
                await asyncio.sleep(left)
            yield
        finally:
            self._busy -= 1
            self._wake()

    def succeeded(self) -> None:
        """One call more per round of calls that all went well."""
        self.limit = min(float(self.most), self.limit + 1 / self.limit)
        self._wake()

    def overloaded(self, started: float, pause: float = 0.0) -> None:
        """Halve the limit, once for all calls that were under way together."""
        now = time.monotonic()
        self._resume_at = max(self._resume_at, now + pause)
        if started >= self._cut_at:
            self.limit = max(1.0, self.limit / 2)
            self._cut_at = now

    async def _take(self) -> None:
        while self._busy >= int(self.limit):
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            try:
                await future
            except asyncio.CancelledError:
                # The turn it may have been given already belongs to the next.
                self._wake()
                raise
            finally:
                if future in self._waiting:
                    self._waiting.remove(future)
        self._busy += 1

    def _wake(self) -> None:
        for _ in range(int(self.limit) - self._busy):
            if not self._waiting:
                return
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
