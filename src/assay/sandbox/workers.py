"""The outside of a worker: starts one, hands it programs and reads how they ended."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import signal
import socket
import struct
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from assay.errors import InfrastructureError, InputError
from assay.sandbox.jail.cgroups import KILLED_FOR_MEMORY
from assay.sandbox.limits import Limits

_START = Path(__file__).parent / "jail" / "start.py"
_LENGTHS = struct.Struct("=QQ")
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
        """The same in the words of jail/jail.py."""
        limits = dataclasses.asdict(self.limits)
        return {**dataclasses.asdict(self), "binds": [list(bind) for bind in self.binds]} | {
            "limits": {name: int(value) for name, value in limits.items()},
            "scratch": tempfile.gettempdir(),
        }


class Worker:
    """A process in a jail that runs one program at a time, many after each other."""

    def __init__(self, process: asyncio.subprocess.Process, control: socket.socket) -> None:
        self._process = process
        self._control = control
        # Answered in the order they were asked, also those that nobody waits for any more.
        self._connecting: deque[asyncio.Future[socket.socket]] = deque()
        self._between: deque[asyncio.Future[tuple[dict[str, Any], bytes]]] = deque()

    @classmethod
    async def start(cls, jail: Jail) -> Worker:
        """Raises InfrastructureError with the step that failed if there can be no such jail."""
        control, theirs = socket.socketpair()
        control.setblocking(False)
        with theirs:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-I", "-S", str(_START), "launcher", str(theirs.fileno())),
                pass_fds=[theirs.fileno()],
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                env={},
                cwd="/",
                start_new_session=True,
            )
        worker = cls(process, control)
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
            socket.send_fds(self._control, [b"!"], list(standard))
        except ConnectionError:
            raise _ended() from None
        await self._send(message, data)

    async def answer(self, wall_time: float) -> tuple[dict[str, Any], bytes]:
        """How the program ended, and the bytes of the files it left.

        Where it has used up the memory to the end of its worker, that is its own ending too.
        """
        started = time.monotonic()
        try:
            async with asyncio.timeout(wall_time + _PATIENCE) as patience:
                while True:
                    answer, data = await self._receive()
                    if "busy" in answer:
                        patience.reschedule(asyncio.get_running_loop().time() + _PATIENCE)
                    elif "connected" in answer:
                        await self._connected(answer)
                    elif "between" in answer:
                        waiting = self._between.popleft()
                        if not waiting.done():
                            waiting.set_result((answer["between"], data))
                    else:
                        return answer, data
        except TimeoutError:
            raise InfrastructureError("the sandbox did not answer in time") from None
        except _EndedError:
            if await self._process.wait() != KILLED_FOR_MEMORY:
                raise
            ending = [-signal.SIGKILL, "memory", time.monotonic() - started, 0.0, 0]
            return {"ending": ending, "files": [], "left": []}, b""

    @property
    def has_ended(self) -> bool:
        """Whether it can run no more programs."""
        return self._process.returncode is not None

    async def connect(self, port: int) -> socket.socket:
        """A socket to a port of the running program's network; OSError if nobody listens."""
        waiting: asyncio.Future[socket.socket] = asyncio.get_running_loop().create_future()
        self._connecting.append(waiting)
        await self._send({"connect": port})
        connection = await waiting
        try:
            await _established(connection)
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
        # Without its counterpart the worker ends by itself, and the jail with it.
        self._control.close()
        try:
            async with asyncio.timeout(_PATIENCE_WITH_FILES):
                await asyncio.shield(self._process.wait())
        except BaseException as error:
            # The supervisor ends everything before it ends itself.
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
            await self._process.wait()
            # Files that it had no time for are removed by the next one; no result is lost for them.
            if not isinstance(error, TimeoutError):
                raise

    async def _connected(self, answer: dict[str, Any]) -> None:
        waiting = self._connecting.popleft()
        if not answer["connected"]:
            if not waiting.done():
                waiting.set_exception(ConnectionRefusedError(answer["reason"]))
            return
        await self._readable()
        _, descriptors, _, _ = socket.recv_fds(self._control, 1, 1)
        connection = socket.socket(fileno=descriptors[0])
        if waiting.done():
            connection.close()
        else:
            waiting.set_result(connection)

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(self._control, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._control)

    async def _send(self, message: dict[str, Any], data: bytes = b"") -> None:
        head = json.dumps(message).encode()
        lengths = _LENGTHS.pack(len(head) + len(data), len(head))
        try:
            await asyncio.get_running_loop().sock_sendall(self._control, lengths + head + data)
        except ConnectionError:
            raise _ended() from None

    async def _receive(self) -> tuple[dict[str, Any], bytes]:
        total, head = _LENGTHS.unpack(await self._exactly(_LENGTHS.size))
        body = await self._exactly(total)
        answer = json.loads(body[:head])
        if "error" in answer:
            raise InfrastructureError(
                f"the sandbox failed: {answer['error']}",
                advice="run `assay doctor` to see what this machine offers",
            )
        return answer, body[head:]

    async def _exactly(self, count: int) -> bytes:
        loop = asyncio.get_running_loop()
        parts = []
        while count:
            try:
                part = await loop.sock_recv(self._control, min(count, 1 << 20))
            except ConnectionError:
                part = b""
            if not part:
                raise _ended()
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


async def _established(connection: socket.socket) -> None:
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


def _ended() -> _EndedError:
    return _EndedError(
        "the sandbox's worker ended while it was needed",
        advice="run `assay doctor`; if it is content, try again",
    )
