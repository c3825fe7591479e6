"""Running commands that others wrote, isolated and bounded, with everything they produced."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from assay.errors import InputError
from assay.processes import Pool
from assay.sandbox import isolation as levels
from assay.sandbox.bases import Base
from assay.sandbox.limits import Limits
from assay.sandbox.streams import Streams
from assay.sandbox.workers import Bind, Jail, JailWorker

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
    """Runs programs in jails of one kind; workers are kept and used again, so that each is quick.

    An async context manager: at its end no process, mount or folder is left.
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
        """End the workers that nobody uses, and with them the work folders that were kept."""
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
        """Run a command in a work folder that holds `files` too; never through a shell.

        `wall_time` is for this program alone; the other limits belong to the jail.
        """
        request = request_of(
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
    """Run one command in a jail of its own; for many of a kind see `Programs`."""
    kind = Programs(isolation=isolation, limits=limits, binds=binds, network=network)
    async with kind as programs:
        return await programs.run(
            command, stdin=stdin, files=files, collect=collect, environment=environment
        )


def run_to_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end from anywhere, also where an event loop is running already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


async def run_in(worker: JailWorker, jail: Jail, request: Request, stdin: bytes) -> ProgramResult:
    """Run a request in a worker, with its standard streams connected."""
    streams = Streams(jail.limits.output)
    try:
        await worker.begin(streams.theirs, request.message, request.data)
        streams.given()
        streams.feed(stdin)
        answer, data = await worker.answer(request.message["wall_time"])
        await streams.ended()
    finally:
        streams.close()
    return result_of(answer, data, streams, jail.level)


class Request(NamedTuple):
    """A program as a worker takes it: what to do, and the bytes of its files."""

    message: dict[str, Any]
    data: bytes


def request_of(
    jail: Jail,
    command: Sequence[str],
    files: Mapping[str, bytes],
    collect: Sequence[str],
    environment: Mapping[str, str],
    *,
    wall_time: float | None = None,
) -> Request:
    """Raises InputError for anything that no operating system would take."""
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
    message = {
        "command": list(command),
        "environment": dict(environment),
        "files": [[name, len(content)] for name, content in files.items()],
        "collect": list(collect),
        "collect_size": jail.limits.collected,
        "wall_time": jail.limits.wall_time if wall_time is None else wall_time,
    }
    return Request(message, b"".join(files.values()))


def check_name(name: str) -> None:
    """Raises InputError unless a file of that name would be in the work folder."""
    path = PurePosixPath(name)
    if "\0" in name or path.is_absolute() or ".." in path.parts or not path.parts:
        raise InputError(
            f"{name!r} is not the name of a file in the work folder",
            advice="give a relative path without `..`",
        )


class Collected(NamedTuple):
    """Files that were brought back, and what could not be, with the reason."""

    files: dict[str, bytes]
    left: dict[str, str]


def collected_of(answer: dict[str, Any], data: bytes) -> Collected:
    """What a worker brought back."""
    files, start = {}, 0
    for name, length in answer["files"]:
        files[name] = data[start : start + length]
        start += length
    return Collected(files, dict(answer["left"]))


def result_of(answer: dict[str, Any], data: bytes, streams: Streams, level: str) -> ProgramResult:
    """What a worker answered, with what the streams held."""
    status, limit, wall_time, cpu_time, peak_memory = answer["ending"]
    collected = collected_of(answer, data)
    captures = {"stdout": streams.stdout, "stderr": streams.stderr}
    return ProgramResult(
        exit_status=status,
        stdout=streams.stdout.kept(),
        stderr=streams.stderr.kept(),
        wall_time=wall_time,
        cpu_time=cpu_time,
        peak_memory=peak_memory,
        limit=limit,
        cut={name: capture.cut for name, capture in captures.items() if capture.cut},
        files=collected.files,
        left=collected.left,
        isolation=level,
    )
