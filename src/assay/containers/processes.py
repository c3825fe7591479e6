"""One program in a running container: started, watched and ended."""

from __future__ import annotations

import array
import asyncio
import contextlib
import fcntl
import json
import os
import signal
import struct
import time
from collections.abc import Mapping, Sequence
from typing import Any

from assay.containers.container import Container
from assay.containers.counters import Counters
from assay.containers.engine import EngineError, end_group, quote_words
from assay.errors import InfrastructureError
from assay.sandbox import CollectedFiles, ProgramResult, Streams

_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.02
_PATIENCE = 60.0
# A shell waits for one line of standard input, so that the program starts only when it is watched.
# It reads no more than that line; and where there is no such command, it says so by status 127.
_SHELL = ("/bin/sh", "-c", 'read _; exec "$@"', "sh")
_GATE = b"\n"
_OWN_LIMITS = frozenset({"RLIMIT_CORE", "RLIMIT_FSIZE"})
_LAST_SIGNAL = 64


class Process:
    """A program that is running in a container; made by `start`."""

    def __init__(self, container: Container, streams: Streams, command: Sequence[str]) -> None:
        self._container, self._streams, self._command = container, streams, command
        self._helper: asyncio.subprocess.Process | None = None
        self._handle: int | None = None
        self._before: Counters | None = None
        self._notes = container.folder / "process"
        self._started = time.monotonic()
        self._limit: str | None = None

    @classmethod
    async def start(
        cls,
        container: Container,
        streams: Streams,
        command: Sequence[str],
        environment: Mapping[str, str],
    ) -> Process:
        """Start a program; its standard streams are the other ends of `streams`."""
        process = cls(container, streams, command)
        assert container.group is not None
        process._before = container.group.read()
        process._notes.unlink(missing_ok=True)
        if container.runtime is None:
            await process._start_by_engine(environment)
        else:
            await process._start_by_runtime(environment)
        return process

    async def _start_by_runtime(self, environment: Mapping[str, str]) -> None:
        container = self._container
        assert container.runtime is not None
        about = json.dumps(describe_process(container, self._command, dict(environment)))
        # In memory: the variables may be secrets, and a command line can be read by everyone.
        memory = os.memfd_create("assay-process", os.MFD_CLOEXEC)
        try:
            os.write(memory, about.encode())
            command = container.runtime.command(
                "exec", "--process", f"/proc/self/fd/{memory}", "--pid-file", str(self._notes),
                container.identifier,
            )  # fmt: skip
            await self._launch(command, (memory,))
        finally:
            os.close(memory)
        await self._wait_until_started()

    async def _start_by_engine(self, environment: Mapping[str, str]) -> None:
        container, user = self._container, self._container.spec.user
        simple = {name: value for name, value in environment.items() if "\n" not in value}
        others = {name: value for name, value in environment.items() if "\n" in value}
        memory = os.memfd_create("assay-variables", os.MFD_CLOEXEC)
        try:
            lines = "".join(f"{name}={value}\n" for name, value in simple.items())
            os.write(memory, lines.encode("utf-8", "surrogateescape"))
            given = [part for item in others.items() for part in ("--env", "=".join(item))]
            command = [
                container.engine.program, *container.settings.globals, "exec", "--interactive",
                "--user", f"{user.user}:{user.group}", "--workdir", container.spec.work,
                "--env-file", f"/proc/self/fd/{memory}", *given, container.name,
                *_SHELL, *self._command,
            ]  # fmt: skip
            await self._launch(command, (memory,))
            # It reads the file at its start, and does not say when.
            await asyncio.sleep(0)
        finally:
            os.close(memory)

    async def _launch(self, command: Sequence[str], kept: tuple[int, ...]) -> None:
        stdin, stdout, stderr = self._streams.theirs
        try:
            self._helper = await asyncio.create_subprocess_exec(
                *command, stdin=stdin, stdout=stdout, stderr=stderr,
                pass_fds=kept, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise InfrastructureError(f"{command[0]} cannot be started: {error}") from None
        self._streams.close_theirs()

    async def _wait_until_started(self) -> None:
        """Wait until the runtime has noted the process, and open a handle of it."""
        assert self._helper is not None
        pause = _FIRST_PAUSE
        while not (text := self._read_note()):
            if self._helper.returncode is not None and not (text := self._read_note()):
                return
            await asyncio.sleep(pause)
            pause = min(pause * 1.3, _LONGEST_PAUSE)
        with contextlib.suppress(ProcessLookupError):
            self._handle = os.pidfd_open(int(text))

    def begin(self, stdin: bytes) -> None:
        """Let the program run, and feed it its standard input."""
        self._started = time.monotonic()
        self._streams.feed(_GATE + stdin)

    def _read_note(self) -> str:
        try:
            return self._notes.read_text()
        except OSError:
            return ""

    async def wait(self, seconds: float) -> None:
        """Wait until the program has ended, at most so many seconds from its start."""
        left = self._started + seconds - time.monotonic()
        try:
            async with asyncio.timeout(max(0.0, left)):
                await self._wait_for_end()
        except TimeoutError:
            self._limit = "wall_time"

    async def _wait_for_end(self) -> None:
        assert self._helper is not None
        if self._handle is None:
            await self._helper.wait()
            return
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()
        handle = self._handle
        loop.add_reader(handle, _settle, ended)
        try:
            await ended
        finally:
            loop.remove_reader(handle)

    def ask_to_end(self) -> None:
        """Send the program the signal with which services are ended."""
        if self._handle is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGTERM)

    async def finish(self, patterns: Sequence[str] = ()) -> ProgramResult:
        """End what is left of the program, and return what it did and the files it left."""
        wall = time.monotonic() - self._started
        container, helper = self._container, self._helper
        assert helper is not None
        assert container.group is not None
        await container.end_programs()
        try:
            async with asyncio.timeout(_PATIENCE):
                status = await helper.wait()
        except TimeoutError:
            end_group(helper)
            await helper.wait()
            raise InfrastructureError("a program in a container did not end") from None
        await self._streams.drain()
        after = container.group.read()
        self._check_started(status)
        code = self._exit_status(status)
        limit = self._limit or self._limit_hit(code, after)
        limit = limit or ("work_size" if container.places.is_full else None)
        collected = await self.collect(patterns) if patterns else CollectedFiles({}, {})
        return self._result(code, wall, after, limit, collected)

    async def collect(self, patterns: Sequence[str]) -> CollectedFiles:
        """Return files of the work folder as they are now."""
        places, limit = self._container.places, self._container.spec.limits.collected
        return await asyncio.to_thread(places.collect, patterns, limit)

    def _check_started(self, status: int) -> None:
        """Raise an EngineError with its words if the engine did not start the program."""
        container = self._container
        if container.has_ended:
            raise EngineError(
                f"the container of {container.spec.image} has ended: was {container.engine.name} "
                "stopped, or a container removed?",
                advice="resume the run with `assay resume` when the engine is there again",
            )
        if container.runtime is not None and not self._read_note():
            words = quote_words(self._streams.stderr.content().decode("utf-8", "replace"))
            name = container.engine.name
            raise EngineError(f"{name} could not start a program (exit {status}): {words}")

    def _exit_status(self, status: int) -> int:
        """Return the status of the program: negative for a signal."""
        if self._handle is not None and (code := read_exit_code(self._handle)) is not None:
            return code
        # Engines report a signal as 128 and more, like a shell.
        return 128 - status if 128 < status <= 128 + _LAST_SIGNAL else status

    def _limit_hit(self, code: int, after: Counters) -> str | None:
        assert self._before is not None
        if after.killed_for_memory > self._before.killed_for_memory:
            return "memory"
        if code == -signal.SIGXFSZ:
            return "file_size"
        if after.refused_processes > self._before.refused_processes:
            return "processes"
        return None

    def _result(
        self,
        code: int,
        wall: float,
        after: Counters,
        limit: str | None,
        collected: CollectedFiles,
    ) -> ProgramResult:
        assert self._before is not None
        captures = {"stdout": self._streams.stdout, "stderr": self._streams.stderr}
        return ProgramResult(
            exit_status=code,
            stdout=captures["stdout"].content(),
            stderr=captures["stderr"].content(),
            wall_time=wall,
            cpu_time=max(0.0, after.cpu_time - self._before.cpu_time),
            peak_memory=after.peak_memory,
            limit=limit,
            cut={name: one.cut for name, one in captures.items() if one.cut},
            files=collected.files,
            left=collected.left,
            isolation=self._container.engine.name,
        )

    def close(self) -> None:
        """Release what is held of the process; whatever still runs ends with its container."""
        self._streams.close()
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        if self._helper is not None and self._helper.returncode is None:
            end_group(self._helper)


def _settle(ended: asyncio.Future[None]) -> None:
    if not ended.done():
        ended.set_result(None)


def describe_process(
    container: Container, command: Sequence[str], environment: dict[str, str]
) -> dict[str, Any]:
    """Return a program in the words of the runtime's specification.

    It is the container's own first process, with another command, user and environment: so it has
    the same capabilities, filters of system calls and limits.
    """
    assert container.bundle is not None
    spec = container.spec
    first = json.loads((container.bundle / "config.json").read_text())["process"]
    known = dict(line.split("=", 1) for line in first.get("env", ()))
    variables = {**known, **environment}
    size = spec.limits.file_size
    limits = [one for one in first.get("rlimits", ()) if one["type"] not in _OWN_LIMITS]
    limits.append({"type": "RLIMIT_CORE", "hard": 0, "soft": 0})
    if spec.is_fixed:
        limits.append({"type": "RLIMIT_FSIZE", "hard": size, "soft": size})
    return {
        **first,
        "args": [*_SHELL, *command],
        "env": [f"{name}={value}" for name, value in variables.items()],
        "cwd": spec.work,
        "terminal": False,
        "user": {"uid": spec.user.user, "gid": spec.user.group},
        "rlimits": limits,
        # Where memory is short, the program is ended and not what watches it.
        "oomScoreAdj": 500,
    }


_PIDFD_GET_INFO = 0xC040FF0B
_PIDFD_INFO = struct.Struct("=QQ11Ii")
_HAS_EXIT = 1 << 3


def read_exit_code(handle: int) -> int | None:
    """Return how a process ended, negative for a signal; None before Linux 6.15."""
    data = array.array("B", _PIDFD_INFO.pack(_HAS_EXIT, 0, *[0] * 11, 0))
    try:
        fcntl.ioctl(handle, _PIDFD_GET_INFO, data)
    except OSError:
        return None
    mask, *_, code = _PIDFD_INFO.unpack(data.tobytes())
    return os.waitstatus_to_exitcode(code) if mask & _HAS_EXIT else None


async def run_in_container(
    container: Container,
    command: Sequence[str],
    *,
    stdin: bytes = b"",
    collect: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    wall_time: float | None = None,
) -> ProgramResult:
    """Run a program in a container and end everything that it has started there."""
    streams = Streams(container.spec.limits.output)
    process: Process | None = None
    try:
        process = await Process.start(container, streams, command, environment or {})
        process.begin(stdin)
        await process.wait(container.spec.limits.wall_time if wall_time is None else wall_time)
        return await process.finish(collect)
    finally:
        streams.close() if process is None else process.close()
