"""EngineSettings with which an engine works on this machine, found by trying and never assumed.

The defaults of an engine come first. What is tried after them works around limits that may not be
raised here, control groups that the default runtime refuses, and managers that are not there.
"""

from __future__ import annotations

import itertools
import json
import os
import resource
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.containers.engine import Engine, EngineError, quote_words
from assay.errors import InfrastructureError

_PROCESSES = 16384
_TRIAL = ("/bin/sh", "-c", ":")
# Words of failures that say that the image, not the settings, is at fault.
_OF_THE_IMAGE = ("/bin/sh", "no such image", "image not known", "unable to find image")
_LIMITS = ("--memory", "256m", "--memory-swap", "256m", "--pids-limit", "64")


@dataclass(frozen=True)
class EngineSettings:
    """How containers are run here."""

    globals: tuple[str, ...] = ()
    """Options of the engine, before the command."""
    ulimits: tuple[str, ...] = ()
    """Limits that must be named, because the engine's own may not be set."""

    @property
    def runtime(self) -> str | None:
        """The runtime that is named, if one is."""
        named = "--runtime" in self.globals
        return self.globals[self.globals.index("--runtime") + 1] if named else None

    @property
    def differences(self) -> str:
        """What differs from the engine's defaults, in its own words."""
        return " ".join([*self.globals, *self.ulimits]) or "its defaults"


def list_candidates(engine: Engine) -> Iterator[EngineSettings]:
    """Yield settings to try, the defaults first."""
    _, most = resource.getrlimit(resource.RLIMIT_NPROC)
    # Not the whole limit of this process: an engine may have less itself.
    number = _PROCESSES if most == resource.RLIM_INFINITY else min(most, _PROCESSES)
    ulimits: tuple[tuple[str, ...], ...] = ((), ("--ulimit", f"nproc={number}:{number}"))
    if not engine.is_podman:
        yield from (EngineSettings((), ulimit) for ulimit in ulimits)
        return
    installed = [name for name in ("crun", "runc") if shutil.which(name)]
    runtimes = ((), *(("--runtime", name) for name in installed))
    managers: tuple[tuple[str, ...], ...] = ((), ("--cgroup-manager", "cgroupfs"))
    for runtime, manager, ulimit in itertools.product(runtimes, managers, ulimits):
        yield EngineSettings((*runtime, *manager), ulimit)


_found: dict[tuple[str, str], EngineSettings] = {}


async def find_settings(engine: Engine, image: str) -> EngineSettings:
    """Return settings with which the image runs here, tried once per process.

    Raises InfrastructureError with the engine's words for its defaults if nothing works.
    """
    key = engine.name, image
    if key not in _found:
        # What works for one image works for the next, but each must have a shell.
        known = [one for (name, _), one in _found.items() if name == engine.name]
        _found[key] = await _try_all(engine, image, [*known[:1], *list_candidates(engine)])
    return _found[key]


async def _try_all(engine: Engine, image: str, candidates: list[EngineSettings]) -> EngineSettings:
    first, left = "", list(candidates)
    while left:
        candidate = left.pop(0)
        words = await try_settings(engine, image, candidate)
        if words is None:
            return candidate
        first = first or words
        if any(sign in words.lower() for sign in _OF_THE_IMAGE):
            break
        left = [one for one in left if not has_same_fault(one, candidate, words)]
    raise InfrastructureError(
        f"{engine.name} cannot run the image {image}: {first}",
        advice="an image needs a shell at /bin/sh; `assay doctor` shows what works here",
    )


def has_same_fault(settings: EngineSettings, failed: EngineSettings, words: str) -> bool:
    """Return whether settings fail for the reason for which others have failed."""
    if "rlimit" in words:
        return settings.ulimits == failed.ulimits
    if "hybrid" in words or "cgroup v" in words:
        return settings.runtime == failed.runtime or f"{settings.runtime}:" in words
    return False


async def try_settings(engine: Engine, image: str, settings: EngineSettings) -> str | None:
    """Run a container with limits; return None if that works, else the engine's words."""
    options = ("--rm", "--network", "none", "--pull", "never", *_LIMITS, *settings.ulimits)
    try:
        answer = await engine.ask(
            [*settings.globals, "run", *options, "--ulimit", "nofile=1024:1024",
             "--entrypoint", _TRIAL[0], image, *_TRIAL[1:]]
        )  # fmt: skip
    except EngineError as error:
        return error.what
    return None if answer.status == 0 else quote_words(answer.stderr)


@dataclass(frozen=True)
class Runtime:
    """The program with which an engine starts processes in its containers (runc, crun)."""

    program: str
    root: str
    """Where it keeps the state of containers."""

    def command(self, *arguments: str) -> list[str]:
        return [self.program, "--root", self.root, *arguments]


async def find_runtime(engine: Engine, identifier: str, pid: int) -> tuple[Runtime, Path] | None:
    """Return the runtime of a running container and the folder of its bundle, if it is reachable.

    Starting a process through the runtime costs a fraction of what the engine's `exec` does.
    """
    if os.geteuid() != 0:
        return None
    for program in ("runc", "crun"):
        path = shutil.which(program)
        if path is None:
            continue
        for root in _list_roots(engine, program, pid):
            if not (Path(root) / identifier).is_dir():
                continue
            runtime = Runtime(path, root)
            command, *arguments = runtime.command("state", identifier)
            answer = await Engine(program, command).ask(arguments)
            if answer.status == 0:
                return runtime, Path(json.loads(answer.stdout)["bundle"])
    return None


def _list_roots(engine: Engine, program: str, pid: int) -> list[str]:
    if engine.is_podman:
        own = os.environ.get("XDG_RUNTIME_DIR")
        return [f"/run/{program}", *([f"{own}/{program}"] if own else [])]
    roots = ["/run/docker/runtime-runc/moby", "/run/docker/runtime-runc"]
    # A daemon with another folder: its helper, the parent of the container, names it.
    status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    parent = Path(f"/proc/{status[1]}/cmdline").read_bytes().split(b"\0")
    for word in parent:
        text = os.fsdecode(word)
        if text.endswith("/containerd/containerd.sock"):
            folder = text.removesuffix("/containerd/containerd.sock")
            roots.insert(0, f"{folder}/runtime-runc/moby")
    return roots
