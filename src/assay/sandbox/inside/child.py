"""One isolated process: what it does to itself before it runs anything, and how it is ended."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import socket
import time
from typing import Any, NamedTuple

from . import cgroups, filters, folder, kernel, root

# Beside the processes of a program its user id has a supervisor, a maker, a worker and two keepers.
_OWN_PROCESSES = 6
_LOOK_AT_FOLDER_EVERY = 0.1
_SETTLE = 10.0
_LONG = 3600.0 * 24


class JailError(Exception):
    """The jail could not be built or left; nothing was run in it."""


class Ending(NamedTuple):
    """How a child ended. `status` is negative for a signal; `limit` names the limit it hit."""

    status: int
    limit: str | None
    wall_time: float
    cpu_time: float
    peak_memory: int


class Prepared(NamedTuple):
    """Namespaces that wait for their child, all as descriptors.

    The keeper's process, the work folder, the namespaces (pid first), and the file rules if any.
    """

    keeper: int
    work: int
    spaces: tuple[int, ...]
    ruleset: tuple[int, ...]


class Before(NamedTuple):
    """The state of things when a child was started."""

    time: float
    group: cgroups.Reading | None


class Worker:
    """What a process in the jail needs to know to fork isolated children, one at a time."""

    def __init__(self, spec: dict[str, Any], group: cgroups.Group | None, scratch: str) -> None:
        self.spec = spec
        self.group = group
        self.scratch = scratch
        self.level = spec["level"]
        self._count = 0
        isolated = self.level != "none" and filters.supported()
        self.seccomp = filters.seccomp_program_for_child(None) if isolated else b""
        # In a user namespace the limit counts what is inside, elsewhere all that the user runs.
        inside = self.level == "namespaces"
        self.other_processes = _OWN_PROCESSES if inside else _processes_of_user()

    def fork(self, keep: tuple[int, ...], standard: tuple[int, int, int] | None) -> Child | None:
        self._count += 1
        place = os.path.join(self.scratch, str(self._count))
        for path in (place, f"{place}/work", f"{place}/tmp"):
            os.mkdir(path, 0o700)
        work = os.open(f"{place}/work", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        told, tell = os.pipe2(os.O_CLOEXEC)
        before = self.begin()
        process = os.fork()
        if process == 0:
            isolate(self, tell, keep, standard, place=place)
            return None
        os.close(tell)
        return Child(self, process, told, work, before, place=place)

    def begin(self) -> Before:
        """Read the clock and the counters before a child starts to move them."""
        reading = None if self.group is None else self.group.begin()
        return Before(time.monotonic(), reading)

    def open_socket(self, child: Child) -> socket.socket:
        """A TCP socket in the child's network, which here is the machine's."""
        return socket.socket(socket.AF_INET, socket.SOCK_STREAM)


def isolate(
    worker: Worker,
    tell: int,
    keep: tuple[int, ...],
    standard: tuple[int, int, int] | None,
    *,
    prepared: Prepared | None = None,
    place: str = "",
) -> None:
    """Runs in the child: returns isolated, or not at all."""
    try:
        if worker.group is not None:
            _be_the_first_to_be_killed()
        if prepared is not None:
            for space in prepared.spaces[1:]:
                kernel.setns(space, 0)
        else:
            kernel.die_with_parent(signal.SIGKILL)
        os.setpgid(0, 0)
        if standard is not None:
            _replace_standard(standard)
        os.environ["HOME"] = f"{place}/work"
        os.environ["TMPDIR"] = f"{place}/tmp"
        os.chdir(f"{place}/work")
        _limit(worker)
        _filter(worker, () if prepared is None else prepared.ruleset, place)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        kernel.close_descriptors_from(3, (*keep, tell))
        os.write(tell, b"+")
        os.close(tell)
    except BaseException as error:
        os.write(tell, f"{type(error).__name__}: {error}".encode()[:4000])
        os._exit(125)


def _be_the_first_to_be_killed() -> None:
    # When the group's memory is used up the kernel chooses whom to end: never the worker. Where
    # Landlock forbids to say so, the largest is chosen, which is the same unless they are equal.
    with contextlib.suppress(PermissionError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def _replace_standard(standard: tuple[int, int, int]) -> None:
    copies = [os.dup(descriptor) for descriptor in standard]
    for number, copy in enumerate(copies):
        os.dup2(copy, number)


def _limit(worker: Worker) -> None:
    limits = worker.spec["limits"]
    processes = limits["processes"] + worker.other_processes
    values = {
        resource.RLIMIT_CORE: (0, 0),
        # The first limit can be caught and gives a clear signal; the second cannot.
        resource.RLIMIT_CPU: (limits["cpu_time"], limits["cpu_time"] + 1),
        resource.RLIMIT_FSIZE: (limits["file_size"],) * 2,
        resource.RLIMIT_NOFILE: (limits["open_files"],) * 2,
        resource.RLIMIT_NPROC: (processes,) * 2,
    }
    if worker.group is None:
        # Bounds each process by itself, which is all that can be had without a control group.
        values[resource.RLIMIT_DATA] = (limits["memory"],) * 2
        values[resource.RLIMIT_AS] = (2 * limits["memory"] + (2 << 30),) * 2
    for name, (soft, hard) in values.items():
        ceiling = resource.getrlimit(name)[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(name, (soft, hard))


def _processes_of_user() -> int:
    """Processes and threads of this user, wherever they run."""
    user, total = os.getuid(), 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == user:
                    total += len(os.listdir(f"/proc/{name}/task"))
    return total


def landlock_rules(spec: dict[str, Any], place: str) -> list[tuple[str, int]]:
    """What may be read and written where there is no root of our own."""
    readable = root.READABLE + (root.READABLE_WITH_NETWORK if spec.get("network") else ())
    rules = [(path, filters.READ) for path in readable]
    rules += [(path, filters.LOOK) for path in root.MACHINE_FACTS]
    rules += [(path, filters.WRITE) for path in root.DEVICES]
    for host, _, writable in spec["binds"]:
        rules.append((host, filters.WRITE if writable else filters.READ))
    return [*rules, (place, filters.WRITE)]


def _filter(worker: Worker, rulesets: tuple[int, ...], place: str) -> None:
    if worker.level == "none":
        return
    kernel.drop_capabilities()
    kernel.show_memory()
    kernel.no_new_privileges()
    for ruleset in rulesets:
        filters.install_landlock(ruleset)
    signals_to = None
    if worker.level == "landlock":
        own = (f"/proc/{os.getpid()}", filters.LOOK)
        install_landlock(worker.spec, [*landlock_rules(worker.spec, place), own])
        if filters.landlock_version() < filters.SCOPED_SIGNALS_VERSION:
            signals_to = os.getpid()
    if worker.seccomp:
        program = worker.seccomp
        if signals_to is not None:
            program = filters.seccomp_program_for_child(signals_to)
        filters.install_seccomp(program)


def install_landlock(
    spec: dict[str, Any], rules: list[tuple[str, int]], *, may_connect: bool = False
) -> None:
    """Where there is no network namespace, the rules name the TCP ports too.

    Only the worker may connect: a rule names a port, and that port may be open elsewhere too.
    """
    ruleset = filters.landlock_ruleset(
        rules,
        ports=tuple(spec.get("ports", ())),
        limit_tcp=not spec.get("network"),
        may_connect=may_connect,
    )
    filters.install_landlock(ruleset)
    os.close(ruleset)


def sockets_of(spec: dict[str, Any]) -> str:
    """Which sockets a child may make, in the words of filters."""
    if spec.get("network"):
        return filters.SOCKETS_HOST
    if spec["level"] == "namespaces":
        return filters.SOCKETS_PRIVATE
    return filters.SOCKETS_PORTS if spec.get("ports") else filters.SOCKETS_NONE


class Child:
    """A running child, as its worker sees it."""

    def __init__(
        self,
        worker: Worker,
        process: int,
        told: int,
        work: int,
        before: Before,
        *,
        prepared: Prepared | None = None,
        place: str | None = None,
    ) -> None:
        self.process = process
        self.handle = os.pidfd_open(process)  # readable as soon as the child has ended
        self.work = work  # the work folder; stays usable until `close`
        self.prepared = prepared
        self.keeper = None if prepared is None else prepared.keeper
        self._worker, self._told, self._place = worker, told, place
        self._before = before
        # Only a tmpfs refuses to grow by itself; elsewhere the folder is looked at now and then.
        self.pause = _LOOK_AT_FOLDER_EVERY if place else _LONG

    def wait(self, timeout: float = _LONG) -> Ending:
        """Wait for the child, at most so many seconds; then end everything it has started."""
        deadline = self._before.time + timeout
        poller = select.poll()
        poller.register(self.handle, select.POLLIN)
        while True:
            left = max(0.0, deadline - time.monotonic())
            if poller.poll(min(left, self.pause) * 1000):
                return self.end()
            if time.monotonic() >= deadline:
                return self.end("wall_time")
            if self.folder_is_full():
                return self.end("work_size")

    def folder_is_full(self) -> bool:
        allowed: int = self._worker.spec["limits"]["work_size"]
        return self._place is not None and folder.size_of(self._place) > allowed

    def connect(self, port: int) -> socket.socket:
        """A socket that is connected to a port the child listens on."""
        connection = self._worker.open_socket(self)
        connection.settimeout(1.0)
        try:
            connection.connect((b"127.0.0.1", port))
        except OSError:
            connection.close()
            raise
        connection.settimeout(None)
        return connection

    def end(self, limit: str | None = None) -> Ending:
        """End the child and everything it has started, and say how it went."""
        wall = time.monotonic() - self._before.time
        full = self.folder_is_full() if self._place else os.fstatvfs(self.work).f_bavail == 0
        with contextlib.suppress(ProcessLookupError):
            first = self.handle if self.prepared is None else self.prepared.keeper
            signal.pidfd_send_signal(first, signal.SIGKILL)
        _, status, usage = os.wait4(self.process, 0)
        if self.prepared is None:
            end_descendants()
        else:
            _wait_until_gone(self.prepared.keeper)
        self._check_isolated()
        code = os.waitstatus_to_exitcode(status)
        cpu = usage.ru_utime + usage.ru_stime
        limit = limit or self._limit_hit(code, cpu) or ("work_size" if full else None)
        return Ending(code, limit, wall, cpu, self._peak(usage.ru_maxrss * 1024))

    def _check_isolated(self) -> None:
        told = os.read(self._told, 4096)
        if told != b"+":
            reason = told.decode("utf-8", "replace") or "it ended before it was isolated"
            self.close()
            raise JailError(f"a child could not be isolated: {reason}")

    def _limit_hit(self, code: int, cpu: float) -> str | None:
        group, before = self._worker.group, self._before.group
        after = None if group is None else group.read()
        if before and after and after.killed_for_memory > before.killed_for_memory:
            return "memory"
        allowed = self._worker.spec["limits"]["cpu_time"]
        if code == -signal.SIGXCPU or (code == -signal.SIGKILL and cpu >= allowed):
            return "cpu_time"
        if code == -signal.SIGXFSZ:
            return "file_size"
        if before and after and after.refused_processes > before.refused_processes:
            return "processes"
        return None

    def _peak(self, largest_process: int) -> int:
        group, before = self._worker.group, self._before.group
        together = None if group is None or before is None else group.peak_above(before)
        return largest_process if together is None else together

    def close(self) -> None:
        """Give up the work folder; what is in it is gone."""
        held = () if self.prepared is None else (self.prepared.keeper, *self.prepared.spaces)
        for descriptor in (self.handle, self._told, self.work, *held):
            os.close(descriptor)
        if self._place is not None:
            folder.remove(self._place)


def _wait_until_gone(keeper: int) -> None:
    # The first process of a namespace is gone only after all others in it are.
    poller = select.poll()
    poller.register(keeper, select.POLLIN)
    if not poller.poll(_SETTLE * 1000):
        raise JailError("processes of a child did not end when they were killed")


def end_descendants() -> None:
    """Kill everything that descends from this process, until there is nothing left to reap."""
    deadline = time.monotonic() + _SETTLE
    while True:
        for process in _descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        if time.monotonic() > deadline:
            raise JailError("processes of a child did not end when they were killed")
        time.sleep(0.001)


def _descendants(ancestor: int) -> list[int]:
    """Those in the care of other threads are adopted, and found, once their parent is dead."""
    if not os.path.exists(f"/proc/{ancestor}/task/{ancestor}/children"):
        return _descendants_among_all(ancestor)
    found, new = [], [ancestor]
    while new:
        new = [process for parent in new for process in _children(parent)]
        found += new
    return found


def _children(parent: int) -> list[int]:
    try:
        with open(f"/proc/{parent}/task/{parent}/children") as file:
            return [int(process) for process in file.read().split()]
    except OSError:
        return []  # it has just ended


def _descendants_among_all(ancestor: int) -> list[int]:
    """The same for kernels that do not list the children of a process."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                # The name of a program may hold anything, so the fields are counted after it.
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    found, new = [], list(children.get(ancestor, ()))
    while new:
        found += new
        new = [process for parent in new for process in children.get(parent, ())]
    return found
