"""The limit of a test: it runs only while the agent is being talked to, not while others judge."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterator


class TimeIsOver(Exception):  # noqa: N818 - it says what is the case
    """The time of the whole test has ended: whoever is talking stops."""


class Stopwatch:
    """Counts the seconds in which at least one conversation is under way, up to a limit."""

    def __init__(self, limit: float | None = None) -> None:
        self._limit = limit
        self._talking = 0
        self._before = 0.0
        self._since = 0.0

    @property
    def seconds(self) -> float:
        now = time.monotonic() - self._since if self._talking else 0.0
        return self._before + now

    @property
    def is_over(self) -> bool:
        return self._limit is not None and self.seconds >= self._limit

    @contextlib.asynccontextmanager
    async def talking(self) -> AsyncIterator[None]:
        """Around a conversation, or a pause before it is tried again; it ends with the limit."""
        if self.is_over:
            raise TimeIsOver
        # As long as this one is talking the watch runs, so what is left now is exact.
        left = None if self._limit is None else self._limit - self.seconds
        try:
            async with asyncio.timeout(left) as limit:
                with self._counted():
                    yield
        except TimeoutError:
            if not limit.expired():
                raise
            raise TimeIsOver from None

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        if self._talking == 0:
            self._since = time.monotonic()
        self._talking += 1
        try:
            yield
        finally:
            self._talking -= 1
            if self._talking == 0:
                self._before += time.monotonic() - self._since
