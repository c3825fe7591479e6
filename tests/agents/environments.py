"""Makes environments with libraries that Assay's own does not have, and keeps them beside it."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]


class NotHere(Exception):  # noqa: N818 - the name says what is the case
    """An environment cannot be made on this machine."""


def made_with(requirement: str, interpreter: Callable[[], Path], *more: str) -> Path:
    """The interpreter of an environment with a library, made on first use, and with more."""
    folder = ROOT / ".venv" / "peers" / requirement.replace("==", "-")
    folder.parent.mkdir(parents=True, exist_ok=True)
    python = folder / "bin" / "python"
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        # Tests run in several processes; one of them makes it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / ".ready").exists():
            _uv(requirement, "venv", "--clear", "--python", str(interpreter()), str(folder))
            _uv(requirement, "pip", "install", "--python", str(python), requirement, *more)
            (folder / ".ready").touch()
    return python


def _uv(requirement: str, *words: str) -> None:
    uv = Path(sys.executable).with_name("uv")
    done = subprocess.run([uv, *words, "--quiet"], capture_output=True, text=True)
    if done.returncode != 0:
        raise NotHere(f"uv cannot make an environment with {requirement}: {done.stderr[-500:]}")
