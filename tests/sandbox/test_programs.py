"""Programs at the level this machine gives: streams, files, cancellation, and broken workers."""

from __future__ import annotations

import asyncio
import os
import resource
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from assay.errors import InfrastructureError, InputError
from assay.sandbox.isolation import available_levels, probe
from assay.sandbox.programs import Programs, run_program
from assay.sandbox.workers import Limits
from tests.sandbox.hostile.support import command_lines
from tests.waiting import PATIENCE

Result = TypeVar("Result")
LEVELS = [*available_levels(probe()), "none"]


def finish(work: Coroutine[Any, Any, Result]) -> Result:
    async def in_time() -> Result:
        return await asyncio.wait_for(work, PATIENCE)

    return asyncio.run(in_time())


def sleeper() -> str:
    """A time to sleep that no other process on this machine sleeps for."""
    return f"600.{secrets.randbelow(10**12):012}"


async def started(mark: str) -> None:
    while not command_lines(mark):
        await asyncio.sleep(0.01)


def gone(mark: str) -> bool:
    """Whether it ends by itself within some seconds: who was killed cannot wait for it."""
    deadline = time.monotonic() + PATIENCE
    while command_lines(mark) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not command_lines(mark)


@pytest.mark.parametrize("level", LEVELS)
def test_everything_a_program_can_say(level: str) -> None:
    script = "cat; echo error >&2; cat in/put.txt > out.txt; exit 3"
    result = finish(
        run_program(
            ["sh", "-c", script],
            stdin=b"given",
            files={"in/put.txt": b"content"},
            collect=["*.txt"],
            isolation=level,
        )
    )
    assert result.exit_status == 3
    assert (result.stdout, result.stderr) == (b"given", b"error\n")
    assert result.files == {"out.txt": b"content"}
    assert result.limit is None
    assert not result.timed_out
    assert result.isolation == level
    assert 0 < result.wall_time < PATIENCE
    assert 0 < result.cpu_time < PATIENCE
    assert result.peak_memory > 100_000


@pytest.mark.parametrize("level", LEVELS)
def test_large_streams_in_both_directions(level: str) -> None:
    data = os.urandom(1 << 20) * 3
    limits = Limits(output=8 << 20)
    result = finish(run_program(["cat"], stdin=data, isolation=level, limits=limits))
    assert result.stdout == data


def test_each_program_may_have_its_own_time() -> None:
    async def scenario() -> list[str | None]:
        async with Programs() as programs:
            times = (0.2, 30.0, 0.2)
            results = [await programs.run(["sleep", "0.5"], wall_time=time) for time in times]
        return [result.limit for result in results]

    assert finish(scenario()) == ["wall_time", None, "wall_time"]


def test_input_that_nobody_reads() -> None:
    assert finish(run_program(["true"], stdin=b"x" * 5_000_000)).exit_status == 0


def test_scripts_can_be_run() -> None:
    result = finish(run_program(["./tool"], files={"tool": b"#!/bin/sh\necho ran\n"}))
    assert result.stdout == b"ran\n"


def test_environment_is_what_was_given_and_no_more() -> None:
    os.environ["ASSAY_TEST_KEY"] = "secret"
    try:
        result = finish(run_program(["env"], environment={"GIVEN": "1", "LANG": "C"}))
    finally:
        del os.environ["ASSAY_TEST_KEY"]
    names = dict(line.split("=", 1) for line in result.stdout.decode().splitlines())
    assert names["GIVEN"] == "1"
    assert names["LANG"] == "C"
    assert set(names) == {"GIVEN", "HOME", "LANG", "PATH", "TMPDIR"}


def test_side_by_side_and_one_after_the_other() -> None:
    async def scenario() -> tuple[list[bytes], float]:
        async with Programs() as programs:
            start = time.monotonic()
            results = await asyncio.gather(
                *(programs.run(["sh", "-c", f"sleep 0.5; echo {number}"]) for number in range(4))
            )
            elapsed = time.monotonic() - start
            results += [await programs.run(["echo", str(number)]) for number in range(4, 12)]
        return [result.stdout for result in results], elapsed

    outputs, elapsed = finish(scenario())
    assert outputs == [b"%d\n" % number for number in range(12)]
    assert elapsed < PATIENCE


@pytest.mark.parametrize("level", LEVELS)
def test_cancelled_programs_do_not_run_on(level: str) -> None:
    mark = sleeper()

    async def scenario() -> None:
        async with Programs(isolation=level) as programs:
            running = asyncio.ensure_future(programs.run(["sleep", mark]))
            await started(mark)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert command_lines(mark) == []

    finish(scenario())


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_supervisor_that_is_ended_takes_everything_along(
    level: str, number: signal.Signals
) -> None:
    mark = sleeper()

    async def scenario() -> None:
        async with Programs(isolation=level) as programs:
            await programs.run(["true"])
            supervisor = programs._pool.idle[0].pid
            running = asyncio.ensure_future(programs.run(["sleep", mark]))
            await started(mark)
            os.kill(supervisor, number)
            with pytest.raises(InfrastructureError, match="worker ended"):
                await running

    finish(scenario())
    assert gone(mark)


def test_a_killed_supervisor_takes_along_what_a_program_without_isolation_has_started() -> None:
    mark = sleeper()

    async def scenario() -> None:
        async with Programs(isolation="none") as programs:
            await programs.run(["true"])
            supervisor = programs._pool.idle[0].pid
            running = asyncio.ensure_future(programs.run(["sh", "-c", f"sleep {mark} & wait"]))
            await started(mark)
            os.kill(supervisor, signal.SIGKILL)
            with pytest.raises(InfrastructureError, match="worker ended"):
                await running

    finish(scenario())
    assert gone(mark)


_HOW_IT_BEGINS = """
import os, resource, signal
# The last is that of the listing itself.
print(sorted(map(int, os.listdir("/proc/self/fd"))), os.getpgid(0) == os.getpid())
print(os.getcwd() == os.path.realpath(os.environ["HOME"]), os.path.isdir(os.environ["TMPDIR"]))
ignored = [line for line in open("/proc/self/status") if line.startswith("SigIgn")][0].split()[1]
print(bool(int(ignored, 16) & 1 << signal.SIGTERM - 1))
for name in ("CORE", "CPU", "FSIZE", "NOFILE"):
    print(name, *resource.getrlimit(getattr(resource, f"RLIMIT_{name}")))
"""


@pytest.mark.parametrize("level", LEVELS)
def test_a_program_begins_the_same_way_at_every_level(level: str) -> None:
    limits = Limits(cpu_time=40, file_size=5_000_000, open_files=100)

    async def scenario() -> list[str]:
        async with Programs(isolation=level, limits=limits) as programs:
            found = [
                await programs.run(["/usr/bin/env", "python3", "-c", _HOW_IT_BEGINS])
                for _ in range(2)
            ]
        assert all(one.stderr == b"" and one.exit_status == 0 for one in found)
        return [one.stdout.decode() for one in found]

    wanted = "[0, 1, 2, 3] True\nTrue True\nFalse\n"
    wanted += "CORE 0 0\nCPU 40 41\nFSIZE 5000000 5000000\nNOFILE 100 100\n"
    assert finish(scenario()) == [wanted] * 2


def test_a_program_without_isolation_is_not_started_from_a_copy_of_its_worker() -> None:
    """A copy shows in the pages of memory that it makes the kernel hand out."""
    count = 30

    async def run(number: int) -> None:
        async with Programs(isolation="none") as programs:
            for _ in range(number):
                await programs.run(["/bin/true"])

    def faults(act: Callable[[], object]) -> int:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
        act()
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - before

    def run_bare() -> None:
        for _ in range(count):
            os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)

    start = faults(lambda: finish(run(1)))
    all_of_them = faults(lambda: finish(run(count + 1)))
    assert (all_of_them - start) / count < 4 * faults(run_bare) / count + 100


@pytest.mark.parametrize("level", LEVELS)
def test_whoever_asked_may_be_killed(level: str) -> None:
    mark = sleeper()
    source = f"""
import asyncio
from assay.sandbox.programs import run_program
asyncio.run(run_program(["sh", "-c", "setsid sleep {mark} & sleep {mark}"], isolation="{level}"))
"""
    with subprocess.Popen([sys.executable, "-c", source]) as asker:
        finish(started(f"setsid sleep {mark}"))
        asker.kill()
    assert gone(mark)


@pytest.mark.parametrize("level", LEVELS)
def test_a_pool_that_is_left_leaves_nothing(level: str) -> None:
    mark = sleeper()

    async def scenario() -> None:
        async with Programs(isolation=level) as programs:
            script = f"setsid sleep {mark} & (sleep {mark} &) ; exit 0"
            results = await asyncio.gather(*(programs.run(["sh", "-c", script]) for _ in range(3)))
            assert [result.exit_status for result in results] == [0, 0, 0]
            assert command_lines(mark) == []

    finish(scenario())


@pytest.mark.skipif("namespaces" not in LEVELS, reason="needs namespaces")
def test_folders_can_be_seen_under_another_name(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("data")
    tmp_path.chmod(0o755)
    command = ["sh", "-c", "cat /data/data.txt; echo x > /data/new || echo refused"]
    binds = [(str(tmp_path), "/data", False)]
    result = finish(run_program(command, binds=binds, isolation="namespaces"))
    assert result.stdout == b"datarefused\n"


@pytest.mark.skipif("namespaces" not in LEVELS, reason="needs namespaces")
def test_folders_that_may_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    tmp_path.chmod(0o755)
    binds = [(str(folder), "/shared", True)]
    command = ["sh", "-c", "echo written > /shared/new"]
    finish(run_program(command, binds=binds, isolation="namespaces"))
    assert (folder / "new").read_text() == "written\n"


@pytest.mark.parametrize("level", LEVELS)
def test_a_folder_that_is_not_there(level: str, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    with pytest.raises(InfrastructureError, match="missing"):
        finish(run_program(["true"], binds=[(missing, missing, False)], isolation=level))


@pytest.mark.skipif(os.geteuid() != 0, reason="others' files can be read by root only")
@pytest.mark.parametrize("level", [level for level in LEVELS if level != "none"])
def test_a_folder_that_the_user_inside_cannot_read(level: str, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    binds = [(str(closed), str(closed), False)]
    with pytest.raises(InfrastructureError, match="readable for all users"):
        finish(run_program(["true"], binds=binds, isolation=level))


def test_without_namespaces_nothing_can_be_renamed() -> None:
    with pytest.raises(InputError, match="cannot be seen as"):
        Programs(isolation="none", binds=[("/usr", "/elsewhere", False)])


def test_relative_folders_are_refused() -> None:
    with pytest.raises(InputError, match="absolute"):
        Programs(isolation="none", binds=[("usr", "usr", False)])


def test_an_empty_command() -> None:
    with pytest.raises(InputError, match="empty"):
        finish(run_program([]))


def test_files_that_do_not_fit_are_nobodys_failure() -> None:
    limits = Limits(work_size=1 << 20, file_size=1 << 20, collected=1 << 20)
    with pytest.raises(InfrastructureError, match="could not be put into the work folder"):
        finish(run_program(["true"], files={"large": bytes(2 << 20)}, limits=limits))


def test_clashing_files_are_nobodys_failure() -> None:
    with pytest.raises(InfrastructureError, match="could not be put into the work folder"):
        finish(run_program(["true"], files={"a": b"", "a/b": b""}))
