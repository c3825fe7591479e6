"""The warm process: enters the jail, imports the target, prepares pytest, forks for every proof."""

from __future__ import annotations

import ast
import gc
import importlib
import importlib.util
import json
import os
import secrets
import signal
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import asdict
from importlib.abc import SourceLoader
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from . import jail, memory
from .proof import Job, PreparedSession, prepare, pytest_version, run, run_main
from .running import RunningProof

if TYPE_CHECKING:
    from assay.processes.channel import Channel

# Uses what proofs use, so that pytest's own late imports happen once, before the forks.
_SAMPLE = """
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
"""
_SMALLEST = "def test_passes():\n    assert len('a') == 1\n"
# A stored proof is used as a sample only if it is fast: it may cost no more than this.
_SAMPLES = 8
_START_SECONDS = 60.0
_SAMPLE_SECONDS = 5.0
_SAMPLES_SECONDS = 30.0
_SAMPLE_IMPORTS = 1_000
# A proof with more shared memory than this gets a new interpreter; it is not copied per proof.
_SHARED_BYTES = 64 << 20

# Work that a library defers until first use, by the module that shows it is present.
_TOUCHES = {
    "pydantic": "from pydantic import BaseModel\nclass Touched(BaseModel):\n    value: int\n",
}


class ProofServer:
    """Serves proofs over one socket, one after the other, until it closes."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._root = ""
        self._keeps_spare = False
        self._spare: RunningProof | None = None
        self._running: RunningProof | None = None
        self._shared: list[memory.Range] = []
        self._recorder: Any = None
        self._prepared: PreparedSession | None = None

    def serve(self) -> None:
        """Set up the process as ordered, then run one proof after another."""
        self._start(self._channel.receive()[0])
        with suppress(EOFError, ConnectionError):  # whoever asked may be gone by now
            while True:
                self._channel.send(self._run(self._channel.receive()[0]))
                self._clear_up()
                if self._keeps_spare:
                    self._spare = self._fork()

    def _start(self, order: dict[str, Any]) -> None:
        """Set up the process: enter the jail, set the path, import, prepare, learn."""
        recorder = _read_module(f"{__package__}.recorder")
        try:
            jail.enter(order["jail"])
            jail.limit_worker()
        except (jail.JailError, OSError) as error:
            self._channel.send({"event": "refused", "reason": f"{type(error).__name__}: {error}"})
            os._exit(1)
        self._root = jail.work_folder()
        os.chdir(self._root)
        sys.dont_write_bytecode = True
        _enter_environment(order["python"])
        sys.path[:] = [*order["first"], *sys.path, *order["last"]]
        before = set(sys.modules)
        failed = {name: problem for name in order["imports"] if (problem := _import(name))}
        loaded = [name for name in sys.modules if name not in before]
        _touch(order["imports"])
        version = pytest_version()
        self._recorder = _execute(*recorder).Recorder()
        if order["fast"] and version == order["pytest"]:
            self._prepared = PreparedSession(self._root, self._recorder)
        self._shared = memory.find_shared()
        if order["learn"] and _threads() == 1:
            self._learn(order["samples"][:_SAMPLES])
            self._shared = memory.find_shared()
        self._keeps_spare = order["learn"] and _threads() == 1
        self._channel.send(
            {
                "event": "ready",
                "pytest": version,
                "fast": self._prepared is not None,
                "failed": failed,
                "loaded": loaded,
                "threads": _threads(),
                "shares": sum(end - start for start, end in self._shared) > _SHARED_BYTES,
            }
        )

    def _learn(self, samples: list[str]) -> None:
        """Import what samples import, then prepare the memory for many forks."""
        deadline = time.monotonic() + _SAMPLES_SECONDS
        _import_all(self._lesson(_SAMPLE, _START_SECONDS)["modules"], _START_SECONDS)
        # A stored proof must not decide what is imported here: its import statements, and then the
        # modules it reports as needed, are tried in a fork without it; whatever is slow there or
        # starts threads is left out.
        for sample in samples:
            self._import_tried(_import_statements(sample), deadline)
        for sample in samples:
            if time.monotonic() < deadline:
                late = [
                    f"import {name}"
                    for name in self._lesson(sample, _SAMPLE_SECONDS)["modules"]
                    if _is_module(name)
                ]
                self._import_tried(late, deadline)
        gc.collect()
        gc.freeze()
        memory.make_large_pages()

    def _import_tried(self, statements: list[str], deadline: float) -> None:
        """Import the modules of statements, if a fork has shown that this works here."""
        if statements and time.monotonic() < deadline:
            lesson = self._lesson(_quietly(statements) + _SMALLEST, _SAMPLE_SECONDS)
            if lesson["threads"] == 1:
                _import_all(lesson["modules"], _SAMPLE_SECONDS)

    def _lesson(self, sample: str, seconds: float) -> dict[str, Any]:
        """Run a sample in a throw-away fork; a slow or invalid one is ignored."""
        token = secrets.token_hex(8)
        job = Job("sample", "test_sample.py", sample, token, seconds, learn=True)
        nothing: dict[str, Any] = {"modules": [], "threads": 0}
        try:
            seen = self._run(asdict(job))
            self._clear_up()
            if seen.get("limit") or seen.get("exit"):
                return nothing
            for line in seen.get("report", "").splitlines():
                found, _, text = line.partition(" ")
                event = json.loads(text)
                if found == token and event["event"] == "lesson":
                    return {
                        "modules": [
                            name
                            for name in event["modules"]
                            if isinstance(name, str) and name not in sys.modules
                        ],
                        "threads": event["threads"],
                    }
        except (jail.JailError, ValueError, LookupError, TypeError, RecursionError):
            pass
        return nothing

    def _run(self, job: dict[str, Any]) -> dict[str, Any]:
        spare, self._spare = self._spare, None
        try:
            self._running = self._hand_over(spare, job)
            seen = self._running.answer(job["seconds"], self._channel.fileno())
        except jail.JailError as error:
            self._running = None
            return {"event": "refused", "id": job["id"], "reason": str(error)}
        return {"event": "done", "id": job["id"], "token": job["token"], **seen}

    def _clear_up(self) -> None:
        """Clean up after an answer; if that fails, this worker cannot be used any more."""
        running, self._running = self._running, None
        if running is not None:
            running.end()

    def _hand_over(self, spare: RunningProof | None, job: dict[str, Any]) -> RunningProof:
        if spare is not None:
            try:
                spare.give(job)
                return spare
            except BrokenPipeError:  # it was ended while it waited, and the proof has not begun
                spare.end()
        running = self._fork()
        running.give(job)
        return running

    def _fork(self) -> RunningProof:
        """Fork a process that is ready for a proof and waits for it."""
        order, report, output = os.pipe(), os.pipe(), os.pipe()
        nothing = os.open(os.devnull, os.O_RDONLY)
        child = jail.fork_child(
            keep=(order[0], report[1]), standard=(nothing, output[1], output[1])
        )
        if child is None:
            self._become(order[0], report[1])
        for descriptor in (order[0], report[1], output[1], nothing):
            os.close(descriptor)
        return RunningProof(child, order[1], report[0], output[0])

    def _become(self, order: int, report: int) -> NoReturn:
        """Run the proof and never return; called in the fork."""
        try:
            memory.unshare(self._shared)
            prepare(report)
            self._recorder.watch_raises()
            if self._prepared is not None:
                self._prepared.start_capture()
            with open(order, "rb") as file:
                text = file.read()
            if text:
                run(Job(**json.loads(text)), self._recorder, self._perform)
        except BaseException:
            os.write(2, traceback.format_exc().encode("utf-8", "replace"))
        finally:
            os._exit(70)

    def _perform(self, path: str) -> None:
        if self._prepared is not None:
            self._prepared.run(path)
        else:
            run_main(path, os.getcwd(), self._recorder)


def _enter_environment(python: str) -> None:
    """Become the interpreter of a virtual environment, including its packages' start-up code."""
    import site

    sys.executable = python
    prefix = os.path.dirname(os.path.dirname(python))
    if os.path.exists(os.path.join(prefix, "pyvenv.cfg")):
        sys.prefix = sys.exec_prefix = prefix
    site.main()


def _threads() -> int:
    """Count the threads, including those unknown to Python."""
    return len(os.listdir("/proc/self/task"))


def _touch(imports: list[str]) -> None:
    for name in _TOUCHES.keys() & set(imports):
        with suppress(Exception):
            exec(_TOUCHES[name], {"__name__": "touched"})  # noqa: S102 - constants of this file


def _import_statements(sample: str) -> list[str]:
    """Return the imports of a sample that add new modules."""
    try:
        tree = ast.parse(sample)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found.append(node.module)
    return [
        f"import {name}" for name in found if name not in sys.modules and "__main__" not in name
    ]


def _is_module(name: str) -> bool:
    """Return whether a string names a module that can be imported on its own."""
    parts = name.split(".")
    return all(part.isidentifier() for part in parts) and not {"__main__", "test_sample"} & set(
        parts
    )


def _quietly(statements: list[str]) -> str:
    """Return statements as a program that ignores their exceptions."""
    return "".join(
        f"try:\n    {one}\nexcept BaseException:\n    pass\n"
        for one in statements[:_SAMPLE_IMPORTS]
    )


class _TooSlow(BaseException):
    """Importing exceeded its time limit."""


def _import_all(modules: list[str], seconds: float) -> None:
    """Import the modules that a sample needed, as long as that is fast."""

    def stop(number: int, frame: object) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        for module in modules:
            try:
                if module != "test_sample":
                    importlib.import_module(module)
            except _TooSlow:
                return
            except BaseException:  # noqa: S112 - a proof that needs it will meet the same
                continue
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _read_module(name: str) -> tuple[ModuleType, Any]:
    """Read one of our modules for later execution: inside the jail these files are not visible."""
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert isinstance(spec.loader, SourceLoader)
    return importlib.util.module_from_spec(spec), spec.loader.get_code(name)


def _execute(module: ModuleType, code: Any) -> Any:
    sys.modules[module.__name__] = module
    exec(code, module.__dict__)  # noqa: S102 - what an import does, in two steps
    return module


def _import(name: str) -> str | None:
    """Import a module; return its exception as text, if it raises."""
    try:
        importlib.import_module(name)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return None


def main(channel: Channel) -> None:
    """Serve until the other end closes."""
    ProofServer(channel).serve()
