"""Makes environments with libraries that Assay's own does not have, and keeps them beside it."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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


Hold = Callable[..., list[Any]]


@contextmanager
def holding_inside(python: Path, folder: Path) -> Iterator[Hold]:
    """Start one process in an environment, which holds conversations with agents of a folder.

    Libraries of agents take seconds to import, so that one process serves all tests of a module.
    """
    own = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    command = [str(python), "-m", "tests.agents.held_inside", "python"]
    with (
        (folder / "errors.txt").open("w+") as errors,
        subprocess.Popen(
            command, env={**own, "PYTHONPATH": path}, cwd=folder, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
        ) as process,
    ):  # fmt: skip

        def hold(*samples: tuple[str, list[dict[str, Any]]]) -> list[Any]:
            """Hold each conversation, twice at the same time."""
            assert process.stdin is not None
            assert process.stdout is not None
            print(json.dumps(samples), file=process.stdin, flush=True)
            answer = process.stdout.readline()
            errors.seek(0)
            assert answer, errors.read()[-3000:]
            results: list[Any] = json.loads(answer)["results"]
            return results

        yield hold


def _uv(requirement: str, *words: str) -> None:
    uv = Path(sys.executable).with_name("uv")
    done = subprocess.run([uv, *words, "--quiet"], capture_output=True, text=True)
    if done.returncode != 0:
        raise NotHere(f"uv cannot make an environment with {requirement}: {done.stderr[-500:]}")
