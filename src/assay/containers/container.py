"""One container: started once, in which any number of programs run one after another.

Its first process is a shell that waits for the end of its standard input. Assay holds the other
end: however Assay ends, the shell ends with it, and with the first process all others and the
container. The shell runs as another user than the programs, so that none of them can change it.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from assay.containers.counters import GroupOfContainer
from assay.containers.engine import Engine, EngineError, advise, end_group, quote_words
from assay.containers.owners import OWNER, describe_owner, remove_container
from assay.containers.places import Places
from assay.containers.seccomp import make_profile
from assay.containers.settings import EngineSettings, Runtime, find_runtime
from assay.errors import InfrastructureError
from assay.sandbox import Bind, Limits, make_held

_READY = b"assay-ready"
# One shell reads, the first one waits: so it also takes leave of orphans, which would count as
# processes of the next program.
_KEEPER = f"exec 3<&0; {{ echo {_READY.decode()}; read _; }} <&3 & wait"
_KEEPERS_USER = 65533
_START, _END = 120.0, 60.0
_RUNTIME_HELPERS = 4
"""Processes of a container that are not the program's: its first, and those that start others."""


class User(NamedTuple):
    """Who programs are in a container."""

    user: int = 65534
    group: int = 65534


@dataclass(frozen=True)
class ContainerSpec:
    """What a container is like."""

    image: str
    work: str = "/workspace"
    user: User = field(default_factory=User)
    limits: Limits = field(default_factory=Limits)
    cpus: float | None = None
    network: str = "none"
    """Empty for the engine's own."""
    binds: tuple[Bind, ...] = ()
    options: tuple[str, ...] = ()
    """Further options of `run`, from the environment file."""
    is_fixed: bool = True
    """Whether its root is read-only and the work folder in memory; not so during set-up."""

    def list_options(self, engine: Engine, settings: EngineSettings) -> list[str]:
        """Return the options of `run` for it."""
        limits = self.limits
        # What is written in memory counts as memory.
        memory = limits.memory + limits.work_size
        keeper = 0 if self.user.user == 0 else _KEEPERS_USER
        options = [
            "--pull", "never", "--hostname", "assay",
            "--security-opt", "no-new-privileges",
            "--memory", str(memory), "--memory-swap", str(memory),
            "--pids-limit", str(limits.processes + _RUNTIME_HELPERS),
            "--ulimit", f"nofile={limits.open_files}:{limits.open_files}", *settings.ulimits,
            "--shm-size", str(limits.work_size),
            "--user", f"{keeper}:{keeper}", "--workdir", self.work if self.is_fixed else "/",
            "--log-driver", "none", "--entrypoint", "/bin/sh",
        ]  # fmt: skip
        if self.network:
            options += ["--network", self.network]
        if self.cpus is not None:
            options += ["--cpus", f"{self.cpus:g}"]
        if self.is_fixed or self.user.user != 0:
            options += ["--cap-drop", "all"]
        if self.is_fixed:
            options += ["--read-only", *self._tmpfs(engine)]
        for bind in self.binds:
            access = "" if bind.writable else ",readonly"
            options += ["--mount", f"type=bind,source={bind.host},target={bind.inside}{access}"]
        return [*options, *self.options]

    def _tmpfs(self, engine: Engine) -> list[str]:
        more = ",notmpcopyup" if engine.is_podman else ""
        form = f"rw,exec,nosuid,nodev,size={self.limits.work_size}{more}"
        own = ["--read-only-tmpfs=false"] if engine.is_podman else []
        return [*own, f"--tmpfs={self.work}:{form},mode=755", f"--tmpfs=/tmp:{form},mode=1777"]

    def list_places(self) -> list[str]:
        """Return the folders in which programs may write and that are emptied between them."""
        if not self.is_fixed:
            return [self.work]
        return [self.work, "/tmp", "/dev/shm", "/dev/mqueue"]  # noqa: S108 - the container's own


class Container:
    """A running container; made by `start`."""

    def __init__(self, engine: Engine, settings: EngineSettings, spec: ContainerSpec) -> None:
        self.engine, self.settings, self.spec = engine, settings, spec
        self.name = f"assay-{uuid.uuid4().hex[:16]}"
        folder, self._held = make_held(tempfile.gettempdir())
        self.folder = Path(folder)
        """Notes about the container; what a killed process leaves of them, the next removes."""
        self._process: asyncio.subprocess.Process | None = None
        self._words: asyncio.Task[bytes] | None = None
        self.pid = 0
        self.identifier = ""
        self.runtime: Runtime | None = None
        self.bundle: Path | None = None
        self.group: GroupOfContainer | None = None
        self._places: Places | None = None
        self._is_lost = False

    @classmethod
    async def start(
        cls, engine: Engine, settings: EngineSettings, spec: ContainerSpec
    ) -> Container:
        """Start a container; raise EngineError with the engine's words if that fails."""
        container = cls(engine, settings, spec)
        try:
            await container._begin()
            await container._wait_until_ready()
            await container._find()
        except BaseException:
            await asyncio.shield(container.close())
            raise
        return container

    async def _begin(self) -> None:
        engine = self.engine
        notes = [f"--cidfile={self.folder}/id"]
        if engine.is_podman:
            notes.append(f"--pidfile={self.folder}/pid")
        profile = make_profile() if engine.is_podman and self.spec.is_fixed else None
        if profile is not None:
            (self.folder / "seccomp.json").write_text(profile)
            notes += ["--security-opt", f"seccomp={self.folder}/seccomp.json"]
        self._process = await asyncio.create_subprocess_exec(
            engine.program, *self.settings.globals, "run", "--interactive", "--rm",
            "--name", self.name, "--label", f"{OWNER}={describe_owner()}", *notes,
            *self.spec.list_options(engine, self.settings), self.spec.image, "-c", _KEEPER,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip

    async def _wait_until_ready(self) -> None:
        assert self._process is not None
        out, err = self._process.stdout, self._process.stderr
        assert out is not None
        assert err is not None
        self._words = asyncio.ensure_future(err.read())
        try:
            async with asyncio.timeout(_START):
                line = await out.readline()
        except TimeoutError:
            raise EngineError(f"{self.engine.name} did not start {self.spec.image}") from None
        if line.strip() != _READY:
            words = (await self._words).decode("utf-8", "replace")
            raise EngineError(
                f"{self.engine.name} run failed for {self.spec.image}: {quote_words(words)}",
                advice=advise(self.engine, words),
            )

    async def _find(self) -> None:
        """Find the first process, its control group and the runtime."""
        self.identifier = (self.folder / "id").read_text().strip()
        if self.engine.is_podman:
            self.pid = int((self.folder / "pid").read_text())
        else:
            form = ["inspect", "--format", "{{.State.Pid}}", self.name]
            self.pid = int(await self.engine.run(form))
        try:
            self.group = GroupOfContainer.of(self.pid)
            paths = self.spec.list_places()
            self._places = Places.open(
                self.pid, paths, self.spec.user.user, is_fixed=self.spec.is_fixed
            )
        except OSError as error:
            raise InfrastructureError(
                f"the files of a container cannot be reached: {error.strerror}", advice=_NOT_ROOT
            ) from None
        if self.group is None:
            raise InfrastructureError(
                "the processes of a container cannot be seen from here", advice=_NOT_ROOT
            )
        found = await find_runtime(self.engine, self.identifier, self.pid)
        if found is not None:
            self.runtime, self.bundle = found

    @property
    def places(self) -> Places:
        assert self._places is not None
        return self._places

    @property
    def has_ended(self) -> bool:
        if self._is_lost or self._process is None or self._process.returncode is not None:
            return True
        return self.group is not None and self.pid not in self.group.list_processes()

    async def end_programs(self) -> bool:
        """Kill all programs; a container where that fails is not used again."""
        assert self.group is not None
        is_clean = await asyncio.to_thread(self.group.end_others)
        self._is_lost |= not is_clean
        return is_clean

    async def close(self) -> None:
        """End the container with everything in it; it is removed when this returns."""
        if self._places is not None:
            self._places.close()
            self._places = None
        try:
            if self._process is not None:
                await self._end(self._process)
        finally:
            if self._held >= 0:
                os.close(self._held)
                self._held = -1
                shutil.rmtree(self.folder, ignore_errors=True)

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(_END):
                await process.wait()
        except TimeoutError:
            end_group(process)
            await process.wait()
        if self._words is not None:
            await self._words
        if process.returncode != 0 or self._is_lost:
            # Its first process did not end by itself, or the engine's command was killed.
            await remove_container(self.engine, self.name)


_NOT_ROOT = (
    "run Assay as root, or with rootless podman as `podman unshare assay …`; a daemon on another "
    "machine or in a virtual machine cannot be used"
)
