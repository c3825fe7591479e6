"""Restrictions that a forked child applies to itself before it runs anything."""

from __future__ import annotations

import os
import resource
import signal
from typing import TYPE_CHECKING, Any, NamedTuple

from . import kernel, landlock, root, seccomp

if TYPE_CHECKING:
    from .child import ConfinedWorker, ReadyNamespaces


_PENDING_SIGNALS = 4096  # timers too
_QUEUE_BYTES = 256 << 10
_MORE_PROCESSES, _MORE_FILES = 256, 256


class ChildFolders(NamedTuple):
    """The folders of a child; `writable` are its outermost own folders."""

    work: str
    temporary: str
    writable: tuple[str, ...] = ()


def isolate(
    worker: ConfinedWorker,
    report_write: int,
    keep: tuple[int, ...],
    standard: tuple[int, int, int] | None,
    place: ChildFolders,
    *,
    prepared: ReadyNamespaces | None = None,
) -> None:
    """Isolate the calling child; does not return if that fails."""
    try:
        if prepared is not None:
            for space in prepared.spaces[1:]:
                kernel.setns(space, 0)
        else:
            kernel.die_with_parent(signal.SIGKILL)
        os.setpgid(0, 0)
        if standard is not None:
            _replace_standard(standard)
        os.environ["HOME"] = place.work
        os.environ["TMPDIR"] = place.temporary
        os.chdir(place.work)
        for name, values in worker.limits:
            resource.setrlimit(name, values)
        _filter(worker, () if prepared is None else prepared.ruleset, place.writable)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        kernel.close_descriptors_from(3, (*keep, report_write))
        os.write(report_write, b"+")
        os.close(report_write)
    except BaseException as error:
        os.write(report_write, f"{type(error).__name__}: {error}".encode()[:4000])
        os._exit(125)


def _replace_standard(standard: tuple[int, int, int]) -> None:
    copies = [os.dup(descriptor) for descriptor in standard]
    for number, copy in enumerate(copies):
        os.dup2(copy, number)


def limits_of(worker: ConfinedWorker) -> list[tuple[int, tuple[int, int]]]:
    """Return the limits of every child, as low as this process may set them."""
    limits = worker.spec["limits"]
    processes = limits["processes"] + worker.other_processes
    values = {
        resource.RLIMIT_CORE: (0, 0),
        # The first limit can be caught and gives a clear signal; the second cannot.
        resource.RLIMIT_CPU: (limits["cpu_time"], limits["cpu_time"] + 1),
        resource.RLIMIT_FSIZE: (limits["file_size"],) * 2,
        resource.RLIMIT_NOFILE: (limits["open_files"],) * 2,
        resource.RLIMIT_NPROC: (processes,) * 2,
        # Counted against the user who runs Assay, even inside namespaces: using them up would take
        # timers and queues away from the user's other processes.
        resource.RLIMIT_SIGPENDING: (_PENDING_SIGNALS,) * 2,
        resource.RLIMIT_MSGQUEUE: (_QUEUE_BYTES,) * 2,
    }
    if worker.group is None:
        # Limits each process separately; without a control group nothing more is possible.
        values[resource.RLIMIT_DATA] = (limits["memory"],) * 2
        values[resource.RLIMIT_AS] = (2 * limits["memory"] + (2 << 30),) * 2
    found = []
    for name, (soft, hard) in values.items():
        ceiling = resource.getrlimit(name)[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        found.append((name, (soft, hard)))
    return found


def limit_worker(worker: ConfinedWorker) -> None:
    """Limit the calling worker before it imports foreign code, based on its children's limits.

    It needs somewhat more than they do: descriptors to serve them, and processes, which without
    namespaces are counted together with all others of the user. Its CPU time is that of many
    proofs.
    """
    more = {resource.RLIMIT_NPROC: _MORE_PROCESSES, resource.RLIMIT_NOFILE: _MORE_FILES}
    for name, (_, most) in worker.limits:
        if name != resource.RLIMIT_CPU:
            ceiling = resource.getrlimit(name)[1]
            allowed = most + more.get(name, 0)
            if ceiling != resource.RLIM_INFINITY:
                allowed = min(allowed, ceiling)
            resource.setrlimit(name, (allowed, allowed))


def check_readable(paths: list[str]) -> None:
    """Raise JailError for a path that the user inside could not read."""
    for path in paths:
        if not os.access(path, os.R_OK):
            raise kernel.JailError(
                f"{path} is not there or cannot be read by the sandbox's user; "
                "make it, and the folders above it, readable for all users"
            )


def landlock_rules(spec: dict[str, Any], places: tuple[str, ...]) -> list[tuple[str, int]]:
    """Return the readable and writable paths for levels without a private root."""
    readable = root.READABLE + (root.READABLE_WITH_NETWORK if spec.get("network") else ())
    rules = [(path, landlock.READ) for path in readable]
    rules += [(path, landlock.LOOK) for path in root.MACHINE_FACTS]
    rules += [(path, landlock.WRITE) for path in root.DEVICES]
    for host, _, writable in spec["binds"]:
        rules.append((host, landlock.WRITE if writable else landlock.READ))
    if spec.get("base"):
        rules.append((spec["base"], landlock.WRITE if spec["work"] == "base" else landlock.READ))
    return rules + [(place, landlock.WRITE) for place in places]


def _filter(worker: ConfinedWorker, rulesets: tuple[int, ...], places: tuple[str, ...]) -> None:
    if worker.level == "none":
        return
    kernel.drop_capabilities()
    kernel.show_memory()
    kernel.no_new_privileges()
    for ruleset in rulesets:
        landlock.install(ruleset)
    if worker.level == "landlock":
        own = (f"/proc/{os.getpid()}", landlock.LOOK)
        install_landlock(worker.spec, [*landlock_rules(worker.spec, places), own])
    if seccomp.is_supported():
        seccomp.install(_seccomp_program(worker))


def _seccomp_program(worker: ConfinedWorker) -> bytes:
    if worker.level == "namespaces":
        return worker.seccomp
    if landlock.version_of_kernel() >= landlock.SCOPED_SIGNALS_VERSION:
        return worker.seccomp
    if worker.own_user:
        # Only the worker, this process's parent, has the same user id.
        return seccomp.program_for_child(never_to=os.getppid())
    return seccomp.program_for_child(only_to=os.getpid())


def install_landlock(
    spec: dict[str, Any], rules: list[tuple[str, int]], *, may_connect: bool = False
) -> None:
    """Install rules; where there is no network namespace they name the TCP ports too.

    Only the worker may connect: a rule names a port, and that port may be open elsewhere too.
    """
    ruleset = landlock.ruleset_of(
        rules,
        ports=tuple(spec.get("ports", ())),
        limit_tcp=not spec.get("network"),
        may_connect=may_connect,
    )
    landlock.install(ruleset)
    os.close(ruleset)


def sockets_of(spec: dict[str, Any]) -> str:
    """Return which sockets a child may create, in the terms of seccomp.py."""
    if spec.get("network"):
        return seccomp.SOCKETS_HOST
    if spec["level"] == "namespaces":
        return seccomp.SOCKETS_PRIVATE
    return seccomp.SOCKETS_PORTS if spec.get("ports") else seccomp.SOCKETS_NONE
