"""The standard streams of a program: fed and read without ever blocking, kept within bounds."""

from __future__ import annotations

import asyncio
import os
import socket

from assay.errors import InfrastructureError

_SETTLE = 10.0
_NUDGE = 0.1
_CHUNK = 1 << 16  # what a pipe holds


class Capture:
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

    def end(self) -> None:
        """Nothing more will come."""
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

    def given(self) -> None:
        """The program has its ends; ours must go, or the streams would never end."""
        for descriptor in self.theirs:
            os.close(descriptor)
        self.theirs = []

    def feed(self, data: bytes) -> None:
        """All of standard input; a program that does not read it does no harm."""
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

    async def ended(self) -> None:
        """Wait for what is still in the pipes; everybody who could write has ended by now."""
        waiting = {end for end in (self.stdout.ended, self.stderr.ended) if not end.done()}
        until = self._loop.time() + _SETTLE
        while waiting:
            _, waiting = await asyncio.wait(waiting, timeout=_NUDGE)
            if waiting and self._loop.time() > until:
                raise InfrastructureError("a program has ended but its output has not")
            if waiting:
                _close_what_is_in_flight()

    def close(self) -> None:
        self.given()
        for descriptor in list(self._ours):
            self._close(descriptor)

    def _close(self, descriptor: int) -> None:
        self._ours.remove(descriptor)
        self._loop.remove_reader(descriptor)
        self._loop.remove_writer(descriptor)
        os.close(descriptor)


def _close_what_is_in_flight() -> None:
    """Make the kernel close what a program sent to itself over a socket and never received.

    Linux looks for such descriptors only when some socket of this family is closed, so on a
    quiet machine a stream that a program left in flight stays open for as long as it is quiet.
    """
    for end in socket.socketpair():
        end.close()
