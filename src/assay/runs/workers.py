"""Forked workers for synchronous work with a time limit: what hangs can be killed, and only that.

A worker is forked, so it needs no importable function; it dies with the process that made it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import signal
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from assay.forks import die_with_parent
from assay.tracebacks import format_exception

_HEADER = struct.Struct("!Q")


class LimitExceededError(Exception):
    """The work took longer than its limit."""


class WorkerDiedError(Exception):
    """The work ended its own process: a crash, a kill, an exit."""


class WorkRaisedError(Exception):
    """The work raised; the message is an account of what."""


class WorkerPool:
    """Calls one function in forked workers, each call with a limit."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()

    async def call(self, argument: Any, limit: float) -> Any:
        """The function's result for an argument; raises one of the errors above."""
        payload = pickle.dumps(argument)
        worker = self._idle.pop() if self._idle else self._start()
        self._busy.add(worker)
        try:
            async with asyncio.timeout(limit):
                raised, value = await worker.exchange(payload)
        except TimeoutError:
            worker.kill()
            raise LimitExceededError from None
        except (EOFError, ConnectionError):
            raise WorkerDiedError(await worker.ending()) from None
        except BaseException:
            worker.kill()
            raise
        finally:
            self._busy.discard(worker)
        self._idle.append(worker)
        if raised:
            raise WorkRaisedError(f"raised {value}")
        return value

    def _start(self) -> _Worker:
        ours, theirs = socket.socketpair()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            inherited = [worker.socket for worker in (*self._idle, *self._busy)]
            _serve(self._function, theirs, [ours, *inherited])
        # From both sides, so that the group exists whoever comes first.
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        theirs.close()
        ours.setblocking(False)
        return _Worker(pid, ours)

    def close(self) -> None:
        for worker in (*self._idle, *self._busy):
            worker.kill()
        self._idle.clear()
        self._busy.clear()


class _Worker:
    def __init__(self, pid: int, connection: socket.socket) -> None:
        self._pid: int | None = pid
        self._group = pid
        self._status = 0
        self.socket = connection

    async def exchange(self, payload: bytes) -> tuple[bool, Any]:
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(self.socket, _HEADER.pack(len(payload)) + payload)
        (size,) = _HEADER.unpack(await self._receive(_HEADER.size))
        raised, value = pickle.loads(await self._receive(size))  # noqa: S301 - our own fork
        return raised, value

    async def _receive(self, size: int) -> bytearray:
        loop = asyncio.get_running_loop()
        received = bytearray(size)
        rest = memoryview(received)
        while rest:
            count = await loop.sock_recv_into(self.socket, rest)
            if count == 0:
                raise EOFError
            rest = rest[count:]
        return received

    async def ending(self) -> str:
        """How the worker ended, once its end of the line is closed."""
        for _ in range(100):
            self._reap(os.WNOHANG)
            if self._pid is None:
                break
            await asyncio.sleep(0.01)
        self.kill()
        code = os.waitstatus_to_exitcode(self._status)
        if code < 0:
            return f"was ended by {signal.strsignal(-code) or 'a signal'} ({-code})"
        return f"ended its process with status {code}"

    def kill(self) -> None:
        """End the worker with everything it started that stayed in its group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._group, signal.SIGKILL)
        self._reap(0)
        self.socket.close()

    def _reap(self, options: int) -> None:
        if self._pid is not None:
            pid, status = os.waitpid(self._pid, options)
            if pid:
                self._pid, self._status = None, status


def _serve(
    function: Callable[[Any], Any], connection: socket.socket, inherited: list[socket.socket]
) -> NoReturn:
    """The life of a worker: answer calls until the other end is closed."""
    status = 1
    try:
        os.setpgid(0, 0)
        die_with_parent()
        # Ctrl-C is the parent's business; it kills the workers.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.set_wakeup_fd(-1)
        for other in inherited:
            os.close(other.fileno())
        _answer_calls(function, connection)
        status = 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # Not sys.exit: the parent's handlers and buffers are not the worker's to run.
        os._exit(status)


def _answer_calls(function: Callable[[Any], Any], connection: socket.socket) -> None:
    stream = connection.makefile("rwb")
    while header := stream.read(_HEADER.size):
        (size,) = _HEADER.unpack(header)
        argument = pickle.loads(stream.read(size))  # noqa: S301 - our own fork
        answer = _answer(function, argument)
        stream.write(_HEADER.pack(len(answer)) + answer)
        stream.flush()


def _answer(function: Callable[[Any], Any], argument: Any) -> bytes:
    try:
        return pickle.dumps((False, function(argument)))
    except BaseException as error:
        return pickle.dumps((True, format_exception(error)))
