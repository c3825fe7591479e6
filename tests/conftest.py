"""What the tests share: values to generate, and the real command line."""

from __future__ import annotations

import os
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from tests.commands import Command as Command
from tests.commands import run_forked, serve_commands, start_command

# A slow machine is no reason to fail; the number of examples bounds the time instead. The gate
# tries the same examples every time, so that it is never red by chance; `make fuzz` finds new ones.
settings.register_profile("gate", deadline=None, max_examples=100, derandomize=True)
settings.register_profile("fuzz", deadline=None, max_examples=1_000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))


def _hand_down_default_signals() -> None:
    """Let commands that tests start be interrupted, also where the tests ignore it themselves.

    Whoever starts the tests in the background or with nohup has these ignored, and every process
    started from here inherits it. A handler is not inherited: what is started gets the default.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


_hand_down_default_signals()

# As many jobs on every machine unless told otherwise; the workers of pytest share the cores.
os.cpu_count = lambda: 1

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.sampled_from(["42", "null", "true", "1e5", "", "ü", "\ud800", "NaN", "$bytes", "-0.0"])
)
keys = st.text() | st.sampled_from(["$bytes", "$float", "$object", "$", "id"])
json_values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)
values_and_bytes: st.SearchStrategy[Any] = st.recursive(
    scalars | st.binary() | st.sampled_from([float("inf"), float("-inf")]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture(scope="session")
def preloaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a process that forks `assay` commands."""
    with serve_commands(tmp_path_factory.mktemp("preloaded") / "socket", "assay") as address:
        yield address


@pytest.fixture(scope="session")
def preloaded_pytest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a process that forks pytest."""
    with serve_commands(tmp_path_factory.mktemp("preloaded") / "socket", "pytest") as address:
        yield address


@pytest.fixture
def assay(tmp_path: Path, preloaded: str, request: pytest.FixtureRequest) -> Command:
    """Runs the `assay` command in a process and a folder of its own."""
    is_real = request.node.get_closest_marker("real_start") is not None

    def run(
        *words: str | Path, cwd: Path = tmp_path, check: bool = False
    ) -> subprocess.CompletedProcess[str]:
        start = start_command if is_real else partial(run_forked, preloaded)
        environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
        result = start([*map(str, words)], cwd, environment)
        if check:
            result.check_returncode()
        return result

    return run


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was skipped and why: a line per reason."""
    skipped = terminalreporter.getreports("skipped")
    reasons = Counter(str(report.longrepr[2]) for report in skipped)
    if reasons:
        terminalreporter.section("skipped")
    for reason, count in reasons.most_common():
        tests = "test" if count == 1 else "tests"
        terminalreporter.line(f"{count} {tests}: {reason.removeprefix('Skipped: ')}")
