"""Programs in containers: the same as programs in the sandbox, with the same results."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType

from assay.containers.container import Container, ContainerSpec
from assay.containers.engine import Engine
from assay.containers.processes import run_in_container
from assay.containers.settings import EngineSettings
from assay.errors import InputError
from assay.processes import Pool
from assay.sandbox import ProgramResult, check_request


class ContainerPrograms:
    """Runs programs in containers of one kind.

    With `reuse` a container runs one program after another, each in a new work folder, after every
    process of the last has ended; else each program has its own. With `keeps` there is one
    container, whose work folder lasts from one program to the next.
    """

    def __init__(
        self,
        engine: Engine,
        settings: EngineSettings,
        spec: ContainerSpec,
        base: Path | None,
        *,
        reuse: bool = True,
        keeps: bool = False,
    ) -> None:
        self.engine, self.settings, self.spec = engine, settings, spec
        self._base, self._reuse, self._keeps = base, reuse, keeps
        self._pool = Pool(self._start)
        self._ending: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> ContainerPrograms:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.reset()

    async def reset(self) -> None:
        """End the idle containers, and with them the work folders that were kept."""
        await self._pool.close()
        if self._ending:
            await asyncio.gather(*self._ending)

    async def _start(self) -> Container:
        container = await Container.start(self.engine, self.settings, self.spec)
        if self._keeps:
            try:
                await asyncio.to_thread(container.places.renew, self._base)
            except BaseException:
                await asyncio.shield(container.close())
                raise
        return container

    @asynccontextmanager
    async def _take(self) -> AsyncIterator[Container]:
        if self._reuse or self._keeps:
            async with self._pool.take() as container:
                yield container
            return
        container = await self._start()
        try:
            yield container
        finally:
            # Nothing waits for its end but the end of the group.
            task = asyncio.ensure_future(container.close())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

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
        check_request(command, files or {}, collect, environment or {})
        async with self._take() as container:
            await self._fill(container, files or {})
            return await run_in_container(
                container,
                command,
                stdin=stdin,
                collect=collect,
                environment=environment,
                wall_time=wall_time,
            )

    async def _fill(self, container: Container, files: Mapping[str, bytes]) -> None:
        if not self._keeps:
            await asyncio.to_thread(container.places.renew, self._base)
        if files:
            try:
                await asyncio.to_thread(container.places.put, files)
            except OSError as error:
                raise InputError(f"input files cannot be written: {error}") from None
