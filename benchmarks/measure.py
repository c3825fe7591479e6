"""Measures whole processes: CPU seconds and the most memory they had."""

from __future__ import annotations

import os
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """What one process cost."""

    cpu: float
    megabytes: float


def run(command: list[str], cases: int, *, succeeds: bool = True) -> Cost:
    """Run a command to its end; a command that fails has measured nothing."""
    environment = {**os.environ, "CASES": str(cases)}
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    told = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if succeeds and process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{told.decode()}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def median(costs: list[Cost]) -> Cost:
    return Cost(
        statistics.median(cost.cpu for cost in costs),
        statistics.median(cost.megabytes for cost in costs),
    )


def environment_with(requirements: list[str], folder: Path, uv: Path) -> Path:
    """Make an environment beside the project's and return its interpreter."""
    python = folder / "bin" / "python"
    if not (folder / ".ready").exists():
        subprocess.run([uv, "venv", "--quiet", "--clear", folder], check=True)
        subprocess.run(
            [uv, "pip", "install", "--quiet", "--python", python, *requirements], check=True
        )
        (folder / ".ready").touch()
    return python
