"""Starts a real server of a library as a process of its own, on a free port, for a block."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import PATIENCE


@contextmanager
def served(
    command: Sequence[str], folder: Path, variables: Mapping[str, str] | None = None
) -> Iterator[int]:
    """Run a command, with a free port as its last word, until the block ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    own = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, str(port)],
            cwd=folder,
            env={**own, **(variables or {})},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_until_served(process, port, log)
        yield port
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_served(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as door:
            door.settimeout(1)
            if door.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"the server did not come up:\n{log.read_text()[-3000:]}")
