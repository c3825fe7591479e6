"""What the tests of the viewer share: a cache of their own, and a server that really runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.waiting import PATIENCE


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that nobody else has."""
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Viewer(NamedTuple):
    """A viewer that runs: its first address, and the parts of it."""

    address: str
    process: subprocess.Popen[str]

    @property
    def origin(self) -> str:
        return self.address.partition("/?")[0]

    @property
    def host(self) -> str:
        return self.origin.removeprefix("http://")

    @property
    def port(self) -> int:
        return int(self.host.rpartition(":")[2])

    @property
    def token(self) -> str:
        return self.address.partition("token=")[2]

    @property
    def cookie(self) -> str:
        return f"assay-view-{self.port}={self.token}"


@contextmanager
def open_viewer(folder: Path, cache: Path, *words: str) -> Iterator[Viewer]:
    """Start `assay view` as users do, and end it as they do."""
    process = subprocess.Popen(
        [sys.executable, "-m", "assay", "view", str(folder), *words],
        env={**os.environ, "ASSAY_CACHE": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.startswith("Open "):
            raise AssertionError(process.communicate(timeout=PATIENCE))
        yield Viewer(line.removeprefix("Open ").strip(), process)
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said
    assert "Traceback" not in said, said
