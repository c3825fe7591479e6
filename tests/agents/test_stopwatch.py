"""The limit of a test: what counts against it, and how exactly it ends what is under way."""

from __future__ import annotations

import asyncio
import time

import pytest

from assay.agents.stopwatch import Stopwatch, TimeIsOver


def test_only_time_in_which_somebody_talks_is_counted_and_only_once() -> None:
    async def run() -> None:
        watch = Stopwatch()

        async def talk() -> None:
            async with watch.talking():
                await asyncio.sleep(0.2)

        started = time.monotonic()
        await asyncio.gather(*(talk() for _ in range(5)))
        counted = watch.seconds
        assert 0.2 <= counted <= time.monotonic() - started
        await asyncio.sleep(0.1)
        assert watch.seconds == counted
        await talk()
        assert watch.seconds >= counted + 0.2

    asyncio.run(run())


def test_everybody_who_talks_ends_with_the_limit_and_nobody_starts_after_it() -> None:
    ended = []

    async def run() -> None:
        watch = Stopwatch(1.5)

        async def talk(pause: float) -> None:
            await asyncio.sleep(pause)
            with pytest.raises(TimeIsOver):
                async with watch.talking():
                    await asyncio.sleep(60)
            ended.append(time.monotonic())

        started = time.monotonic()
        await asyncio.gather(talk(0), talk(0.5), talk(1.0))
        assert 1.5 <= max(ended) - started < 20
        # With limits of their own they would end as far apart as they began.
        assert max(ended) - min(ended) < 0.9
        assert watch.is_over
        with pytest.raises(TimeIsOver):
            async with watch.talking():
                pytest.fail("the time is over")

    asyncio.run(run())


def test_pauses_do_not_bring_the_limit_nearer() -> None:
    async def run() -> None:
        watch = Stopwatch(1.0)
        for _ in range(3):
            async with watch.talking():
                await asyncio.sleep(0.02)
            await asyncio.sleep(0.4)
        assert not watch.is_over

    asyncio.run(run())


def test_a_time_out_of_somebody_else_is_theirs() -> None:
    async def run() -> None:
        async with Stopwatch(5).talking():
            raise TimeoutError("of my own")

    with pytest.raises(TimeoutError, match="of my own"):
        asyncio.run(run())


def test_cancelling_is_not_the_end_of_the_time() -> None:
    async def run() -> None:
        watch = Stopwatch(60)

        async def talk() -> None:
            async with watch.talking():
                await asyncio.sleep(30)

        task = asyncio.create_task(talk())
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert watch.seconds < 60

    asyncio.run(run())
