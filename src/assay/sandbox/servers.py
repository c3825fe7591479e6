"""Long-running servers inside the sandbox, reached through sockets passed out of it.

At the level `namespaces` a server has its own network: its ports are used nowhere else, and no port
of this machine is opened. At the level `landlock` there is no such network: the server may use only
the one TCP port it is given, which must be free on this machine, and may connect to nothing else.
"""

from __future__ import annotations

import asyncio
import http.client
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from assay.errors import InfrastructureError
from assay.sandbox.overlay_base import Base
from assay.sandbox.programs import (
    CollectedFiles,
    ProgramRequest,
    ProgramResult,
    Programs,
    Streams,
    check_name,
    make_request,
    make_result,
    read_files,
)
from assay.sandbox.workers import MIB, Bind, Jail, JailWorker, Limits

_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.02
_GRACE = 2.0
_PIECE = 1 << 16

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered."""

    status: int
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes


@dataclass(frozen=True, slots=True)
class Health:
    """How a server shows that it is ready: `GET path` answers (None: its port is open)."""

    path: str | None = "/"
    any_status: bool = False
    """Whether an answer of 500 and more will do."""


class NotServingError(Exception):
    """The server ended, or failed its health check in time: its own fault, not ours."""

    def __init__(self, what: str, result: ProgramResult) -> None:
        super().__init__(what)
        self.result = result


class Server(ABC):
    """A running server, wherever it runs."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._asking = asyncio.Lock()
        self._answer: asyncio.Task[ProgramResult] | None = None
        self._streams: Streams | None = None

    @property
    def stderr(self) -> bytes:
        """What it has written to standard error so far."""
        return b"" if self._streams is None else self._streams.stderr.content()

    @property
    def running(self) -> bool:
        return self._answer is not None and not self._answer.done()

    @abstractmethod
    async def connect(self, port: int | None = None) -> socket.socket:
        """Return a socket to the server's port, or another of its ports; OSError if closed."""

    @abstractmethod
    async def put(self, files: Mapping[str, bytes]) -> None:
        """Put files into its work folder; raise OSError if that fails or it has ended."""

    @abstractmethod
    async def collect(self, patterns: Sequence[str]) -> CollectedFiles:
        """Return files of its work folder as they are now; ConnectionRefusedError if it ended."""

    @abstractmethod
    async def _ask_to_end(self, grace: float) -> None:
        """Ask the server to end, and kill it after `grace` seconds."""

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
        longest: int = 256 * MIB,
    ) -> Response:
        """Make one HTTP request over a new connection; OSError or HTTPException if it fails.

        `longest` is how many bytes an answer may have.
        """
        async with asyncio.timeout(timeout):
            connection = await self.connect()
            connection.settimeout(timeout)
            try:
                return await asyncio.to_thread(
                    _exchange, connection, method, path, body, dict(headers or {}), longest
                )
            finally:
                # A response that never ends would keep its thread from all other requests.
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    async def wait(self, patience: float) -> ProgramResult | None:
        """Return how it ended, if it ends within the given seconds."""
        assert self._answer is not None
        done, _ = await asyncio.wait({self._answer}, timeout=patience)
        return self._answer.result() if done else None

    async def stop(self, grace: float = _GRACE) -> ProgramResult:
        """Ask the server to end, kill it after `grace` seconds, and return how it ended."""
        assert self._answer is not None
        if self.running:
            await self._ask_to_end(grace)
        return await self._answer

    async def wait_until_healthy(self, health: Health, patience: float) -> None:
        """Wait until the server answers; raise NotServingError if it does not."""
        deadline, pause = time.monotonic() + patience, _FIRST_PAUSE
        while self.running and time.monotonic() < deadline:
            if await self._answers(health, deadline - time.monotonic()):
                return
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)
        died = not self.running
        result = await self.stop(0.0)
        what = "ended before it answered" if died else f"did not answer within {patience:g} s"
        raise NotServingError(f"the server {what}", result)

    async def _answers(self, health: Health, patience: float) -> bool:
        try:
            if health.path is None:
                (await self.connect()).close()
                return True
            answer = await self.request("GET", health.path, timeout=patience)
            return health.any_status or answer.status < 500
        except (OSError, http.client.HTTPException):
            return False


class JailServer(Server):
    """A server in a jail; created by `serve`."""

    def __init__(self, worker: JailWorker, jail: Jail, port: int) -> None:
        super().__init__(port)
        self._worker, self._jail = worker, jail

    async def connect(self, port: int | None = None) -> socket.socket:
        return await self._while_running(lambda: self._worker.connect(port or self._port))

    async def put(self, files: Mapping[str, bytes]) -> None:
        for name in files:
            check_name(name)
        message = {"put": [[name, len(content)] for name, content in files.items()]}
        data = b"".join(files.values())
        answer, _ = await self._while_running(lambda: self._worker.ask(message, data))
        if "reason" in answer:
            raise OSError(answer["reason"])

    async def collect(self, patterns: Sequence[str]) -> CollectedFiles:
        message = {"collect": list(patterns), "collect_size": self._jail.limits.collected}
        return read_files(*await self._while_running(lambda: self._worker.ask(message)))

    async def _ask_to_end(self, grace: float) -> None:
        await self._worker.stop(grace)

    async def _while_running(self, ask: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Return the worker's answer, one request at a time, unless the server ends first."""
        async with self._asking:
            if not self.running:
                raise ConnectionRefusedError("the server has ended")
            waiting = asyncio.ensure_future(ask())
            assert self._answer is not None
            try:
                await asyncio.wait({waiting, self._answer}, return_when=asyncio.FIRST_COMPLETED)
                if waiting.done():
                    return waiting.result()
            finally:
                waiting.cancel()
            raise ConnectionRefusedError("the server has ended")

    async def _begin(self, request: ProgramRequest) -> None:
        streams = Streams(self._jail.limits.output)
        await self._worker.begin(streams.theirs, request.message, request.data)
        streams.close_theirs()
        streams.feed(b"")
        self._streams = streams
        self._answer = asyncio.ensure_future(self._finish(streams))

    async def _finish(self, streams: Streams) -> ProgramResult:
        try:
            answer, data = await self._worker.answer(self._jail.limits.wall_time)
            await streams.drain()
        finally:
            streams.close()
        return make_result(answer, data, streams, self._jail.level)


@asynccontextmanager
async def serve(
    command: Sequence[str],
    *,
    port: int,
    health: str | Health | None = "/",
    patience: float = 30.0,
    files: Mapping[str, bytes] | None = None,
    collect: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    isolation: str = "auto",
    binds: Sequence[Bind | tuple[str, str, bool]] = (),
    base: Base | None = None,
) -> AsyncIterator[Server]:
    """Start a server and wait until it answers `GET health` (None: until its port is open).

    It is ended when the block exits, or by its own limits; `Server.stop` returns how it ended.
    """
    kind = Programs(isolation=isolation, limits=limits, binds=binds, ports=(port,), base=base)
    if kind.jail.level != "namespaces":
        _check_free(port)
    request = make_request(kind.jail, command, files or {}, collect, environment or {})
    worker = await JailWorker.start(kind.jail)
    try:
        server = JailServer(worker, kind.jail, port)
        await server._begin(request)
        known = health if isinstance(health, Health) else Health(health)
        await server.wait_until_healthy(known, patience)
        yield server
        if server.running:
            # The server is no longer needed, so how it ended does not matter.
            with suppress(InfrastructureError):
                await server.stop()
    finally:
        await worker.close()


def _check_free(port: int) -> None:
    """Raise if another process listens there, which would be mistaken for the server."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise InfrastructureError(
                f"port {port} of this machine is not free: {error.strerror}",
                advice="free it, or use the isolation level namespaces, which needs no port",
            ) from None


def _exchange(
    connection: socket.socket,
    method: str,
    path: str,
    body: bytes | None,
    headers: dict[str, str],
    longest: int,
) -> Response:
    with closing(http.client.HTTPConnection("localhost")) as client:
        client.sock = connection
        client.request(method, path, body=body, headers={"Connection": "close", **headers})
        try:
            return _read_answer(client.getresponse(), longest)
        except (OSError, http.client.HTTPException):
            raise
        except Exception as error:
            # The parser lets others through, ValueError for one; the bytes are the server's anyhow.
            raise http.client.HTTPException(f"it is not HTTP: {error}") from error


def _read_answer(answer: http.client.HTTPResponse, longest: int) -> Response:
    names: dict[str, str] = {}
    for name, value in answer.getheaders():
        before = names.get(name.lower())
        names[name.lower()] = value if before is None else f"{before}, {value}"
    content = bytearray()
    # In pieces: the chunk size from the parser (possibly negative) cannot be trusted.
    while len(content) <= longest and (piece := answer.read1(_PIECE)):
        content += piece
    if len(content) > longest:
        raise OSError(f"the answer is longer than {longest} bytes")
    if answer.length:
        raise http.client.IncompleteRead(bytes(content[:_PIECE]), answer.length)
    return Response(answer.status, names, bytes(content))
