"""One isolated process as its worker sees it: how it is started, watched and ended."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from . import cgroups, confine, processes, root, seccomp, trees, views
from .kernel import JailError

# Beside the processes of a program its user namespace has a maker, a worker and two keepers.
_OWN_PROCESSES = 4
_LOOK_AT_FOLDER_EVERY = 0.1
_SETTLE = 10.0
_LONG = 3600.0 * 24


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

    def __init__(
        self,
        spec: dict[str, Any],
        group: cgroups.Group | None,
        scratch: str,
        *,
        own_user: bool = False,
    ) -> None:
        self.spec = spec
        self.own_user = own_user
        self.group = group
        self.scratch = scratch
        self.level = spec["level"]
        self._count = 0
        self.seccomp = seccomp.program_for_child() if seccomp.supported() else b""
        # In a user namespace the limit counts what is inside, elsewhere all that the user runs.
        inside = self.level == "namespaces"
        self.other_processes = _OWN_PROCESSES if inside else processes.count_of_user()
        base: str = spec.get("base", "")
        is_counted = base and (spec["work"] == "base" or not inside)
        self.base_size = trees.size_of(root.BASE if inside else base) if is_counted else 0
        self.limits = confine.limits_of(self)

    def fork(self, keep: tuple[int, ...], standard: tuple[int, int, int] | None) -> Child | None:
        place, work = self._make_place()
        told, tell = os.pipe2(os.O_CLOEXEC)
        before = self.begin()
        process = os.fork()
        if process == 0:
            confine.isolate(self, tell, keep, standard, place)
            return None
        os.close(tell)
        return Child(self, process, told, work, before, place=place, watched=place.writable)

    def spawn(
        self,
        command: list[str],
        environment: dict[str, str],
        standard: tuple[int, int, int],
        put: Callable[[int], None],
    ) -> Child | None:
        """Start a program without a copy of this process, which would cost more than all the rest.

        Only where a child has nothing to do to itself before the program: without isolation. None
        if it cannot be done, or not for this command. `put` fills the work folder.
        """
        if self.level != "none":
            return None
        place, work = self._make_place()
        own = {"HOME": place.work, "TMPDIR": place.temporary}
        try:
            put(work)
            before = self.begin()
            os.chdir(place.work)
            process = processes.spawn(command, {**own, **environment}, standard, self.limits)
        except (OSError, ValueError):
            os.close(work)
            self.remove_place(place)
            return None
        finally:
            os.chdir("/")
        if self.group is not None:
            with contextlib.suppress(OSError):  # it may have ended, or be another user's by now
                confine.be_the_first_to_be_killed(process)
        return Child(self, process, None, work, before, place=place, watched=place.writable)

    def _make_place(self) -> tuple[confine.Place, int]:
        """The folders of a child, and a descriptor of the one that it works in."""
        try:
            place = self._make_folders()
            return place, os.open(place.work, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise JailError(f"no work folder could be made: {error}") from None

    def remove_place(self, place: confine.Place) -> None:
        # What the filters forbid to open here is removed by the supervisor, at the end.
        with contextlib.suppress(OSError):
            trees.remove(os.path.dirname(place.temporary))

    def _make_folders(self) -> confine.Place:
        self._count += 1
        own = os.path.join(self.scratch, str(self._count))
        for path in (own, f"{own}/tmp"):
            os.mkdir(path, 0o700)
        mode, base = self.spec.get("work"), self.spec.get("base", "")
        if mode == "base":
            return confine.Place(base, f"{own}/tmp", (own, base))
        is_kept = mode == "kept"
        work = f"{self.scratch}/kept" if is_kept else f"{own}/work"
        if not os.path.isdir(work):
            os.mkdir(work, 0o700)
            if base:
                views.copy(base, work)
        return confine.Place(work, f"{own}/tmp", (own, work) if is_kept else (own,))

    def begin(self) -> Before:
        """Read the clock and the counters before a child starts to move them."""
        reading = None if self.group is None else self.group.begin()
        return Before(time.monotonic(), reading)

    def open_socket(self, child: Child) -> socket.socket:
        """A TCP socket in the child's network, which here is the machine's."""
        return socket.socket(socket.AF_INET, socket.SOCK_STREAM)


class Child:
    """A running child, as its worker sees it."""

    def __init__(
        self,
        worker: Worker,
        process: int,
        told: int | None,
        work: int,
        before: Before,
        *,
        prepared: Prepared | None = None,
        place: confine.Place | None = None,
        watched: tuple[str, ...] = (),
    ) -> None:
        self.process = process
        self.handle = os.pidfd_open(process)  # readable as soon as the child has ended
        self.work = work  # the work folder; stays usable until `close`
        self.prepared = prepared
        self.keeper = None if prepared is None else prepared.keeper
        self._worker, self._told, self._place = worker, told, place
        self._before = before
        # Only a tmpfs refuses to grow by itself; other folders are looked at now and then.
        self._watched = watched
        self.pause = _LOOK_AT_FOLDER_EVERY if watched else _LONG

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
        if not self._watched:
            return False
        allowed: int = self._worker.spec["limits"]["work_size"] + self._worker.base_size
        return sum(map(trees.size_of, self._watched)) > allowed

    def connect(self, port: int) -> socket.socket:
        """A socket on its way to a port of the child; whoever gets it waits for the rest."""
        connection = self._worker.open_socket(self)
        connection.setblocking(False)
        connection.connect_ex((b"127.0.0.1", port))
        return connection

    def end(self, limit: str | None = None) -> Ending:
        """End the child and everything it has started, and say how it went."""
        wall = time.monotonic() - self._before.time
        full = self.folder_is_full() if self._watched else os.fstatvfs(self.work).f_bavail == 0
        with contextlib.suppress(ProcessLookupError):
            first = self.handle if self.prepared is None else self.prepared.keeper
            signal.pidfd_send_signal(first, signal.SIGKILL)
        _, status, usage = os.wait4(self.process, 0)
        if self.prepared is None:
            processes.end_descendants()
        else:
            _wait_until_gone(self.prepared.keeper)
        self._check_isolated()
        code = os.waitstatus_to_exitcode(status)
        cpu = usage.ru_utime + usage.ru_stime
        limit = limit or self._limit_hit(code, cpu) or ("work_size" if full else None)
        return Ending(code, limit, wall, cpu, self._peak(usage.ru_maxrss * 1024))

    def _check_isolated(self) -> None:
        if self._told is None:
            return
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
        told = () if self._told is None else (self._told,)
        for descriptor in (self.handle, self.work, *told, *held):
            os.close(descriptor)
        if self._place is not None:
            self._worker.remove_place(self._place)


def _wait_until_gone(keeper: int) -> None:
    # The first process of a namespace is gone only after all others in it are.
    poller = select.poll()
    poller.register(keeper, select.POLLIN)
    if not poller.poll(_SETTLE * 1000):
        raise JailError("processes of a child did not end when they were killed")
