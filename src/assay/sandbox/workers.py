"""Jails and their workers as seen from outside: limits, binds, and passing programs to them."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import socket
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from assay.errors import InfrastructureError, InputError
from assay.processes import Child
from assay.sandbox.jail.cgroups import KILLED_FOR_MEMORY

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds, sizes in bytes. A program that exceeds one is ended and says which."""

    wall_time: float = 60.0
    """From start to end, waiting included."""
    cpu_time: int = 60
    """Of one process; together with wall time it bounds them all."""
    memory: int = 2 * GIB
    """Of all processes together where the machine offers control groups, else of each."""
    processes: int = 64
    """Processes and threads at the same time."""
    open_files: int = 512
    """Of one process."""
    file_size: int = 256 * MIB
    """Of one file."""
    work_size: int = 512 * MIB
    """Of the work folder, /tmp and /dev/shm together."""
    output: int = MIB
    """Kept of standard output, and of standard error: the first half and the last half."""
    collected: int = 64 * MIB
    """Of all files brought back together."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value > 0:
                raise InputError(
                    f"the limit {field.name} is {value}", advice="limits are greater than zero"
                )


_START = Path(__file__).parent / "jail" / "start.py"
# Beyond a program's own time: what a busy machine may need to end it and bring files back.
_PATIENCE = 60.0
# To remove all the files that programs may leave takes minutes on some disks.
_PATIENCE_WITH_FILES = 600.0


class Bind(NamedTuple):
    """Something of this machine that is to be seen inside, under a name of its own.

    Without namespaces nothing can be renamed: there `inside` must be the path itself.
    """

    host: str
    inside: str
    writable: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Jail:
    """What a worker's jail is like; two programs may share a worker if theirs are equal."""

    level: str
    limits: Limits = dataclasses.field(default_factory=Limits)
    binds: tuple[Bind, ...] = ()
    network: bool = False
    ports: tuple[int, ...] = ()
    base: str = ""
    """A folder that work folders begin as a view of; nothing a program does there changes it."""
    work: str = "fresh"
    """A work folder is "fresh" for every program, "kept" from one to the next in the same worker,
    or the "base" itself, which programs then do change."""
    user: int | None = None
    """Who programs are outside if root starts them; the owner of a base must be that user."""

    def __post_init__(self) -> None:
        for bind in self.binds:
            if not (bind.host.startswith("/") and bind.inside.startswith("/")):
                raise InputError(f"{bind.host} → {bind.inside}: both paths must be absolute")
            if self.level != "namespaces" and bind.host != bind.inside:
                raise InputError(
                    f"{bind.host} cannot be seen as {bind.inside} at isolation level {self.level}",
                    advice="bind it under its own path, or use the level namespaces",
                )

    def spec(self) -> dict[str, Any]:
        """Return the same in the words of jail/jail.py."""
        limits = dataclasses.asdict(self.limits)
        return {**dataclasses.asdict(self), "binds": [list(bind) for bind in self.binds]} | {
            "limits": {name: int(value) for name, value in limits.items()},
            "scratch": tempfile.gettempdir(),
        }


class JailWorker:
    """A process in a jail that runs one program at a time, many after each other."""

    def __init__(self, child: Child) -> None:
        self._child = child
        # Answered in the order they were asked, also those that nobody waits for any more.
        self._connecting: deque[asyncio.Future[socket.socket]] = deque()
        self._between: deque[asyncio.Future[tuple[dict[str, Any], bytes]]] = deque()

    @classmethod
    async def start(cls, jail: Jail) -> JailWorker:
        """Start a worker; raise InfrastructureError if there can be no such jail."""
        command = [sys.executable, "-I", "-S", str(_START), "launcher"]
        worker = cls(Child.start(command, {}, keeps_output=False))
        try:
            async with asyncio.timeout(_PATIENCE):
                await worker._send(jail.spec())
                await worker._receive()
        except TimeoutError:
            await worker.close()
            raise InfrastructureError("the sandbox did not start in time") from None
        except BaseException:
            await worker.close()
            raise
        return worker

    async def begin(self, standard: Sequence[int], message: dict[str, Any], data: bytes) -> None:
        """Start a program with these standard descriptors; `answer` says how it ended."""
        try:
            self._child.send_descriptors(standard)
        except EOFError:
            raise _EndedError from None
        await self._send(message, data)

    async def answer(self, wall_time: float) -> tuple[dict[str, Any], bytes]:
        """Return how the program ended, and the bytes of the files it left.

        If it used up the memory of its worker too, that counts as its own ending.
        """
        started = time.monotonic()
        try:
            async with asyncio.timeout(wall_time + _PATIENCE) as patience:
                while True:
                    answer, data = await self._receive()
                    if "busy" in answer:
                        patience.reschedule(asyncio.get_running_loop().time() + _PATIENCE)
                    elif "connected" in answer:
                        await self._take_connection(answer)
                    elif "between" in answer:
                        waiting = self._between.popleft()
                        if not waiting.done():
                            waiting.set_result((answer["between"], data))
                    else:
                        return answer, data
        except TimeoutError:
            raise InfrastructureError("the sandbox did not answer in time") from None
        except _EndedError:
            if await self._child.wait() != KILLED_FOR_MEMORY:
                raise
            ending = [-signal.SIGKILL, "memory", time.monotonic() - started, 0.0, 0]
            return {"ending": ending, "files": [], "left": []}, b""

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def has_ended(self) -> bool:
        return self._child.has_ended

    async def connect(self, port: int) -> socket.socket:
        """Return a socket to a port of the running program's network; OSError if it is closed."""
        waiting: asyncio.Future[socket.socket] = asyncio.get_running_loop().create_future()
        self._connecting.append(waiting)
        await self._send({"connect": port})
        try:
            connection = await waiting
        except asyncio.CancelledError:
            # The caller may give up at the moment the answer arrives.
            if not waiting.cancelled() and not waiting.exception():
                waiting.result().close()
            raise
        try:
            await _wait_until_connected(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    async def ask(self, message: dict[str, Any], data: bytes = b"") -> tuple[dict[str, Any], bytes]:
        """Have something done in the work folder of the running program."""
        waiting: asyncio.Future[tuple[dict[str, Any], bytes]]
        waiting = asyncio.get_running_loop().create_future()
        self._between.append(waiting)
        await self._send(message, data)
        return await waiting

    async def stop(self, grace: float) -> None:
        """Ask the running program to end, and end it after so many seconds."""
        await self._send({"stop": grace})

    async def close(self) -> None:
        """End the jail; returns when every process in it is gone."""
        # The next worker removes files it had no time for; no result is lost for them.
        await self._child.close(_PATIENCE_WITH_FILES)

    async def _take_connection(self, answer: dict[str, Any]) -> None:
        waiting = self._connecting.popleft()
        if not answer["connected"]:
            if not waiting.done():
                waiting.set_exception(ConnectionRefusedError(answer["reason"]))
            return
        connection = socket.socket(fileno=await self._child.receive_descriptor())
        if waiting.done():
            connection.close()
        else:
            waiting.set_result(connection)

    async def _send(self, message: dict[str, Any], data: bytes = b"") -> None:
        try:
            await self._child.send(message, data)
        except EOFError:
            raise _EndedError from None

    async def _receive(self) -> tuple[dict[str, Any], bytes]:
        try:
            answer, data = await self._child.receive()
        except EOFError:
            raise _EndedError from None
        if "error" in answer:
            raise InfrastructureError(
                f"the sandbox failed: {answer['error']}",
                advice="run `assay doctor` to see what this machine offers",
            )
        return answer, data


async def _wait_until_connected(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_writer(connection, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_writer(connection)
    error = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if error:
        raise OSError(error, os.strerror(error))


class _EndedError(InfrastructureError):
    """The worker is gone, and with it whatever it ran."""

    def __init__(self) -> None:
        super().__init__(
            "the sandbox's worker ended while it was needed",
            advice="run `assay doctor`; if it is content, try again",
        )
