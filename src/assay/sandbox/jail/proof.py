"""One proof in its fork: its file, its temporary folder, the pytest run and the final message."""

from __future__ import annotations

import faulthandler
import inspect
import os
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .challenge import ChallengeRun

# High descriptor numbers, so that the proof's process does not hit them by accident.
_CRASH = 200
_REPORT = 201


@dataclass
class Job:
    """One proof as requested from the worker; `learn` also returns what it needed."""

    id: str
    name: str
    source: str
    token: str
    seconds: float
    files: dict[str, str] = field(default_factory=dict)
    learn: bool = False
    challenge: dict[str, Any] | None = None


def prepare(report: int) -> None:
    """Do everything that is possible before the proof is known."""
    os.dup2(2, _CRASH, inheritable=False)
    os.dup2(report, _REPORT, inheritable=False)
    os.close(report)
    faulthandler.enable(file=_CRASH)
    tempfile.tempdir = os.environ["TMPDIR"]  # what looking for a usable one would find


def run(job: Job, recorder: Any, perform: Callable[[str], None]) -> None:
    """Run the proof in this isolated process and end it; `perform` runs a file under pytest."""
    from .recorder import EventWriter

    started = time.process_time()
    path = os.path.join(os.getcwd(), job.name)
    for name, text in {**job.files, job.name: job.source}.items():
        place = os.path.join(os.getcwd(), name)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    # Code that asks where the program is finds a script, as it would outside.
    main = sys.modules["__main__"]
    main.__file__, main.__spec__ = path, None
    # A failed test is shown with its source. To find it, `inspect` would look at every module.
    inspect.modulesbyfile[path] = os.path.splitext(job.name)[0]
    channel = EventWriter(_REPORT, job.token)
    problem = None
    try:
        recorder.begin(
            channel, path, None if job.challenge is None else ChallengeRun(**job.challenge)
        )
        perform(path)
    except BaseException as error:
        # `pytest.exit`, `sys.exit` at import, a failed collection: judged outside, from the tests
        # that did or did not run.
        problem = f"{type(error).__name__}: {error}"
    if job.learn:
        channel.put("lesson", **_describe_lesson())
    cpu = time.process_time() - started
    channel.send("end", stopped=problem, plugins=recorder.list_new_plugins(), cpu=cpu)
    os._exit(0)


def _describe_lesson() -> dict[str, Any]:
    """Return what a sample has imported, and whether that started threads."""
    modules = [
        name
        for name, module in list(sys.modules.items())
        if getattr(module, "__spec__", None) is not None
    ]
    return {"modules": modules, "threads": len(os.listdir("/proc/self/task"))}


# Nothing is read from or left in folders that are not the proof's own.
_ARGUMENTS = ["-p", "no:cacheprovider", "-c", os.devnull]


def _within(root: str) -> list[str]:
    # Without the cut pytest would list every folder above the proof, up to the root of the disk.
    return [*_ARGUMENTS, f"--rootdir={root}", f"--confcutdir={root}"]


class _Nowhere:
    """The file for the terminal reporter, whose output is discarded."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


class PreparedSession:
    """pytest's configuration and session, ready to be forked and given a file."""

    def __init__(self, root: str, recorder: Any) -> None:
        from _pytest.config import _prepareconfig
        from _pytest.main import Session

        os.environ["PYTEST_VERSION"] = sys.modules["pytest"].__version__
        # The files of a capture would be shared by every fork, and there is nowhere to put them
        # yet: capturing is off until the fork turns it on.
        config = _prepareconfig([*_within(root), "--capture=no", root], None)
        config.option.capture = "fd"
        session = Session.from_config(config)
        session.exitstatus = 0
        config._do_configure()
        config.hook.pytest_sessionstart(session=session)
        self._capture: Any = config.pluginmanager.getplugin("capturemanager")
        self._capture.stop_global_capturing()
        reporter: Any = config.pluginmanager.getplugin("terminalreporter")
        reporter._tw._file = _Nowhere()
        config.pluginmanager.register(recorder, "recorder")
        self.config: Any = config
        self.session: Any = session

    def start_capture(self) -> None:
        """Turn capturing on, suspended as pytest has it outside tests; called in the fork."""
        self._capture._method = "fd"
        self._capture.start_global_capturing()
        self._capture.suspend_global_capture(in_=True)

    def run(self, path: str) -> None:
        """Collect and run one file; what happened goes to the recorder."""
        # Without namespaces the root holds one folder per proof, and may not be looked into.
        self.config.pluginmanager._confcutdir = pathlib.Path(path).parent
        self.config.args = [path]
        self.config.hook.pytest_collection(session=self.session)
        self.config.hook.pytest_runtestloop(session=self.session)


def run_main(path: str, root: str, recorder: Any) -> None:
    """Run a proof through the public entry point of the environment's pytest."""
    import pytest

    pytest.main([*_within(root), "-q", path], plugins=[recorder])


def pytest_version() -> str:
    """Return the version of the pytest that this environment resolves to."""
    import pytest

    return pytest.__version__
