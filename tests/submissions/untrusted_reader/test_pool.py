"""Processes that read what submissions produced: they answer, are ended, and leave nothing."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError
from assay.submissions.untrusted_reader import Readers, TooMuchError, child, pool
from tests.waiting import PATIENCE


def children() -> set[str]:
    path = Path(f"/proc/self/task/{os.getpid()}/children")
    return set(path.read_text().split())


def comparison(**fields: Any) -> dict[str, Any]:
    about = {"key": "output", "target": ["output"], "check": "regex", "value": "(a+)+b"}
    return {"comparison": {**about, **fields}, "actual": {"id": "1", "group": "g", "output": "ab"}}


EVIL = {"id": "1", "group": "g", "output": "a" * 40 + "!"}


def test_a_question_is_answered_and_its_process_kept_for_the_next() -> None:
    async def work() -> None:
        before = children()
        async with Readers() as asked:
            asked.expect()
            first = await asked.ask("compare", **comparison())
            (worker,) = children() - before
            second = await asked.ask("compare", **comparison(value="x"))
            assert children() - before == {worker}
            assert (first[""]["is_correct"], second[""]["is_correct"]) == (True, False)
            with pytest.raises(InputError, match="is not a pattern"):
                await asked.ask("compare", **comparison(value="("))
            assert children() - before == {worker}
        assert children() == before

    asyncio.run(work())


def test_what_takes_too_long_is_ended_and_only_that() -> None:
    async def work() -> None:
        before, start = children(), time.monotonic()
        async with Readers(seconds=2) as asked:
            await asked.ask("ready")
            evil = asyncio.create_task(asked.ask("compare", **{**comparison(), "actual": EVIL}))
            other = asyncio.create_task(asked.ask("compare", **comparison()))
            with pytest.raises(TooMuchError, match=r"^did not answer within 2 s$"):
                await evil
            assert (await other)[""]["is_correct"] is True
            assert (await asked.ask("ready")) is True
        assert children() == before
        assert time.monotonic() - start < PATIENCE

    asyncio.run(work())


def test_without_a_block_nothing_is_kept() -> None:
    async def work() -> None:
        before = children()
        asked = Readers()
        asked.expect()
        assert await asked.ask("ready") is True
        assert children() == before

    asyncio.run(work())


def test_a_process_that_dies_costs_its_question(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with Readers() as asked:
            await asked.ask("ready")
            (worker,) = asked._pool.idle
            os.kill(worker.pid, 9)
            with pytest.raises(TooMuchError, match="was ended by Killed"):
                await asked.ask("ready")
            assert await asked.ask("ready") is True

    asyncio.run(work())
    monkeypatch.setattr(pool, "_MODULE", "no.such.module")
    with pytest.raises(Exception, match="the process that reads what submissions produce"):
        asyncio.run(Readers().ask("ready"))


def test_memory_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def hungry() -> bool:
        raise MemoryError

    monkeypatch.setitem(child._QUESTIONS, "hungry", hungry)
    assert b"needed more than 3 GiB of memory" in child._answer({"do": "hungry"})


def test_memory_is_bounded() -> None:
    async def work() -> None:
        async with Readers() as asked:
            await asked.ask("ready")
            (worker,) = asked._pool.idle
            limits = Path(f"/proc/{worker.pid}/limits").read_text().splitlines()
            (line,) = [line for line in limits if line.startswith("Max address space")]
            assert int(line.split()[3]) <= 3 << 30

    asyncio.run(work())
