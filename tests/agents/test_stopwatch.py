"""The limit of a test: what counts against it, and how exactly it ends what is under way."""

from __future__ import annotations

import asyncio
import time

import pytest

from assay.agents.sampling.stopwatch import Stopwatch, TimeIsOver
from assay.errors import InfrastructureError


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


async def meet_an_outage(watch: Stopwatch, seconds: float) -> None:
    async with watch.talking():
        await asyncio.sleep(seconds)
        raise InfrastructureError("nobody there")


def test_a_conversation_that_an_outage_ends_takes_no_time_from_the_test() -> None:
    async def run() -> None:
        watch = Stopwatch(5)
        for _ in range(3):
            with pytest.raises(InfrastructureError):
                await meet_an_outage(watch, 0.1)
            assert watch.seconds == 0
        async with watch.talking():
            await asyncio.sleep(0.05)
        assert watch.seconds >= 0.05

    asyncio.run(run())


def test_who_talks_while_another_meets_an_outage_loses_only_time_of_its_own() -> None:
    async def run() -> None:
        watch = Stopwatch(2.0)

        async def talk() -> None:
            await asyncio.sleep(1.2)
            # With what the other one has used up, the limit would come after 0.8 s.
            async with watch.talking():
                await asyncio.sleep(1.2)

        outage, _ = await asyncio.gather(meet_an_outage(watch, 1.6), talk(), return_exceptions=True)
        assert isinstance(outage, InfrastructureError)
        assert 1.2 <= watch.seconds < 2.0

    asyncio.run(run())


def test_what_several_talk_at_the_same_time_is_counted_once_whatever_the_order() -> None:
    async def run() -> None:
        watch, spans = Stopwatch(), []

        async def talk(begin: float, end: float) -> None:
            await asyncio.sleep(begin)
            async with watch.talking():
                started = time.monotonic()
                await asyncio.sleep(end - begin)
                spans.append((started, time.monotonic()))

        planned = [(0.0, 0.1), (0.05, 0.4), (0.1, 0.2), (0.3, 0.35), (0.5, 0.6)]
        await asyncio.gather(*(talk(*span) for span in planned))
        # In steps of a millisecond: when was anybody talking?
        first, last = min(spans)[0], max(end for _, end in spans)
        moments = [first + step / 1000 for step in range(int((last - first) * 1000))]
        talked = sum(any(begin <= at < end for begin, end in spans) for at in moments) / 1000
        assert abs(watch.seconds - talked) < 0.05

    asyncio.run(run())
