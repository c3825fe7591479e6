"""Workers can be killed, die and raise without taking anything else along."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from assay.processes import ChildLateError, ChildLostError, ForkPool, WorkRaisedError
from tests.waiting import PATIENCE, wait_until


def work(order: tuple[str, Any]) -> Any:
    kind, value = order
    match kind:
        case "echo":
            return value
        case "sleep":
            time.sleep(value)
        case "raise":
            raise ValueError(value)
        case "signal":
            os.kill(os.getpid(), value)
        case "exit":
            os._exit(value)
        case "unpicklable":
            return lambda: None
        case "child":
            child = subprocess.Popen(["sleep", "60"])
            Path(value).write_text(str(child.pid))
            time.sleep(2 * PATIENCE)
        case "pid":
            return os.getpid()
    return None


def call(*orders: tuple[str, Any], limit: float = 30.0) -> list[Any]:
    async def all_calls() -> list[Any]:
        pool = ForkPool(work)
        try:
            calls = (pool.call(order, limit) for order in orders)
            return await asyncio.gather(*calls, return_exceptions=True)
        finally:
            pool.close()

    return asyncio.run(all_calls())


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()


def test_results_come_back_however_large() -> None:
    big = "x" * 3_000_000
    assert call(("echo", big), ("echo", 2)) == [big, 2]


def test_what_hangs_is_killed_and_nothing_else() -> None:
    started = time.monotonic()

    async def scenario() -> None:
        pool = ForkPool(work)
        try:
            hanging = asyncio.create_task(pool.call(("sleep", 2 * PATIENCE), 0.3))
            assert await pool.call(("echo", "beside it"), PATIENCE) == "beside it"
            with pytest.raises(ChildLateError):
                await hanging
            assert await pool.call(("echo", "after it"), PATIENCE) == "after it"
        finally:
            pool.close()

    asyncio.run(scenario())
    assert time.monotonic() - started < PATIENCE


@pytest.mark.parametrize(
    ("order", "told"),
    [
        (("signal", signal.SIGKILL), "Killed (9)"),
        (("exit", 7), "status 7"),
        (("exit", 0), "status 0"),
    ],
)
def test_a_worker_that_ends_itself_is_told(order: tuple[str, Any], told: str) -> None:
    died, fine = call(order, ("echo", 1))
    assert isinstance(died, ChildLostError)
    assert told in str(died)
    assert fine == 1


def test_what_the_work_raises_is_told_with_its_place() -> None:
    (error,) = call(("raise", "no such thing"))
    assert isinstance(error, WorkRaisedError)
    assert "ValueError: no such thing" in str(error)
    assert "test_pool.py" in str(error)


def test_a_result_that_cannot_cross_is_an_error_of_its_call() -> None:
    error, fine = call(("unpicklable", None), ("echo", 1))
    assert isinstance(error, WorkRaisedError)
    assert fine == 1


def test_workers_are_used_again() -> None:
    async def scenario() -> set[int]:
        pool = ForkPool(work)
        try:
            return {await pool.call(("pid", None), 30) for _ in range(5)}
        finally:
            pool.close()

    assert len(asyncio.run(scenario())) == 1


def test_what_a_killed_worker_started_is_gone_too(tmp_path: Path) -> None:
    (error,) = call(("child", str(tmp_path / "pid")), limit=5.0)
    assert isinstance(error, ChildLateError)
    grandchild = int((tmp_path / "pid").read_text())
    wait_until(lambda: not is_alive(grandchild))


def test_workers_die_with_their_parent(tmp_path: Path) -> None:
    script = f"""
import asyncio, os, time
from pathlib import Path
from assay.processes import ForkPool
def work(path):
    Path(path).write_text(str(os.getpid())); time.sleep(600)
asyncio.run(ForkPool(work).call({str(tmp_path / "pid")!r}, 600))
"""
    parent = subprocess.Popen([sys.executable, "-c", script])
    wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), parent)
    worker = int((tmp_path / "pid").read_text())
    assert is_alive(worker)
    parent.kill()
    parent.wait()
    wait_until(lambda: not is_alive(worker))
