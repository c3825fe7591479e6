"""Detects what this machine offers by trying each layer in a short-lived process.

Started as `start.py probe`; prints one JSON object of layer to [available, what was seen].
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable

from . import cgroups, jail, kernel, landlock, seccomp

_SMALL = {
    "cpu_time": 5,
    "memory": 256 << 20,
    "processes": 16,
    "open_files": 64,
    "file_size": 1 << 20,
    "work_size": 1 << 20,
}


def _try(attempt: Callable[[], str]) -> tuple[bool, str]:
    """Run an attempt in a separate process and read its result."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.write(writing, attempt().encode())
        except BaseException as error:
            os.write(writing, str(error).encode()[:4000])
            os._exit(1)
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8", errors="replace") as file:
        text = file.read()
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return status == 0, text if status >= 0 else f"ended by {signal.Signals(-status).name}"


def _user_namespace() -> str:
    kernel.unshare(kernel.NEW_USER)
    return "user namespaces can be made"


def _landlock() -> str:
    version = landlock.version_of_kernel()
    if not version:
        raise OSError("this kernel has no Landlock, or it is switched off")
    kernel.no_new_privileges()
    landlock.install(landlock.ruleset_of([("/", landlock.READ)]))
    return f"version {version}"


def _seccomp() -> str:
    kernel.no_new_privileges()
    program = seccomp.program(sockets=seccomp.SOCKETS_NONE, private=False)
    seccomp.install(program)
    return f"{len(program) // 8} instructions"


def _control_group() -> str:
    group = cgroups.make(_SMALL["memory"], _SMALL["processes"], _SMALL["work_size"])
    if group is None:
        raise OSError("no control group for memory can be made here")
    description = group.description()
    group.remove()
    return description


def _jail(level: str) -> Callable[[], str]:
    def attempt() -> str:
        jail.enter({"level": level, "binds": [], "limits": _SMALL})
        child = jail.fork_child()
        if child is None:
            os._exit(7)
        ending = child.wait(5.0)
        child.close()
        if ending.status != 7:
            raise OSError(f"a child ended with {ending}")
        unlocked = jail.why_unlocked()
        note = f"; its mounts are not locked, no second user namespace: {unlocked}"
        return f"a child was isolated and ended{note if unlocked else ''}"

    return attempt


def main() -> None:
    attempts = {
        "user namespaces": _user_namespace,
        "Landlock": _landlock,
        "seccomp": _seccomp,
        "control groups": _control_group,
        "level namespaces": _jail("namespaces"),
        "level landlock": _jail("landlock"),
    }
    sys.stdout.write(json.dumps({name: _try(attempt) for name, attempt in attempts.items()}))
