"""The time limit of a test, which counts only the seconds spent talking to the agent.

Waiting for a slot, opening a session, pauses before a retry and judging do not count. Neither does
a conversation that ends in an outage.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field

from assay.errors import InfrastructureError


class TimeIsOver(Exception):  # noqa: N818 - it says what is the case
    """The time of the whole test is over; running conversations stop."""


@dataclass(eq=False)
class _Talk:
    """A conversation that is under way, and the limit that will end it."""

    since: float = field(default_factory=time.monotonic)
    limit: asyncio.Timeout | None = None


class Stopwatch:
    """Counts the seconds with at least one active conversation, up to a limit."""

    def __init__(self, limit: float | None = None) -> None:
        self._limit = limit
        self._talks: set[_Talk] = set()
        # When somebody was talking, in order and without overlaps; what is long past, as a sum.
        self._counted: list[tuple[float, float]] = []
        self._past = 0.0

    @property
    def seconds(self) -> float:
        """Return the seconds that count so far."""
        now = time.monotonic()
        spans = [*self._counted, *((talk.since, now) for talk in self._talks)]
        return self._past + _length(_merge(spans))

    @property
    def left(self) -> float | None:
        """Return the seconds until the limit, or None without one."""
        return None if self._limit is None else max(0.0, self._limit - self.seconds)

    @property
    def is_over(self) -> bool:
        return self.left == 0

    @contextlib.asynccontextmanager
    async def talking(self) -> AsyncIterator[None]:
        """Count a conversation and end it at the limit; one ended by an outage does not count."""
        if self.is_over:
            raise TimeIsOver
        talk = _Talk()
        try:
            # As long as this one is talking the watch runs, so what is left now is exact.
            async with asyncio.timeout(self.left) as talk.limit:
                self._talks.add(talk)
                try:
                    yield
                except InfrastructureError:
                    self._talks.discard(talk)
                    self._prolong()
                    raise
                finally:
                    self._count(talk)
        except TimeoutError:
            if talk.limit is None or not talk.limit.expired():
                raise
            raise TimeIsOver from None

    def _count(self, talk: _Talk) -> None:
        if talk in self._talks:
            self._talks.discard(talk)
            merged = _merge([*self._counted, (talk.since, time.monotonic())])
            # Nothing that is counted later overlaps what ended before those who still talk began.
            begin = min((one.since for one in self._talks), default=float("inf"))
            self._counted = [span for span in merged if span[1] > begin]
            self._past += _length(span for span in merged if span[1] <= begin)

    def _prolong(self) -> None:
        """Give the remaining conversations the time that the outage used."""
        left = self.left
        for talk in self._talks:
            if left is not None and talk.limit is not None and not talk.limit.expired():
                talk.limit.reschedule(asyncio.get_running_loop().time() + left)


def _length(spans: Iterable[tuple[float, float]]) -> float:
    return sum(end - start for start, end in spans)


def _merge(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the same time as spans in order that do not overlap."""
    merged: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
