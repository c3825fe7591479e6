"""A child process and its message channel: starting, forking, requests, and killing its group.

Messages are plain data, never pickles, unless the child is a fork of this process.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

from assay.processes.channel import (
    HEADER,
    JSON,
    LARGEST,
    PIECE,
    Channel,
    Codec,
    decode,
    pack,
    unpack_lengths,
)
from assay.processes.limits import die_with_parent, keep_private, release

_REAP_EVERY, _REAP_TRIES = 0.01, 100
_TAIL = 2_000


class ChildLostError(Exception):
    """The child died, does not answer, or sent an invalid answer; the text follows its name."""

    def __init__(self, reason: str, printed: str = "") -> None:
        super().__init__(f"{reason}; the last it printed:\n{printed}" if printed else reason)
        self.reason, self.printed = reason, printed


class ChildLateError(ChildLostError):
    """The child did not answer in time."""


class Child:
    """A process that answers one message at a time; the caller ends it when it is lost."""

    def __init__(
        self,
        process: subprocess.Popen[bytes] | _Fork,
        line: socket.socket,
        codec: Codec = JSON,
        largest: int = LARGEST,
        output: IO[bytes] | None = None,
    ) -> None:
        """`output` is where the child prints; `on_output` gets the output after every answer."""
        self._process, self._line = process, line
        self._codec, self._largest = codec, largest
        self._output = output
        self.on_output: Callable[[str], None] | None = None
        line.setblocking(False)
        keep_private(line.fileno())

    @classmethod
    def start(
        cls,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        folder: str | Path = "/",
        keeps_output: bool = True,
        codec: Codec = JSON,
        largest: int = LARGEST,
    ) -> Child:
        """Start a program in a new session; its last argument is the descriptor of its channel."""
        ours, theirs = socket.socketpair()
        output = _open_output() if keeps_output else None
        with theirs, contextlib.ExitStack() as opened:
            for ours_too in (ours, output):
                if ours_too is not None:
                    opened.callback(ours_too.close)
            process = subprocess.Popen(  # noqa: S603 - the caller's own command
                [*command, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=output or subprocess.DEVNULL,
                stderr=output or subprocess.DEVNULL,
                cwd=folder,
                env=dict(environment),
                start_new_session=True,
            )
            opened.pop_all()
        return cls(process, ours, codec, largest, output)

    @classmethod
    def fork(cls, serve: Callable[[Channel], None], codec: Codec) -> Child:
        """Fork this process; the copy serves the other end of the channel and exits."""
        ours, theirs = socket.socketpair()
        # Before the fork, so that the copy closes this end.
        keep_private(ours.fileno())
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            _serve(serve, Channel(theirs.detach(), codec))
        # Set on both sides, so that the group exists whichever runs first.
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        theirs.close()
        return cls(_Fork(pid), ours, codec)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        return self._peek() is not None

    async def ask(self, message: Any, seconds: float) -> Any:
        """Return the answer to a message; raise ChildLostError if there is none in time."""
        try:
            async with asyncio.timeout(seconds):
                await self.send(message)
                answer, _ = await self.receive()
        except TimeoutError:
            late = f"did not answer within {seconds:g} s"
            raise ChildLateError(late, self._take_output()) from None
        except EOFError:
            raise ChildLostError(await self.describe_end(), self._take_output()) from None
        except ValueError as error:
            raise ChildLostError(f"answered nonsense: {error}", self._take_output()) from None
        if self.on_output is not None:
            self._take_output()
        return answer

    def _take_output(self) -> str:
        """Return the end of the output since the previous call."""
        if self._output is None or not (size := os.fstat(self._output.fileno()).st_size):
            return ""
        start = 0 if self.on_output is not None else max(0, size - _TAIL)
        text = os.pread(self._output.fileno(), size - start, start).decode(errors="replace")
        self._output.truncate(0)
        if self.on_output is not None:
            self.on_output(text)
        text = text.strip()
        return text if len(text) <= _TAIL else f"…{text[-_TAIL:]}"

    async def send(self, message: Any, data: bytes = b"") -> None:
        """Send a message; raise EOFError if the child is gone."""
        frame = pack(self._codec.encode(message), data)
        try:
            await asyncio.get_running_loop().sock_sendall(self._line, frame)
        except ConnectionError:
            raise EOFError from None

    async def receive(self) -> tuple[Any, bytes]:
        """Return the next message; raise EOFError at the end and ValueError if it is invalid."""
        text, data = unpack_lengths(await self._read(HEADER.size), self._largest)
        message = decode(self._codec, await self._read(text))
        return message, await self._read(data) if data else b""

    def send_descriptors(self, descriptors: Sequence[int]) -> None:
        """Send open files; the child has to receive them next."""
        try:
            socket.send_fds(self._line, [b"!"], list(descriptors))
        except ConnectionError:
            raise EOFError from None

    async def receive_descriptor(self) -> int:
        """Return an open file that the child sends next."""
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(self._line, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._line)
        _, descriptors, _, _ = socket.recv_fds(self._line, 1, 1)
        return descriptors[0]

    async def _read(self, count: int) -> bytes:
        # In pieces, so that a length alone allocates no memory.
        loop = asyncio.get_running_loop()
        parts = []
        while count:
            try:
                part = await loop.sock_recv(self._line, min(count, PIECE))
            except ConnectionError:
                part = b""
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def describe_end(self) -> str:
        """Describe how the child ended, known a moment after its end of the channel closes."""
        for _ in range(_REAP_TRIES):
            code = self._peek()
            if code is not None and code < 0:
                return f"was ended by {signal.strsignal(-code) or 'a signal'} ({-code})"
            if code is not None:
                return f"ended its process with status {code}"
            await asyncio.sleep(_REAP_EVERY)
        return "closed its line to Assay"

    def _peek(self) -> int | None:
        """Return the exit status without reaping, so that `kill` can still use the group id."""
        if self._process.returncode is not None or not hasattr(os, "waitid"):
            return self._process.poll()  # macOS, before Python 3.13
        ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        if ended is None:
            return None
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    async def wait(self) -> int:
        """Wait for the child to end and describe how it ended."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(AttributeError, OSError):  # elsewhere than on Linux, or reaped
            handle = os.pidfd_open(self.pid)
            ended = asyncio.Event()
            loop.add_reader(handle, ended.set)
            try:
                await ended.wait()
            finally:
                loop.remove_reader(handle)
                os.close(handle)
        while (code := self._process.poll()) is None:
            await asyncio.sleep(_REAP_EVERY)
        return code

    async def close(self, patience: float = 0.0) -> None:
        """End the child. One that cleans up by itself gets `patience` seconds, then a SIGTERM."""
        if patience:
            self._hang_up()
            try:
                async with asyncio.timeout(patience):
                    await self.wait()
            except BaseException as error:
                # A supervisor ends everything before it ends itself.
                if self._process.poll() is None:
                    os.kill(self.pid, signal.SIGTERM)
                await self.wait()
                if not isinstance(error, TimeoutError):
                    raise
        self.kill()

    def kill(self) -> None:
        """End the child and everything it started that stayed in its group."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()
        self._hang_up()

    def _hang_up(self) -> None:
        if self._line.fileno() >= 0:
            release(self._line.fileno())
            self._line.close()
        if self._output is not None:
            self._output.close()


class _Fork:
    """A fork of this process with the part of the `Popen` interface that is needed."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self._reap(os.WNOHANG)

    def wait(self) -> int | None:
        return self._reap(0)

    def _reap(self, options: int) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode


def _serve(serve: Callable[[Channel], None], channel: Channel) -> NoReturn:
    status = 1
    try:
        os.setpgid(0, 0)
        die_with_parent()
        # The parent handles Ctrl-C and kills its children.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.set_wakeup_fd(-1)
        serve(channel)
        status = 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # Not sys.exit: the child must not run the parent's exit handlers and flush its buffers.
        os._exit(status)


def _open_output() -> IO[bytes]:
    """Return an unnamed file in append mode."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the line
    fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_APPEND)
    return file
