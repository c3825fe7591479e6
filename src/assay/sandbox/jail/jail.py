"""Builds the jail: `enter` for a worker, `fork_child` for every proof or program it runs.

    supervisor          the process that calls `enter`; stays outside, cleans up, ends with the jail
    └─ first            first process of the jail; mounts everything visible, then only waits
       └─ maker         first process of a second user namespace; prepares those of the next child
          ├─ worker     `enter` returns here: imports a target, starts programs; one at a time
          │  └─ child   `fork_child` returns None here: private namespaces, filters, limits
          └─ keeper     first process of a child's namespaces; killing it ends all of them

The worker imports code of a target but needs two capabilities, because only a parent can put a
child into a pid namespace. They are capabilities over the second user namespace and what was made
in it. There all mounts of the first one are locked: no process can make a read-only bind writable
or remove it. Where a second user namespace is not available, the maker is the first process, and
only the filter forbids this; `why_unlocked` reports it.

The maker and the keepers are forked while the worker is still small, and prepare the next child's
namespaces while the current one runs: a large worker forks once per child and waits for nothing. At
the levels `landlock` and `none` there is no maker and no keeper: the worker adopts orphans and ends
every process that descends from it.

Its spec comes from limits.py and isolation.py outside; start.py shows how to load it by path.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from typing import Any

from . import (
    cgroups,
    child,
    confine,
    folder,
    kernel,
    landlock,
    maker,
    processes,
    seccomp,
    trees,
)
from .child import ChildEnding, JailChild
from .kernel import JailError

__all__ = [
    "ChildEnding",
    "JailChild",
    "JailError",
    "enter",
    "fork_child",
    "keeps_work",
    "limit_worker",
    "spawn_child",
    "why_unlocked",
    "work_folder",
]

_worker: child.ConfinedWorker | None = None


def enter(spec: dict[str, Any]) -> None:
    """Enter the jail: return in a new process, the worker; the calling process ends with it.

    The spec, all of it JSON:
        level    "namespaces", "landlock" or "none"
        binds    [[path outside, path inside, writable], ...]; without namespaces both are the same
        network  whether the machine's network may be used (default: no)
        scratch  where work folders are made if there are no namespaces (default: /tmp)
        ports    TCP ports a program may serve on where there is no private network
        base     a folder that work folders begin as a view of (default: they begin empty)
        work     "fresh" for every child, "kept" from child to child, or the "base" itself
        user     who children are outside, if root starts them (default: nobody else's number)
        limits   cpu_time, memory, processes, open_files, file_size, work_size; see limits.py

    Raises JailError with the step that failed; in the calling process, or without namespaces
    possibly in the new one. Either way: report it and end.
    """
    global _worker
    if _worker is not None:
        raise JailError("this process is in a jail already")
    limits = spec["limits"]
    group = cgroups.make(limits["memory"], limits["processes"], limits["work_size"])
    try:
        if spec["level"] == "namespaces":
            _worker = maker.start(spec, group)
        else:
            _worker = _start_without_namespaces(spec, group)
    except BaseException:
        if group is not None:
            group.remove()
        raise


def fork_child(
    keep: tuple[int, ...] = (), standard: tuple[int, int, int] | None = None
) -> JailChild | None:
    """Like fork: None in the new, isolated process; in the worker its handle.

    Only the standard descriptors and those in `keep` stay open in the child. If anything about
    the isolation fails the child never returns from here, and `JailChild.end` raises JailError.
    """
    if _worker is None:
        raise JailError("call enter first")
    return _worker.fork(keep, standard)


def spawn_child(
    command: list[str],
    environment: dict[str, str],
    standard: tuple[int, int, int],
    put: Callable[[int], None],
) -> JailChild | None:
    """Start a program as a child; None where that takes a `fork_child`. See child.py."""
    if _worker is None:
        raise JailError("call enter first")
    return _worker.spawn(command, environment, standard, put)


def limit_worker() -> None:
    """Apply the limits of children to the worker too, before it imports foreign code."""
    if _worker is None:
        raise JailError("call enter first")
    confine.limit_worker(_worker)


def work_folder() -> str:
    """Return the folder that holds, or with namespaces is, the work folder of every child."""
    if _worker is None:
        raise JailError("call enter first")
    return _worker.scratch


def keeps_work() -> bool:
    """Return whether children see the work folder as the previous one left it."""
    return _worker is not None and _worker.spec.get("work") == "kept"


def why_unlocked() -> str:
    """Return why only the filter guards the mounts; "" if they are locked as well."""
    return _worker.unlocked if isinstance(_worker, maker.NamespaceWorker) else ""


def _start_without_namespaces(
    spec: dict[str, Any], group: cgroups.ControlGroup | None
) -> child.ConfinedWorker:
    other_user = os.geteuid() == 0 and spec["level"] != "none"
    user = spec.get("user") or maker.sandbox_user()
    scratch = folder.make_private(spec.get("scratch", "/tmp"))
    if other_user:
        os.chown(scratch, user, user)
    outside = os.pidfd_open(os.getppid())
    kernel.adopt_orphans()
    process = os.fork()
    if process:
        status = maker.supervise(process, outside, group)
        processes.end_descendants()
        with contextlib.suppress(OSError):
            # The next worker retries whatever cannot be removed now.
            trees.remove(scratch)
        maker.leave(status, group)
    if group is not None:
        group.join()
    kernel.adopt_orphans()
    os.setsid()
    if other_user:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    kernel.die_with_parent(signal.SIGKILL)
    confine.check_readable([host for host, _, _ in spec["binds"]])
    if spec["level"] == "landlock":
        _filter_worker(spec, scratch, group, shared_user=not other_user)
    return child.ConfinedWorker(spec, group, scratch, own_user=other_user)


def _filter_worker(
    spec: dict[str, Any], scratch: str, group: cgroups.ControlGroup | None, *, shared_user: bool
) -> None:
    kernel.limit_capabilities()
    kernel.show_memory()
    kernel.no_new_privileges()
    # The worker finds the processes it has to end by scanning all processes.
    rules = [*confine.landlock_rules(spec, (scratch,)), ("/proc", landlock.LOOK)]
    confine.install_landlock(spec, rules, may_connect=True)
    program = seccomp.program(
        sockets=confine.sockets_of(spec),
        private=False,
        shared_user=shared_user,
        counted=group is not None,
    )
    seccomp.install(program)
