"""Running commands in tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests import preloaded
from tests.waiting import PATIENCE

Command = Callable[..., subprocess.CompletedProcess[str]]


@contextmanager
def serve_commands(address: Path, program: str) -> Iterator[str]:
    """Start the process that forks commands, and end it."""
    command = [sys.executable, preloaded.__file__, str(address), program]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        try:
            yield str(address)
        finally:
            preloaded.stop(str(address))


def start_command(
    words: Sequence[str], cwd: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run `assay` as users do: with the start of an interpreter."""
    return subprocess.run(
        [sys.executable, "-m", "assay", *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment,
    )


def run_forked(
    address: str,
    words: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
) -> subprocess.CompletedProcess[str]:
    """Run a command as `subprocess.run` would, with its output in two pipes."""

    def read(descriptor: int) -> str:
        with open(descriptor, encoding="utf-8") as stream:
            return stream.read()

    with Path(os.devnull).open() as nothing, ThreadPoolExecutor(2) as pool:
        output, output_end = os.pipe()
        errors, errors_end = os.pipe()
        reading = [pool.submit(read, each) for each in (output, errors)]
        try:
            streams = (nothing.fileno(), output_end, errors_end)
            code = preloaded.ask(address, words, str(cwd), environment, streams, PATIENCE)
        finally:
            os.close(output_end)
            os.close(errors_end)
        said, complained = (each.result(PATIENCE) for each in reading)
    return subprocess.CompletedProcess(["assay", *words], code, said, complained)
