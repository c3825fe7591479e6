"""Cases per second in the sandbox and in containers, against a bare loop of `podman run`.

`python -m benchmarks.containers` measures all of them in one run, in turns, one case at a time. The
image is made from the files of this machine, in a podman store of its own. `--docker` adds docker,
if DOCKER_HOST names a daemon that can be used.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from assay.containers import (
    ContainerPrograms,
    ContainerSpec,
    Engine,
    Settings,
    find_engine,
    find_settings,
)
from assay.sandbox import Limits, Programs
from tests.containers.machine_image import NAME, write_archive
from tests.containers.support import import_image, new_store, why_not

COMMAND = ["python3", "-c", "print(1)"]
BARE = "a bare loop of `podman run`"
LIMITS = Limits()
Once = Callable[[], Awaitable[object]]


@dataclass
class Way:
    """A way to run a case, and what its rounds took."""

    once: Once
    finish: Once | None = None
    """Waits until everything that a round has started has ended."""
    wall: list[float] = field(default_factory=list)


async def main_loop(rounds: int, cases: int, *, with_docker: bool) -> None:
    async with AsyncExitStack() as held:
        ways = await open_ways(held, with_docker=with_docker)
        for way in ways.values():
            await way.once()
        for _ in range(rounds):
            for way in ways.values():
                await measure(way, cases)
        print_table(ways)


async def measure(way: Way, cases: int) -> None:
    start = time.monotonic()
    for _ in range(cases):
        await way.once()
    if way.finish is not None:
        await way.finish()
    way.wall.append((time.monotonic() - start) / cases)


async def open_ways(held: AsyncExitStack, *, with_docker: bool) -> dict[str, Way]:
    podman = await find_engine("podman")
    settings = await find_settings(podman, NAME)
    base = Path(held.enter_context(tempfile.TemporaryDirectory()))
    (base / "main.py").write_text("print(1)\n")
    sandbox = await held.enter_async_context(Programs(limits=LIMITS))
    ways = {
        BARE: Way(lambda: podman.run(bare_command(settings))),
        "sandbox": Way(lambda: sandbox.run(["python3", "-c", "print(1)"], environment=_path())),
    }
    kinds = [(podman, settings, NAME)]
    if with_docker:
        docker = await find_engine("docker")
        image = await import_to_docker(docker)
        kinds.append((docker, await find_settings(docker, image), image))
    for engine, known, image in kinds:
        for reuse in (False, True):
            spec = ContainerSpec(image, limits=LIMITS)
            programs = ContainerPrograms(engine, known, spec, base, reuse=reuse)
            await held.enter_async_context(programs)
            word = "one container" if reuse else "a container per case"
            ways[f"{engine.name}, {word}"] = Way(_runs(programs), None if reuse else programs.reset)
    return ways


def _path() -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin"}


def _runs(programs: ContainerPrograms) -> Once:
    return lambda: programs.run(COMMAND)


def bare_command(settings: Settings) -> list[str]:
    """Return what somebody would write in a loop: no limits, no clean-up of files."""
    return [
        *settings.globals, "run", "--rm", "--network", "none", *settings.ulimits,
        "--ulimit", "nofile=1024:1024", NAME, *COMMAND,
    ]  # fmt: skip


async def import_to_docker(docker: Engine) -> str:
    with tempfile.TemporaryDirectory() as folder:
        archive = write_archive(Path(folder) / "image.tar")
        await docker.run(["import", str(archive), NAME])
    return NAME


def print_table(ways: dict[str, Way]) -> None:
    bare = statistics.median(ways[BARE].wall)
    print(f"{'':<34}{'cases/s':>9}{'rate':>8}{'cost':>8}   (against the bare loop)")
    for name, way in ways.items():
        wall = statistics.median(way.wall)
        ratios = [one / other for one, other in zip(way.wall, ways[BARE].wall, strict=True)]
        cost = statistics.median(ratios)
        print(f"{name:<34}{1 / wall:>9.2f}{bare / wall:>8.2f}{cost:>8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cases", type=int, default=6)
    parser.add_argument("--docker", action="store_true")
    asked = parser.parse_args()
    if (reason := why_not()) is not None:
        raise SystemExit(f"not measured: {reason}")
    with new_store() as variables, tempfile.TemporaryDirectory() as folder:
        os.environ.update(variables)
        import_image(Path(folder) / "image.tar")
        asyncio.run(main_loop(asked.rounds, asked.cases, with_docker=asked.docker))
        subprocess.run(["podman", "rm", "--all", "--force"], check=False, capture_output=True)


if __name__ == "__main__":
    main()
