"""Labels that mark what is Assay's, and the removal of what a killed process left behind."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from assay.containers.engine import Engine, EngineError

OWNER = "assay.owner"
"""The label of a container: the process that started it."""
KIND = "assay.kind"
"""The label of an image: `set-up` or `build`."""
KEY = "assay.key"
"""The label of an image: a digest of everything it was made from."""


@functools.cache
def describe_owner() -> str:
    """Return what identifies this process, also after a restart of the machine."""
    return "/".join([*_machine(), str(os.getpid()), _started(os.getpid())])


def _machine() -> tuple[str, str]:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return boot, str(Path("/proc/self/ns/pid").stat().st_ino)


def _started(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return "gone"


def is_abandoned(owner: str) -> bool:
    """Return whether the process that a label names has ended.

    Nothing is known of a process in another namespace; a restart of the machine has ended all.
    """
    parts = owner.split("/")
    if len(parts) != 4 or not parts[2].isdigit():
        return False
    boot, space = _machine()
    if parts[0] != boot:
        return True
    return parts[1] == space and _started(int(parts[2])) != parts[3]


_swept: set[str] = set()


async def sweep(engine: Engine) -> int:
    """Remove containers of processes that were killed, once per process; return how many."""
    if engine.name in _swept:
        return 0
    _swept.add(engine.name)
    form = '{{.ID}} {{.Label "%s"}}' % OWNER  # noqa: UP031 - braces of a template
    if engine.is_podman:
        form = '{{.ID}} {{index .Labels "%s"}}' % OWNER  # noqa: UP031
    listed = await engine.run(["ps", "--all", "--filter", f"label={OWNER}", "--format", form])
    lines = [line.split() for line in listed.splitlines()]
    left = [line[0] for line in lines if len(line) == 2 and is_abandoned(line[1])]
    for identifier in left:
        await remove_container(engine, identifier)
    return len(left)


async def remove_container(engine: Engine, identifier: str) -> None:
    """Remove a container with its processes and volumes; it may be gone already."""
    answer = await engine.ask(["rm", "--force", "--volumes", identifier])
    gone = "no such container" in answer.stderr.lower() or "no container" in answer.stderr.lower()
    if answer.status != 0 and not gone and "in progress" not in answer.stderr:
        raise EngineError(
            f"{engine.name} could not remove the container {identifier}: {answer.stderr.strip()}",
            advice=f"remove it with `{engine.name} rm --force {identifier}`",
        )
