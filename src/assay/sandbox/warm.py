"""A runner process of the target's own Python, in its jail: started, asked, lost, ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import socket
import stat
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from assay.errors import InfrastructureError
from assay.sandbox.evidence import Ending
from assay.sandbox.limits import Limits
from assay.sandbox.targets import Environment, pytest_of_kit
from assay.sandbox.workers import Bind, Jail

_INSIDE = Path(__file__).with_name("jail")
# Importing a large target on a busy machine takes a while; never finishing must not be waited for.
_START_SECONDS = 300.0
_END_SECONDS = 10.0
# Over the proof's own limit: what the worker needs to end everything the proof has started.
_SLACK_SECONDS = 30.0
_LINE_BYTES = 64 << 20


@dataclass(frozen=True)
class Challenge:
    """How to ask a proof whether its answer comes from the target.

    `holds` names the test that is called again: with the `source` of the claim itself, and with
    other values in the place of `__disputed__` in `template`. These are the `variants` (what was
    done to the value, and an expression), and real names of the target if the value `is_name`.
    `hidden` are its words, which a stand-in for the target does not have. If it `must_know`, the
    target must have the name somewhere. `is_refuted` says that `holds` is the side that denies the
    claim; then it is only watched what was asked for the name.
    """

    holds: str
    source: str
    template: str
    variants: tuple[tuple[str, str], ...] = ()
    hidden: tuple[str, ...] = ()
    is_name: bool = False
    must_know: bool = False
    is_refuted: bool = False


@dataclass(frozen=True)
class ProofText:
    """The file of a proof, those that lie beside it, and how it is challenged."""

    name: str
    source: str
    files: Mapping[str, str] = field(default_factory=dict)
    challenge: Challenge | None = None


class Lost(Exception):  # noqa: N818 - not an error of anybody: what was lost is repeated
    """The process died, or no longer does what it is for, before it gave an answer."""


@dataclass(frozen=True)
class Order:
    """What a runner process is to become."""

    environment: Environment
    level: str
    limits: Limits
    imports: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    learn: bool = True
    fast: bool = True
    hash_seed: int = 0
    roots: tuple[str, ...] = ()

    def message(self) -> dict[str, Any]:
        """The order as the process inside reads it."""
        environment = self.environment
        binds = tuple(Bind(str(path), str(path)) for path in environment.reads)
        return {
            "jail": Jail(self.level, self.limits, binds).spec(),
            "python": str(environment.python),
            "first": [str(path) for path in environment.first],
            "last": [str(environment.kit)] if environment.kit else [],
            "imports": list(self.imports),
            "samples": list(self.samples),
            "learn": self.learn,
            "fast": self.fast,
            "pytest": pytest_of_kit(),
        }


def check_readable(paths: Iterable[Path]) -> None:
    """Without namespaces root's proofs run as nobody, who must be able to reach the target."""
    for path in paths:
        for folder in (path, *path.parents):
            if not folder.stat().st_mode & stat.S_IXOTH:
                raise InfrastructureError(
                    f"{folder} is closed to other users, and the target needs {path}",
                    advice="at the level landlock run Assay as an ordinary user, or use a Python "
                    "and an ASSAY_CACHE outside of private folders",
                )


class WarmProcess:
    """One runner process; it takes one proof at a time."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        messages: IO[bytes],
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self._messages = messages
        self.threads = 1
        self.shares = False
        self.failed_imports: dict[str, str] = {}
        self.loaded: list[str] = []
        self.fast = False
        self._roots: tuple[str, ...] = ()

    @classmethod
    async def start(cls, order: Order) -> WarmProcess:
        """Start a process and wait until it is ready for its first proof."""
        if order.level == "landlock" and os.geteuid() == 0:
            check_readable(order.environment.reads)
        ours, theirs = socket.socketpair()
        messages = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        with theirs:
            process = await asyncio.create_subprocess_exec(
                # The machine's interpreter, which reads nothing of the target before it is in jail.
                order.environment.interpreter,
                "-S",
                "-s",
                _INSIDE,
                str(theirs.fileno()),
                pass_fds=[theirs.fileno()],
                stdin=asyncio.subprocess.DEVNULL,
                stdout=messages,
                stderr=messages,
                cwd="/",
                # Nothing of ours: no key, no setting, no path of the user's.
                env={
                    "PATH": f"{order.environment.python.parent}:/usr/local/bin:/usr/bin:/bin",
                    "LANG": "C.UTF-8",
                    "PYTHONHASHSEED": str(order.hash_seed),
                },
            )
        reader, writer = await asyncio.open_connection(sock=ours, limit=_LINE_BYTES)
        warm = cls(process, reader, writer, messages)
        warm._roots = order.roots
        try:
            await warm._become(order)
        except BaseException:
            await warm.close()
            raise
        return warm

    async def _become(self, order: Order) -> None:
        try:
            ready = await self._ask(order.message(), _START_SECONDS)
        except Lost:
            raise InfrastructureError(
                f"the runner for {order.environment.described} did not start: {self._last_words()}"
            ) from None
        if ready["event"] == "refused":
            raise InfrastructureError(
                f"the sandbox failed: {ready['reason']}",
                advice="run `assay doctor` to see what this machine offers",
            )
        self.threads = ready["threads"]
        self.shares = ready["shares"]
        self.failed_imports = ready["failed"]
        self.loaded = ready["loaded"]
        self.fast = ready["fast"]

    async def run(self, text: ProofText, seconds: float) -> Ending:
        """Run one proof; raises Lost if the process did not live to tell."""
        token = secrets.token_hex(8)
        job = {**asdict(text), "id": token, "token": token, "seconds": seconds}
        if text.challenge is not None:
            job["challenge"] |= {
                "variants": dict(text.challenge.variants),
                "roots": list(self._roots),
            }
        answer = await self._ask(job, seconds + _SLACK_SECONDS)
        if answer["event"] != "done" or answer["id"] != token:
            raise Lost(str(answer.get("reason", "it answered something else")))
        return Ending.model_validate(answer)

    async def _ask(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        try:
            self._writer.write(json.dumps(message).encode() + b"\n")
            await self._writer.drain()
            line = await asyncio.wait_for(self._reader.readline(), seconds)
            answer = json.loads(line)
        except (OSError, TimeoutError, ValueError) as error:
            raise Lost(f"{type(error).__name__}: {error}") from None
        if not isinstance(answer, dict):
            raise Lost("it answered nonsense")
        return answer

    def _last_words(self) -> str:
        self._messages.seek(0)
        lines = self._messages.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    async def close(self) -> None:
        """End the process and everything in its jail."""
        self._writer.close()
        try:
            # It notices that nobody listens any more and clears up by itself.
            await asyncio.wait_for(self._process.wait(), _END_SECONDS)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        self._messages.close()
