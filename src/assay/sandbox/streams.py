"""The standard streams of a program: fed and read without ever blocking, kept within bounds."""

from __future__ import annotations

import asyncio
import os
from typing import IO, Any

from assay.errors import InfrastructureError

_SETTLE = 10.0


class Capture(asyncio.Protocol):
    """Keeps the head and the tail of a stream and reads the rest away, so that no pipe fills."""

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

    def connection_lost(self, exception: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(None)

    @property
    def cut(self) -> int:
        """How many bytes are missing from the middle."""
        return max(0, self._total - self._first - self._last)

    def kept(self) -> bytes:
        """What was kept; where something is missing a note says how much."""
        note = b"\n[... %d bytes cut ...]\n" % self.cut if self.cut else b""
        tail = self._tail[max(0, len(self._tail) - self._last) :]
        return bytes(self._head) + note + bytes(tail)


class _Feeding(asyncio.BaseProtocol):
    """Knows whether standard input is still being written: a transport that has gone cannot say."""

    def __init__(self) -> None:
        self.gone = False

    def connection_lost(self, exception: Exception | None) -> None:
        self.gone = True


class Streams:
    """Three pipes: one end of each is given to the program, the other is served here."""

    def __init__(self, limit: int) -> None:
        self.stdout, self.stderr = Capture(limit), Capture(limit)
        self._feeding = _Feeding()
        self._stdin: asyncio.WriteTransport | None = None
        self._transports: list[asyncio.BaseTransport] = []
        self.theirs: list[int] = []

    @classmethod
    async def open(cls, limit: int) -> Streams:
        streams, loop = cls(limit), asyncio.get_running_loop()
        theirs, ours = os.pipe()
        streams.theirs.append(theirs)
        writing, _ = await loop.connect_write_pipe(lambda: streams._feeding, _file(ours, "wb"))
        streams._stdin = writing
        for capture in (streams.stdout, streams.stderr):
            ours, theirs = os.pipe()
            streams.theirs.append(theirs)
            reading, _ = await loop.connect_read_pipe(lambda own=capture: own, _file(ours, "rb"))  # type: ignore[misc]
            streams._transports.append(reading)
        return streams

    def given(self) -> None:
        """The program has its ends; ours must go, or the streams would never end."""
        for descriptor in self.theirs:
            os.close(descriptor)
        self.theirs = []

    def feed(self, data: bytes) -> None:
        """All of standard input; a program that does not read it does no harm."""
        assert self._stdin is not None
        if data:
            self._stdin.write(data)
        self._stdin.close()

    async def ended(self) -> None:
        """Wait for what is still in the pipes; everybody who could write has ended by now."""
        try:
            async with asyncio.timeout(_SETTLE):
                await asyncio.gather(self.stdout.ended, self.stderr.ended)
        except TimeoutError:
            raise InfrastructureError("a program has ended but its output has not") from None

    def close(self) -> None:
        self.given()
        if self._stdin is not None and not self._feeding.gone:
            self._stdin.abort()
        for transport in self._transports:
            transport.close()


def _file(descriptor: int, mode: str) -> IO[Any]:
    return os.fdopen(descriptor, mode, buffering=0)
