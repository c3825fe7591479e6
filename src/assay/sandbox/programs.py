"""Runs untrusted commands, isolated and limited, and returns everything they produced."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from assay.errors import InfrastructureError, InputError
from assay.processes import Pool
from assay.sandbox import isolation as levels
from assay.sandbox.overlay_base import Base
from assay.sandbox.workers import Bind, Jail, JailWorker, Limits

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """How a program ended and what it left behind."""

    exit_status: int
    """Negative for a signal; 127 if the command could not be started."""
    stdout: bytes
    stderr: bytes
    wall_time: float
    cpu_time: float
    peak_memory: int
    """Of all processes together where the machine can tell, else of the largest."""
    limit: str | None = None
    """The limit that was hit, by its name in `Limits`."""
    cut: dict[str, int] = field(default_factory=dict)
    """Bytes missing from the middle of stdout and stderr; the place is marked in the bytes."""
    files: dict[str, bytes] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)
    """What is there but was not brought back, with the reason; "..." if more than is named.

    What was asked for by its name, without a glob, and is in neither is not there.
    """
    isolation: str = "none"

    @property
    def timed_out(self) -> bool:
        return self.limit in ("wall_time", "cpu_time")


class Programs:
    """Runs programs in jails of one kind; workers are kept and reused for speed.

    An async context manager: when it exits, no process, mount or folder is left.
    """

    def __init__(
        self,
        *,
        isolation: str = "auto",
        limits: Limits | None = None,
        binds: Sequence[Bind | tuple[str, str, bool]] = (),
        network: bool = False,
        ports: Sequence[int] = (),
        base: Base | None = None,
        work: str = "fresh",
    ) -> None:
        """`base` and `work` say what a work folder begins with and how long it lasts; see Jail."""
        level = levels.choose(isolation)
        named = tuple(Bind(*bind) for bind in binds)
        where = ("", "fresh", None) if base is None else (str(base.path), work, base.user)
        self.jail = Jail(level, limits or Limits(), named, network, tuple(ports), *where)
        self._pool = Pool(lambda: JailWorker.start(self.jail))

    async def __aenter__(self) -> Programs:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.reset()

    async def reset(self) -> None:
        """End the idle workers, and with them the work folders that were kept."""
        await self._pool.close()

    async def run(
        self,
        command: Sequence[str],
        *,
        stdin: bytes = b"",
        files: Mapping[str, bytes] | None = None,
        collect: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        wall_time: float | None = None,
    ) -> ProgramResult:
        """Run a command in a work folder that contains `files`; never through a shell.

        `wall_time` is for this program alone; the other limits belong to the jail.
        """
        request = make_request(
            self.jail, command, files or {}, collect, environment or {}, wall_time=wall_time
        )
        async with self._pool.take() as worker:
            return await run_in(worker, self.jail, request, stdin)


async def run_program(
    command: Sequence[str],
    *,
    stdin: bytes = b"",
    files: Mapping[str, bytes] | None = None,
    collect: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    isolation: str = "auto",
    binds: Sequence[Bind | tuple[str, str, bool]] = (),
    network: bool = False,
) -> ProgramResult:
    """Run one command in a new jail; for many commands of a kind see `Programs`."""
    kind = Programs(isolation=isolation, limits=limits, binds=binds, network=network)
    async with kind as programs:
        return await programs.run(
            command, stdin=stdin, files=files, collect=collect, environment=environment
        )


def run_to_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to completion from anywhere, even inside a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


async def run_in(
    worker: JailWorker, jail: Jail, request: ProgramRequest, stdin: bytes
) -> ProgramResult:
    """Run a request in a worker, with its standard streams connected."""
    streams = Streams(jail.limits.output)
    try:
        await worker.begin(streams.theirs, request.message, request.data)
        streams.close_theirs()
        streams.feed(stdin)
        answer, data = await worker.answer(request.message["wall_time"])
        await streams.drain()
    finally:
        streams.close()
    return make_result(answer, data, streams, jail.level)


class ProgramRequest(NamedTuple):
    """A program as a worker receives it: the request, and the bytes of its files."""

    message: dict[str, Any]
    data: bytes


def make_request(
    jail: Jail,
    command: Sequence[str],
    files: Mapping[str, bytes],
    collect: Sequence[str],
    environment: Mapping[str, str],
    *,
    wall_time: float | None = None,
) -> ProgramRequest:
    """Return a request; raise InputError for values that no operating system accepts."""
    check_request(command, files, collect, environment)
    message = {
        "command": list(command),
        "environment": dict(environment),
        "files": [[name, len(content)] for name, content in files.items()],
        "collect": list(collect),
        "collect_size": jail.limits.collected,
        "wall_time": jail.limits.wall_time if wall_time is None else wall_time,
    }
    return ProgramRequest(message, b"".join(files.values()))


def check_request(
    command: Sequence[str],
    files: Mapping[str, bytes],
    collect: Sequence[str],
    environment: Mapping[str, str],
) -> None:
    """Raise an InputError for values that no operating system accepts."""
    if not command:
        raise InputError("the command is empty", advice="name a program to run")
    for text in (*command, *environment, *environment.values(), *collect):
        if "\0" in text:
            raise InputError(f"{text!r} contains a null byte", advice="no argument can hold one")
    for name in environment:
        if not name or "=" in name:
            raise InputError(f"{name!r} is not the name of an environment variable")
    for name in files:
        check_name(name)


def check_name(name: str) -> None:
    """Raise InputError unless a file of that name would be inside the work folder."""
    path = PurePosixPath(name)
    if "\0" in name or path.is_absolute() or ".." in path.parts or not path.parts:
        raise InputError(
            f"{name!r} is not the name of a file in the work folder",
            advice="give a relative path without `..`",
        )


class CollectedFiles(NamedTuple):
    """Collected files, and those that could not be collected, with the reason."""

    files: dict[str, bytes]
    left: dict[str, str]


def read_files(answer: dict[str, Any], data: bytes) -> CollectedFiles:
    """Return the files that a worker collected."""
    files, start = {}, 0
    for name, length in answer["files"]:
        files[name] = data[start : start + length]
        start += length
    return CollectedFiles(files, dict(answer["left"]))


def put_files(files: Mapping[str, bytes], folder: int) -> None:
    """Write files into an open folder without following a link; raise OSError if that fails."""
    from assay.sandbox.jail.folder import put

    put([(name, len(content)) for name, content in files.items()], b"".join(files.values()), folder)


def collect_files(folder: int, patterns: Sequence[str], limit: int) -> CollectedFiles:
    """Return files of an open folder, together no more than so many bytes."""
    from assay.sandbox.jail.folder import collect

    found = collect(folder, list(patterns), limit)
    return CollectedFiles(dict(found.files), dict(found.left))


def make_result(answer: dict[str, Any], data: bytes, streams: Streams, level: str) -> ProgramResult:
    """Return a worker's answer combined with the content of the streams."""
    status, limit, wall_time, cpu_time, peak_memory = answer["ending"]
    collected = read_files(answer, data)
    captures = {"stdout": streams.stdout, "stderr": streams.stderr}
    return ProgramResult(
        exit_status=status,
        stdout=streams.stdout.content(),
        stderr=streams.stderr.content(),
        wall_time=wall_time,
        cpu_time=cpu_time,
        peak_memory=peak_memory,
        limit=limit,
        cut={name: capture.cut for name, capture in captures.items() if capture.cut},
        files=collected.files,
        left=collected.left,
        isolation=level,
    )


_SETTLE = 10.0
_NUDGE = 0.1
_CHUNK = 1 << 16  # what a pipe holds


class Capture:
    """Keeps the head and the tail of a stream and discards the rest, so that no pipe fills up."""

    def __init__(self, limit: int) -> None:
        self._first, self._last = limit - limit // 2, limit // 2
        self._head, self._tail = bytearray(), bytearray()
        self._total = 0
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        self._total += len(data)
        room = self._first - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 4 * self._last:  # cut seldom: every cut moves what is kept
            del self._tail[: len(self._tail) - self._last]

    def end(self) -> None:
        """Record that the stream has ended."""
        if not self.ended.done():
            self.ended.set_result(None)

    @property
    def cut(self) -> int:
        """How many bytes are missing from the middle."""
        return max(0, self._total - self._first - self._last)

    def content(self) -> bytes:
        """Return what was kept, with a note of how much is missing."""
        note = b"\n[... %d bytes cut ...]\n" % self.cut if self.cut else b""
        tail = self._tail[max(0, len(self._tail) - self._last) :]
        return bytes(self._head) + note + bytes(tail)


class Streams:
    """Three pipes: one end of each is given to the program, the other is served here.

    Descriptors are served directly: asyncio's transports cost more than short programs do.
    """

    def __init__(self, limit: int) -> None:
        self._loop = asyncio.get_running_loop()
        self.stdout, self.stderr = Capture(limit), Capture(limit)
        self._unwritten = memoryview(b"")
        theirs, self._stdin = os.pipe()
        self.theirs, self._ours = [theirs], [self._stdin]
        try:
            for capture in (self.stdout, self.stderr):
                ours, theirs = os.pipe()
                self.theirs.append(theirs)
                self._ours.append(ours)
                os.set_blocking(ours, False)
                self._loop.add_reader(ours, self._read, ours, capture)
        except OSError:
            self.close()
            raise

    def close_theirs(self) -> None:
        """Close the program's ends here, or the streams would never end."""
        for descriptor in self.theirs:
            os.close(descriptor)
        self.theirs = []

    def feed(self, data: bytes) -> None:
        """Write all of standard input; it is fine if the program does not read it."""
        self._unwritten = memoryview(data)
        if data:
            os.set_blocking(self._stdin, False)
            self._loop.add_writer(self._stdin, self._write)
        else:
            self._close(self._stdin)

    def _write(self) -> None:
        try:
            count = os.write(self._stdin, self._unwritten[:_CHUNK])
        except BlockingIOError:
            return
        except OSError:
            count = len(self._unwritten)  # nobody reads it any more
        self._unwritten = self._unwritten[count:]
        if not self._unwritten:
            self._close(self._stdin)

    def _read(self, descriptor: int, capture: Capture) -> None:
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return
        if data:
            capture.data_received(data)
        else:
            self._close(descriptor)
            capture.end()

    async def drain(self) -> None:
        """Read what is left in the pipes; all writers have ended by now."""
        waiting = {end for end in (self.stdout.ended, self.stderr.ended) if not end.done()}
        until = self._loop.time() + _SETTLE
        while waiting:
            _, waiting = await asyncio.wait(waiting, timeout=_NUDGE)
            if waiting and self._loop.time() > until:
                raise InfrastructureError("a program has ended but its output has not")
            if waiting:
                _close_what_is_in_flight()

    def close(self) -> None:
        self.close_theirs()
        for descriptor in list(self._ours):
            self._close(descriptor)

    def _close(self, descriptor: int) -> None:
        self._ours.remove(descriptor)
        self._loop.remove_reader(descriptor)
        self._loop.remove_writer(descriptor)
        os.close(descriptor)


def _close_what_is_in_flight() -> None:
    """Make the kernel close descriptors that a program sent to itself and never received.

    Linux looks for such descriptors only when some socket of this family is closed, so on a
    quiet machine a stream that a program left in flight stays open for as long as it is quiet.
    """
    for end in socket.socketpair():
        end.close()
