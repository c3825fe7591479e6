"""Where the programs of a prepared submission run: in the sandbox, or in containers."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Protocol, Self

from assay.sandbox import (
    Base,
    Bind,
    Health,
    Limits,
    ProgramResult,
    Programs,
    Server,
    serve,
)

_LIFETIME = 24 * 3600.0


class ProgramRunner(Protocol):
    """Runs programs of one kind, each in a work folder that starts as the submission."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    async def reset(self) -> None:
        """End what is idle, and with it the work folders that were kept."""

    async def run(
        self,
        command: Sequence[str],
        *,
        stdin: bytes = b"",
        files: Mapping[str, bytes] | None = None,
        collect: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        wall_time: float | None = None,
    ) -> ProgramResult:
        """Run a command in a work folder that contains `files`."""


class ProgramHost(Protocol):
    """Runs the programs and servers of one prepared submission."""

    @property
    def limits(self) -> Limits: ...

    def open_programs(self, *, keeps: bool = False, reuse: bool = True) -> ProgramRunner:
        """Return what runs programs; with `keeps` they share one work folder."""

    def choose_port(self, port: int) -> int:
        """Return the port that a server is told, for the one that its problem names."""

    def serve(
        self,
        command: Sequence[str],
        *,
        port: int,
        health: Health,
        patience: float,
        environment: Mapping[str, str],
    ) -> AbstractAsyncContextManager[Server]:
        """Start a server in a new work folder and wait until it answers."""


@dataclass(frozen=True)
class SandboxHost:
    """Programs and servers in the sandbox."""

    base: Base
    level: str
    limits: Limits
    binds: tuple[Bind, ...]

    def open_programs(self, *, keeps: bool = False, reuse: bool = True) -> Programs:
        return Programs(
            isolation=self.level,
            limits=self.limits,
            binds=self.binds,
            base=self.base,
            work="kept" if keeps else "fresh",
        )

    def choose_port(self, port: int) -> int:
        # Without a network of its own a server shares the machine's ports with all others: it is
        # told one that is free, whichever the problem names.
        return port if self.level == "namespaces" else _free_port()

    def serve(
        self,
        command: Sequence[str],
        *,
        port: int,
        health: Health,
        patience: float,
        environment: Mapping[str, str],
    ) -> AbstractAsyncContextManager[Server]:
        return serve(
            command,
            port=port,
            health=health,
            patience=patience,
            environment=environment,
            limits=replace(self.limits, wall_time=_LIFETIME),
            isolation=self.level,
            binds=self.binds,
            base=self.base,
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
