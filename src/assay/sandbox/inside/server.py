"""The warm process: enters the sandbox, imports the target, prepares pytest, forks for every proof."""

from __future__ import annotations

import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import time
import traceback
from contextlib import suppress
from typing import Any

from . import reaper
from .child import Job, run
from .session import Prepared, pytest_version, run_main

# What one proof may send back; a forged flood of events ends there.
_REPORT_BYTES = 4_000_000
_OUTPUT_BYTES = 40_000
# After its own limit a proof's reaper has this long to clear up before it is ended too.
_BACKSTOP = 3.0

# Uses what proofs use, so that pytest's own late imports happen once, before the forks.
_SAMPLE = '''
import asyncio, re, unittest.mock
import pytest

@pytest.mark.parametrize("value", [1, 2])
def test_passes(value, tmp_path, monkeypatch, capsys, recwarn, caplog):
    monkeypatch.setattr(re, "UNUSED", 1, raising=False)
    (tmp_path / "file").write_text("text")
    assert value == pytest.approx(value)
    with pytest.raises(ValueError, match="number"):
        raise ValueError("number")

@pytest.mark.asyncio
async def test_waits():
    await asyncio.sleep(0)

def test_fails():
    assert {"a": [1, 2]} == {"a": [1, 3]}
'''

# Work that a library puts off until it is first used, by the module that shows it is there.
_TOUCHES = {
    "pydantic": "from pydantic import BaseModel\nclass Touched(BaseModel):\n    value: int\n",
}


class Running:
    """One proof under way: its reaper and the three pipes that lead here."""

    def __init__(self, job: Job, pid: int, report: int, output: int, status: int) -> None:
        self.job = job
        self.pid = pid
        self.open = {report: bytearray(), output: bytearray(), status: bytearray()}
        self.report = self.open[report]
        self.output = self.open[output]
        self.status = self.open[status]
        self.cut = 0
        self.deadline = time.monotonic() + job.seconds + _BACKSTOP

    def take(self, descriptor: int) -> bool:
        """Read what came; False at the end of that pipe."""
        data = os.read(descriptor, 65_536)
        if not data:
            return False
        buffer = self.open[descriptor]
        if buffer is self.output:
            buffer += data
            if len(buffer) > 2 * _OUTPUT_BYTES:
                excess = len(buffer) - _OUTPUT_BYTES
                half = _OUTPUT_BYTES // 2
                del buffer[half : half + excess]
                self.cut += excess
        elif len(buffer) < _REPORT_BYTES:
            buffer += data
        return True

    def result(self) -> dict[str, Any]:
        try:
            facts = json.loads(bytes(self.status))
        except ValueError:
            facts = {"exit": None, "timed_out": False, "left_over": 0, "elapsed": 0.0, "cpu": 0.0}
        return {
            **facts,
            "event": "done",
            "id": self.job.id,
            "token": self.job.token,
            "report": self.report.decode("ascii", "replace"),
            "output": self.output.decode("utf-8", "replace"),
            "output_cut": self.cut,
        }


class Server:
    """Serves proofs over one socket until it closes."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._selector = selectors.DefaultSelector()
        self._incoming = bytearray()
        self._running: set[Running] = set()
        self._root = ""
        self._prepared: Prepared | None = None

    def start(self, order: dict[str, Any]) -> None:
        """Become what was ordered: enter, set the path, import, prepare, learn."""
        self._root = order["root"]
        sys.path[:] = [*order["first"], *sys.path, *order["last"]]
        sys.dont_write_bytecode = True
        failed = {name: problem for name in order["imports"] if (problem := _import(name))}
        for name in _TOUCHES.keys() & order["imports"]:
            with suppress(Exception):
                exec(_TOUCHES[name], {"__name__": "touched"})  # noqa: S102 - constants of this file
        version = pytest_version()
        # It needs pytest, which is only on the path now, and belongs before the forks.
        importlib.import_module(".recorder", __package__)
        if order["fast"] and version == order["pytest"]:
            self._prepared = Prepared(self._root)
        for position, sample in enumerate([_SAMPLE, *order["samples"]] if order["learn"] else []):
            self._learn(f"sample-{position}", sample, order)
        gc.collect()
        gc.freeze()
        self._send(
            {
                "event": "ready",
                "pytest": version,
                "fast": self._prepared is not None,
                "failed": failed,
                "threads": len(os.listdir("/proc/self/task")),  # noqa: PTH208
            }
        )

    def _learn(self, name: str, sample: str, order: dict[str, Any]) -> None:
        """Run a sample in a throw-away fork and import here what it had to import there."""
        job = Job(name, "test_sample.py", sample, "sample", 60.0, order["limits"], learn=True)
        running = self._fork(job)
        while running in self._running:
            self._turn(running)
        for line in running.report.decode("ascii", "replace").splitlines():
            _, _, text = line.partition(" ")
            event = json.loads(text)
            for module in event.get("modules", []):
                if module != "test_sample":
                    _import(module)

    def serve(self) -> None:
        self._selector.register(self._connection, selectors.EVENT_READ, None)
        while self._connection.fileno() >= 0:
            self._turn(None)

    def _turn(self, only: Running | None) -> None:
        """Wait for one thing to happen and deal with it."""
        wait = min((one.deadline for one in self._running), default=None)
        timeout = None if wait is None else max(0.0, wait - time.monotonic())
        for key, _ in self._selector.select(timeout):
            running: Running | None = key.data
            if running is None:
                self._receive()
            elif not running.take(key.fd):
                self._selector.unregister(key.fd)
                os.close(key.fd)
                del running.open[key.fd]
                if not running.open:
                    self._finish(running, announce=only is None)
        for running in [one for one in self._running if one.deadline <= time.monotonic()]:
            with suppress(ProcessLookupError):
                os.kill(running.pid, signal.SIGKILL)
            running.deadline = time.monotonic() + _BACKSTOP

    def _receive(self) -> None:
        data = self._connection.recv(1 << 20)
        if not data:
            self._selector.unregister(self._connection)
            self._connection.close()
            return
        self._incoming += data
        while b"\n" in self._incoming:
            line, _, rest = bytes(self._incoming).partition(b"\n")
            self._incoming = bytearray(rest)
            self._obey(json.loads(line))

    def _obey(self, order: dict[str, Any]) -> None:
        if order["event"] == "start":
            self.start(order)
        else:
            del order["event"]
            self._fork(Job(**order))

    def _fork(self, job: Job) -> Running:
        report, output, status = os.pipe(), os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            self._below(job, report[1], output[1], status[1])
        for _, write in (report, output, status):
            os.close(write)
        running = Running(job, pid, report[0], output[0], status[0])
        self._running.add(running)
        for descriptor in running.open:
            self._selector.register(descriptor, selectors.EVENT_READ, running)
        return running

    def _below(self, job: Job, report: int, output: int, status: int) -> None:
        """In the fork: the reaper, and below it the proof. Never returns."""
        try:
            reaper.close_all_but({2, report, output, status})
            reaper.become_subreaper()
            folder = os.path.join(self._root, job.id)  # noqa: PTH118
            reaper.watch(
                lambda: run(job, folder, report, output, self._perform),
                status=status,
                seconds=job.seconds,
                folder=folder,
            )
        except BaseException:
            os.write(2, traceback.format_exc().encode("utf-8", "replace"))
        finally:
            os._exit(70)

    def _perform(self, path: str, recorder: Any) -> None:
        if self._prepared is not None:
            self._prepared.run(path, recorder)
        else:
            run_main(path, self._root, recorder)

    def _finish(self, running: Running, announce: bool) -> None:
        os.waitpid(running.pid, 0)
        self._running.discard(running)
        if announce:
            self._send(running.result())

    def _send(self, message: dict[str, Any]) -> None:
        self._connection.sendall(json.dumps(message).encode() + b"\n")


def _import(name: str) -> str | None:
    """Import a module; what it raised, if it did, as text."""
    try:
        importlib.import_module(name)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return None


def serve(descriptor: int) -> None:
    """Serve the socket that was handed down until its other end closes."""
    Server(socket.socket(fileno=descriptor)).serve()
