"""The limit of a test: it runs only while the agent is being talked to, not while others judge."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator


class Stopwatch:
    """Counts the seconds in which at least one conversation is under way."""

    def __init__(self) -> None:
        self._running = 0
        self._before = 0.0
        self._since = 0.0
        self._changed = asyncio.Event()

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Around a conversation, or a pause before it is tried again."""
        if self._running == 0:
            self._since = time.monotonic()
        self._running += 1
        self._changed.set()
        try:
            yield
        finally:
            self._running -= 1
            if self._running == 0:
                self._before += time.monotonic() - self._since
            self._changed.set()

    @property
    def seconds(self) -> float:
        now = time.monotonic() - self._since if self._running else 0.0
        return self._before + now

    async def until(self, limit: float) -> None:
        """Wait until so many seconds have been counted."""
        while (left := limit - self.seconds) > 0:
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left if self._running else None):
                    await self._changed.wait()
