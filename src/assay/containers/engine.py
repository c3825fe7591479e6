"""Container engines: finding podman or docker, and running their commands."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assay.errors import InfrastructureError, InputError, nearest

ENGINES = ("podman", "docker")
CHOICES = ("auto", *ENGINES)
_TIMEOUT = 120.0
_LONGEST = 1 << 20
_WORDS = 2000
_ADVICE = {
    "podman": "see `podman info`; `assay doctor` shows what works here",
    "docker": "start its daemon, or set DOCKER_HOST; `assay doctor` shows what works here",
}


class EngineError(InfrastructureError):
    """A command of an engine failed; the text has the engine's own words."""


class EngineAnswer(NamedTuple):
    """How a command of an engine ended."""

    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Engine:
    """A container engine, as its command line."""

    name: str
    """`podman` or `docker`."""
    program: str
    version: str = ""

    @property
    def is_podman(self) -> bool:
        return self.name == "podman"

    async def ask(
        self,
        arguments: Sequence[str],
        *,
        stdin: bytes | None = None,
        timeout: float = _TIMEOUT,
        environment: Mapping[str, str] | None = None,
    ) -> EngineAnswer:
        """Run a command of the engine and return how it ended, whatever it says."""
        try:
            process = await asyncio.create_subprocess_exec(
                self.program,
                *arguments,
                stdin=asyncio.subprocess.DEVNULL if stdin is None else asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=None if environment is None else {**os.environ, **environment},
                # Ctrl-C is for Assay, which ends what it has started in its own order.
                start_new_session=True,
            )
        except OSError as error:
            raise EngineError(f"{self.name} cannot be started: {error.strerror}") from None
        try:
            async with asyncio.timeout(timeout):
                out, err = await process.communicate(stdin)
        except BaseException as error:
            end_group(process)
            await process.wait()
            if not isinstance(error, TimeoutError):
                raise
            what = f"{self.name} {arguments[0]} did not end within {timeout:g} s"
            raise EngineError(what, advice=_ADVICE[self.name]) from None
        words = [text[-_LONGEST:].decode("utf-8", "replace") for text in (out, err)]
        return EngineAnswer(process.returncode or 0, *words)

    async def run(
        self,
        arguments: Sequence[str],
        *,
        stdin: bytes | None = None,
        timeout: float = _TIMEOUT,
        advice: str | None = None,
    ) -> str:
        """Run a command of the engine and return what it printed; raise EngineError if it fails."""
        answer = await self.ask(arguments, stdin=stdin, timeout=timeout)
        if answer.status != 0:
            words = quote_words(answer.stderr or answer.stdout)
            what = f"{self.name} {arguments[0]} failed (exit {answer.status}): {words}"
            raise EngineError(what, advice=advice or advise(self, answer.stderr))
        return answer.stdout


def end_group(process: asyncio.subprocess.Process) -> None:
    """Kill a command with everything in its session."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def quote_words(text: str) -> str:
    """Return the end of what an engine said, as it said it."""
    clean = text.strip() or "it gave no reason"
    return clean if len(clean) <= _WORDS else f"…{clean[-_WORDS:]}"


def advise(engine: Engine, words: str) -> str:
    """Return what to do about a failure, from the engine's words."""
    low = words.lower()
    if "no space left" in low or "disk quota" in low:
        return f"free some space: `assay environments list`, `{engine.name} system prune`"
    if "permission denied" in low and "sock" in low:
        return "your user may not use the engine: join its group, or use rootless podman"
    return _ADVICE[engine.name]


_known: dict[tuple[str, str], Engine | str] = {}


async def try_engine(name: str) -> Engine | str:
    """Return an engine that answers, or the reason why it cannot be used; asked once per process.

    Being installed is not enough: docker needs a daemon, podman its storage.
    """
    program = shutil.which(name)
    if program is None:
        return "not installed"
    if (name, program) not in _known:
        _known[name, program] = await _try(name, program)
    return _known[name, program]


async def _try(name: str, program: str) -> Engine | str:
    wanted = "{{.Client.Version}}" if name == "podman" else "{{.Server.Version}}"
    engine = Engine(name, program)
    try:
        version = (await engine.run(["version", "--format", wanted], timeout=30)).strip()
        await engine.run(["ps", "--quiet"], timeout=60)
    except EngineError as error:
        return error.what
    return Engine(name, program, version)


async def find_engine(choice: str = "auto", order: Sequence[str] = ENGINES) -> Engine:
    """Return the engine of that name, or the first that works; raise InfrastructureError."""
    if choice not in CHOICES:
        raise InputError(f"{choice!r} is not an engine", advice=nearest(choice, CHOICES))
    reasons = []
    for name in order if choice == "auto" else (choice,):
        found = await try_engine(name)
        if isinstance(found, Engine):
            return found
        reasons.append(f"{name}: {found}")
    raise InfrastructureError(
        f"no container engine can be used: {'; '.join(reasons)}",
        advice="install podman or start docker, or use an environment of type local",
    )
