"""Runs one proof under pytest: prepared as far as possible before the fork, or all of it after.

Preparing uses what pytest keeps to itself, so it is done only with the very version the kit pins;
any other pytest (a target may bring its own) goes through `pytest.main` and gives the same outcome.
"""

from __future__ import annotations

import os
import pathlib
import sys
from typing import Any

# Nothing is read from or left in folders that are not the proof's own.
_ARGUMENTS = ["-p", "no:cacheprovider", "-c", os.devnull]


def _within(root: str) -> list[str]:
    # Without the cut pytest would list every folder above the proof, up to the root of the disk.
    return [*_ARGUMENTS, f"--rootdir={root}", f"--confcutdir={root}"]


class _Nowhere:
    """The file the terminal reporter writes to: what it would say is not a result."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


class Prepared:
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
        """In the fork: turn capturing on, at rest as plain pytest has it outside the tests."""
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
    """The same proof through the front door of whichever pytest the environment has."""
    import pytest

    pytest.main([*_within(root), "-q", path], plugins=[recorder])


def pytest_version() -> str:
    """The version of the pytest that this environment resolves to."""
    import pytest

    return pytest.__version__
