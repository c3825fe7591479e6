"""What the sandbox's tests share: a small package, a loop in the background, a proof runner."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from assay.errors import InfrastructureError
from assay.sandbox.evidence import ProofOutcome
from assay.sandbox.proofs import ProofRunner
from assay.sandbox.targets import Environment, Target, environment

Result = TypeVar("Result")
Prove = Callable[..., ProofOutcome]

SMALL = {
    "pyproject.toml": '[project]\nname = "small-thing"\nversion = "1.2.3"\ndependencies = []\n',
    "src/small_thing/__init__.py": '"""A small package."""\nANSWER = 42\n',
    "src/small_thing/inner.py": "def double(number: int) -> int:\n    return 2 * number\n",
    "src/small_thing/busy.py": (
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    ),
    "src/small_thing/strict.py": (
        "class Strict:\n"
        "    def __init__(self, *, size: int) -> None:\n"
        "        if size < 0:\n"
        '            raise ValueError("size must not be negative")\n'
        "        self.size = size\n"
    ),
}


def write_files(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


class Background:
    """An event loop in a thread, so that one runner can serve many tests."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=300)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def build(target: Target) -> Environment:
    """Build, or skip where no registry can be reached and nothing is in uv's cache."""
    try:
        return environment(target)
    except InfrastructureError as error:
        if "network" not in (error.advice or ""):
            raise
        pytest.skip(f"needs a package registry: {error.what.splitlines()[0]}")


def start_runner(
    background: Background, environment: Environment, **options: Any
) -> tuple[ProofRunner, Prove]:
    async def make() -> ProofRunner:
        return ProofRunner(environment, **options)

    runner = background.run(make())

    def prove(proof: str | Path, **options: Any) -> ProofOutcome:
        return background.run(runner.run(proof, **options))

    return runner, prove
