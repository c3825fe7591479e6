"""Servers in containers, reached by entering the container's network: no port is published."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import socket
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from assay.containers.container import Container, ContainerSpec
from assay.containers.engine import Engine
from assay.containers.processes import Process
from assay.containers.settings import EngineSettings
from assay.errors import InfrastructureError
from assay.sandbox import (
    CollectedFiles,
    Health,
    ProgramResult,
    Server,
    Streams,
    check_name,
    check_request,
)

_NEW_NETWORK = 0x40000000
_CONNECT = 10.0


class ContainerServer(Server):
    """A server in a container of its own; created by `serve_in_container`."""

    def __init__(self, container: Container, port: int) -> None:
        super().__init__(port)
        self._container = container
        self._process: Process | None = None

    async def begin(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start the server."""
        limits = self._container.spec.limits
        self._streams = Streams(limits.output)
        self._process = await Process.start(self._container, self._streams, command, environment)
        self._process.begin(b"")
        self._answer = asyncio.ensure_future(self._finish(self._process, limits.wall_time))

    async def _finish(self, process: Process, lifetime: float) -> ProgramResult:
        try:
            await process.wait(lifetime)
            return await process.finish()
        finally:
            process.close()

    async def connect(self, port: int | None = None) -> socket.socket:
        """Return a socket to the server's port, or another of its ports; OSError if closed."""
        self._check_running()
        return await connect_in(self._container.pid, port or self._port)

    async def put(self, files: Mapping[str, bytes]) -> None:
        for name in files:
            check_name(name)
        async with self._asking:
            self._check_running()
            await asyncio.to_thread(self._container.places.put, files)

    async def collect(self, patterns: Sequence[str]) -> CollectedFiles:
        async with self._asking:
            self._check_running()
            assert self._process is not None
            return await self._process.collect(patterns)

    def _check_running(self) -> None:
        if not self.running:
            raise ConnectionRefusedError("the server has ended")

    async def _ask_to_end(self, grace: float) -> None:
        assert self._process is not None
        assert self._answer is not None
        if grace > 0:
            self._process.ask_to_end()
            await asyncio.wait({self._answer}, timeout=grace)
        if self.running:
            await self._container.end_programs()


@asynccontextmanager
async def serve_in_container(
    engine: Engine,
    settings: EngineSettings,
    spec: ContainerSpec,
    base: Path | None,
    command: Sequence[str],
    *,
    port: int,
    health: Health,
    patience: float,
    environment: Mapping[str, str],
) -> AsyncIterator[Server]:
    """Start a server in a new container and wait until it answers; see `assay.sandbox.serve`."""
    check_request(command, {}, (), environment)
    container = await Container.start(engine, settings, spec)
    try:
        await asyncio.to_thread(container.places.renew, base)
        server = ContainerServer(container, port)
        await server.begin(command, environment)
        await server.wait_until_healthy(health, patience)
        yield server
        if server.running:
            # The server is no longer needed, so how it ended does not matter.
            with suppress(InfrastructureError):
                await server.stop()
    finally:
        await asyncio.shield(container.close())


async def connect_in(pid: int, port: int) -> socket.socket:
    """Return a socket that is connected to a port in the network of a process."""
    loop = asyncio.get_running_loop()
    connected: asyncio.Future[socket.socket] = loop.create_future()

    def report(result: socket.socket | OSError) -> None:
        if connected.done():
            if isinstance(result, socket.socket):
                result.close()
        elif isinstance(result, OSError):
            connected.set_exception(result)
        else:
            connected.set_result(result)

    def work() -> None:
        try:
            result: socket.socket | OSError = _connect(pid, port)
        except OSError as error:
            result = error
        with contextlib.suppress(RuntimeError):  # the loop has ended, and nobody waits
            loop.call_soon_threadsafe(report, result)

    # A thread of its own: it enters the other network and never comes back.
    threading.Thread(target=work, daemon=True).start()
    return await connected


def _connect(pid: int, port: int) -> socket.socket:
    library = ctypes.CDLL(None, use_errno=True)
    space = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if library.setns(space, _NEW_NETWORK) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"the network of a container: {os.strerror(number)}")
    finally:
        os.close(space)
    return socket.create_connection(("127.0.0.1", port), _CONNECT)
