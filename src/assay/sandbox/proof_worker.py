"""A runner process in the target's own Python, inside its jail."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from assay.errors import InfrastructureError
from assay.processes import Child, ChildLostError
from assay.sandbox.evidence import ProofEnding
from assay.sandbox.targets import Environment, pytest_of_kit
from assay.sandbox.workers import Bind, Jail, Limits

_START = Path(__file__).parent / "jail" / "start.py"
# Importing a large target on a busy machine takes a while, but must not hang forever.
_START_SECONDS = 300.0
_END_SECONDS = 10.0
# Over the proof's own limit: what the worker needs to end everything the proof has started.
_SLACK_SECONDS = 30.0
_LARGEST_ANSWER = 64 << 20


@dataclass(frozen=True)
class Challenge:
    """How to check that the answer of a proof comes from the target.

    `holds` names the test that is called again: with the `source` of the claim itself, and with
    other values in place of `__disputed__` in `template`. These are the `variants` (the change made
    to the value, and an expression), and real names of the target if the value `is_name`. `hidden`
    are its words, which a stand-in for the target does not have. If it `must_know`, the target must
    have the name somewhere. `is_refuted` means that `holds` is the side that denies the claim; then
    only the objects that were asked for the name are recorded.
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
class ProofRequest:
    """The file of a proof, the files beside it, and how it is challenged."""

    name: str
    source: str
    files: Mapping[str, str] = field(default_factory=dict)
    challenge: Challenge | None = None


class WorkerLost(Exception):  # noqa: N818 - not an error of anybody: what was lost is repeated
    """The process died or became unusable before it answered."""


@dataclass(frozen=True)
class Order:
    """The configuration of a runner process."""

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
        """Return the order as the process inside reads it."""
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
    """Raise for unreachable paths: without namespaces, root's proofs run as another user."""
    for path in paths:
        for folder in (path, *path.parents):
            if not folder.stat().st_mode & stat.S_IXOTH:
                raise InfrastructureError(
                    f"{folder} is closed to other users, and the target needs {path}",
                    advice="at the level landlock run Assay as an ordinary user, or use a Python "
                    "and an ASSAY_CACHE outside of private folders",
                )


class ProofWorker:
    """One runner process; it takes one proof at a time."""

    def __init__(self, child: Child, roots: tuple[str, ...]) -> None:
        self._child = child
        self._roots = roots
        self.threads = 1
        self.shares = False
        self.failed_imports: dict[str, str] = {}
        self.loaded: list[str] = []
        self.fast = False

    @classmethod
    async def start(cls, order: Order) -> ProofWorker:
        """Start a process and wait until it is ready for its first proof."""
        if order.level == "landlock" and os.geteuid() == 0:
            check_readable(order.environment.reads)
        child = Child.start(
            # The machine's interpreter, which reads nothing of the target before it is in jail.
            [str(order.environment.interpreter), "-S", "-s", str(_START), "server"],
            # Nothing from this process: no key, no setting, no path of the user's.
            {
                "PATH": f"{order.environment.python.parent}:/usr/local/bin:/usr/bin:/bin",
                "LANG": "C.UTF-8",
                "PYTHONHASHSEED": str(order.hash_seed),
            },
            largest=_LARGEST_ANSWER,
        )
        worker = cls(child, order.roots)
        try:
            await worker._become(order)
        except BaseException:
            await worker.close()
            raise
        return worker

    async def _become(self, order: Order) -> None:
        try:
            ready = await self._child.ask(order.message(), _START_SECONDS)
        except ChildLostError as error:
            printed = error.printed.splitlines()[-1:] or ["it said nothing"]
            raise InfrastructureError(
                f"the runner for {order.environment.described} did not start: {printed[0]}"
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

    async def run(self, text: ProofRequest, seconds: float) -> ProofEnding:
        """Run one proof; raise WorkerLost if the process died before it answered."""
        token = secrets.token_hex(8)
        job = {**asdict(text), "id": token, "token": token, "seconds": seconds}
        if text.challenge is not None:
            job["challenge"] |= {
                "variants": dict(text.challenge.variants),
                "roots": list(self._roots),
            }
        try:
            answer = await self._child.ask(job, seconds + _SLACK_SECONDS)
            if answer["event"] == "done" and answer["id"] == token:
                return ProofEnding.model_validate(answer)
        except ChildLostError as error:
            raise WorkerLost(f"it {error.reason}") from None
        except (ValidationError, LookupError, TypeError):
            raise WorkerLost("it answered nonsense") from None
        raise WorkerLost(str(answer.get("reason", "it answered something else")))

    async def close(self) -> None:
        """End the process and everything in its jail."""
        # It notices that the channel is closed and cleans up by itself.
        await self._child.close(_END_SECONDS)
