"""The outside of a problem's worker: starts it, asks it, and ends it with all it started."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from assay.checks import cut
from assay.errors import InfrastructureError, InputError
from assay.model import values
from assay.submissions.python_problems import frames

# Assay's own modules are compiled once, as everywhere; beside a problem's code no bytecode is left.
_START = (
    "import importlib, json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "sys.dont_write_bytecode = sys.argv[4] == 'True'; "
    "module = importlib.import_module(sys.argv[3]); sys.dont_write_bytecode = True; "
    "module.main(int(sys.argv[1]))"
)
_MODULE = "assay.submissions.python_problems.worker"
_MAX_SAID = 2_000


class WorkerLostError(Exception):
    """The worker is gone: what it was asked hung, crashed or ended its process."""


class QuestionRaisedError(Exception):
    """The problem's code raised; the message is an account of what, and where."""


def clean_environment() -> dict[str, str]:
    """What a problem's code sees of the environment: no secret, and the same on every machine."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "PYTHONUTF8": "1",
        # Reports quote what verifiers print of sets; the order is to be the same in every run.
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class Worker:
    """A process with a problem loaded in it, which answers one question at a time."""

    def __init__(
        self,
        problem: dict[str, Any],
        on_output: Callable[[str], None] | None,
        module: str = _MODULE,
        *,
        has_folder: bool = True,
    ) -> None:
        """`module` is what the process runs: its `main` answers at the other end of the line.

        Without a folder of its own, for code of Assay's, nothing stays if Assay is killed.
        """
        self._problem = problem
        self._module = module
        self._on_output = on_output
        self.is_closed = False
        self._scratch = Path(tempfile.mkdtemp(prefix="assay-problem-")) if has_folder else None
        self._output = _appended_file()
        self._connection, theirs = socket.socketpair()
        self._connection.setblocking(False)
        with theirs:
            try:
                self._process = self._start(theirs.fileno())
            except OSError as error:
                self._discard()
                raise InfrastructureError(f"no process for the problem: {error}") from error

    def _start(self, descriptor: int) -> subprocess.Popen[bytes]:
        path = json.dumps([entry for entry in sys.path if entry])
        own = {} if self._scratch is None else {"TMPDIR": str(self._scratch)}
        about = (str(descriptor), path, self._module, str(sys.dont_write_bytecode))
        return subprocess.Popen(  # noqa: S603 - Assay's own interpreter and code
            [sys.executable, "-P", "-s", "-u", "-c", _START, *about],
            pass_fds=[descriptor],
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._output,
            cwd=self._scratch or "/",
            env=clean_environment() | own,
            start_new_session=True,
        )

    async def load(self, limit: float) -> None:
        """Import the problem; raises InputError if something is wrong with it."""
        try:
            await self._exchange(self._problem, limit)
        except QuestionRaisedError as error:
            raise InputError(f"it cannot be loaded: {error}", where=self._problem["path"]) from None

    async def ask(self, question: str, limit: float, **about: Any) -> Any:
        """The worker's answer; raises one of the errors above, or InputError.

        After WorkerLostError, or if the wait is cancelled, the worker is closed.
        """
        return await self._exchange({"do": question, **about}, limit)

    async def _exchange(self, message: dict[str, Any], limit: float) -> Any:
        try:
            async with asyncio.timeout(limit):
                answer = await self._over_the_line(frames.packed(message))
        except TimeoutError:
            raise self._lost(f"did not answer within {limit:g} s") from None
        except (EOFError, ConnectionError):
            raise self._lost(await self._ending()) from None
        except BaseException:
            self.close()
            raise
        self._said()
        return value_of(answer)

    async def _over_the_line(self, frame: bytes) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(self._connection, frame)
        (size,) = frames.HEADER.unpack(await self._receive(frames.HEADER.size))
        answer: dict[str, Any] = values.decode(await self._receive(size))
        return answer

    async def _receive(self, size: int) -> bytes:
        loop = asyncio.get_running_loop()
        received = bytearray(size)
        rest = memoryview(received)
        while rest:
            count = await loop.sock_recv_into(self._connection, rest)
            if count == 0:
                raise EOFError
            rest = rest[count:]
        return bytes(received)

    def _said(self) -> str:
        """What the problem's code printed since this was asked last."""
        size = os.fstat(self._output.fileno()).st_size
        if not size:
            return ""
        text = os.pread(self._output.fileno(), size, 0).decode(errors="replace")
        self._output.truncate(0)
        if self._on_output is not None:
            self._on_output(text)
        return text

    async def _ending(self) -> str:
        """How the worker ended, which it tells a moment after its end of the line is closed."""
        about = os.WEXITED | os.WNOWAIT | os.WNOHANG
        for _ in range(100):
            # Not reaped yet, so that its session's number cannot become another's before the kill.
            ended = os.waitid(os.P_PID, self._process.pid, about)
            if ended is not None:
                return _told(ended.si_code == os.CLD_EXITED, ended.si_status)
            await asyncio.sleep(0.01)
        return "closed its line to Assay"

    def _lost(self, what: str) -> WorkerLostError:
        said = cut(self._said().strip(), _MAX_SAID)
        self.close()
        return WorkerLostError(f"{what}; the last it printed:\n{said}" if said else what)

    def close(self) -> None:
        """End the worker and everything in its session."""
        if self.is_closed:
            return
        self.is_closed = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._discard()

    def _discard(self) -> None:
        self._connection.close()
        self._output.close()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)


def _appended_file() -> IO[bytes]:
    """A file without a name that everybody writes to the end of, wherever the end is."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
    fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_APPEND)
    return file


def _told(has_exited: bool, status: int) -> str:
    if has_exited:
        return f"ended its process with status {status}"
    return f"was ended by {signal.strsignal(status) or 'a signal'} ({status})"


def value_of(answer: dict[str, Any]) -> Any:
    """What an answer says; raises InputError or QuestionRaisedError if it says that."""
    if "input" in answer:
        about = answer["input"]
        raise InputError(about["what"], where=about["where"], advice=about["advice"])
    if "raised" in answer:
        raise QuestionRaisedError(answer["raised"])
    return answer["value"]
