"""One isolated process as its worker sees it: starting, watching and ending it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import stat
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from . import cgroups, confine, landlock, processes, root, seccomp, trees
from .kernel import JailError

# Beside the processes of a program its user namespace has a maker, a worker and two keepers.
_OWN_PROCESSES = 4
_LOOK_AT_FOLDER_EVERY = 0.1
_SETTLE = 10.0
_REAP_EVERY = 0.5
_LONG = 3600.0 * 24
# How many checks in a row may find files that are not visible, for example in transit.
_MOST_BLIND_LOOKS = 5
_MAPPED_FILES = 16


class ChildEnding(NamedTuple):
    """How a child ended. `status` is negative for a signal; `limit` names the limit it hit."""

    status: int
    limit: str | None
    wall_time: float
    cpu_time: float
    peak_memory: int


class ReadyNamespaces(NamedTuple):
    """Namespaces prepared for a child, as descriptors.

    The keeper's process, the work folder, the namespaces (pid first), and the file rules if any.
    """

    keeper: int
    work: int
    spaces: tuple[int, ...]
    ruleset: tuple[int, ...]


class StartCounters(NamedTuple):
    """The counters at the start of a child."""

    time: float
    group: cgroups.GroupCounters | None


class ConfinedWorker:
    """The state that a process in the jail needs to fork isolated children, one at a time."""

    def __init__(
        self,
        spec: dict[str, Any],
        group: cgroups.ControlGroup | None,
        scratch: str,
        *,
        own_user: bool = False,
    ) -> None:
        self.spec = spec
        self.own_user = own_user
        self.group = group
        self.scratch = scratch
        self.level = spec["level"]
        # Whether signals of this process can only reach its descendants.
        self.is_scoped = (
            self.level == "landlock"
            and landlock.version_of_kernel() >= landlock.SCOPED_SIGNALS_VERSION
        )
        self._count = 0
        self.seccomp = seccomp.program_for_child() if seccomp.is_supported() else b""
        # In a user namespace the limit counts what is inside, elsewhere all that the user runs.
        inside = self.level == "namespaces"
        self.other_processes = _OWN_PROCESSES if inside else processes.count_own()
        base: str = spec.get("base", "")
        is_counted = base and (spec["work"] == "base" or not inside)
        self.base_size = (
            trees.measure(root.BASE if inside else base) if is_counted else trees.Size(0, 0)
        )
        self.limits = confine.limits_of(self)

    def fork(
        self, keep: tuple[int, ...], standard: tuple[int, int, int] | None
    ) -> JailChild | None:
        place, work = self._make_place()
        report_read, report_write = os.pipe2(os.O_CLOEXEC)
        before = self.begin()
        with self.expendable_children():
            process = os.fork()
        if process == 0:
            confine.isolate(self, report_write, keep, standard, place)
            return None
        os.close(report_write)
        return JailChild(
            self, process, report_read, work, before, place=place, watched=place.writable
        )

    def spawn(
        self,
        command: list[str],
        environment: dict[str, str],
        standard: tuple[int, int, int],
        put: Callable[[int], None],
    ) -> JailChild | None:
        """Start a program without forking this process, which would be the most expensive step.

        Works only where a child need not restrict itself first: without isolation. Returns None if
        it is not possible, or not for this command. `put` fills the work folder.
        """
        if self.level != "none":
            return None
        place, work = self._make_place()
        own = {"HOME": place.work, "TMPDIR": place.temporary}
        try:
            put(work)
            before = self.begin()
            os.chdir(place.work)
            with self.expendable_children():
                process = processes.spawn(command, {**own, **environment}, standard, self.limits)
        except (OSError, ValueError):
            os.close(work)
            self.remove_place(place)
            return None
        finally:
            os.chdir("/")
        return JailChild(self, process, None, work, before, place=place, watched=place.writable)

    def _make_place(self) -> tuple[confine.ChildFolders, int]:
        """Make the folders of a child; return them and a descriptor of the work folder."""
        try:
            place = self._make_folders()
            return place, os.open(place.work, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise JailError(f"no work folder could be made: {error}") from None

    def remove_place(
        self, place: confine.ChildFolders, on_entry: Callable[[], None] = lambda: None
    ) -> None:
        # What the filters forbid to open here is removed by the supervisor, at the end.
        with contextlib.suppress(OSError):
            trees.remove(os.path.dirname(place.temporary), on_entry)

    def _make_folders(self) -> confine.ChildFolders:
        self._count += 1
        own = os.path.join(self.scratch, str(self._count))
        for path in (own, f"{own}/tmp"):
            os.mkdir(path, 0o700)
        mode, base = self.spec.get("work"), self.spec.get("base", "")
        if mode == "base":
            return confine.ChildFolders(base, f"{own}/tmp", (own, base))
        is_kept = mode == "kept"
        work = f"{self.scratch}/kept" if is_kept else f"{own}/work"
        if not os.path.isdir(work):
            os.mkdir(work, 0o700)
            if base:
                trees.copy_tree(base, work)
        return confine.ChildFolders(work, f"{own}/tmp", (own, work) if is_kept else (own,))

    def begin(self) -> StartCounters:
        """Read the clock and the counters before a child starts to move them."""
        reading = None if self.group is None else self.group.begin()
        return StartCounters(time.monotonic(), reading)

    def expendable_children(self) -> contextlib.AbstractContextManager[None]:
        """Have the kernel end children first when memory is used up, never the worker."""
        return contextlib.nullcontext() if self.group is None else self.group.expendable_children()

    def open_socket(self, child: JailChild) -> socket.socket:
        """Return a TCP socket in the child's network, which here is the machine's."""
        return socket.socket(socket.AF_INET, socket.SOCK_STREAM)


class JailChild:
    """A running child, as its worker sees it."""

    def __init__(
        self,
        worker: ConfinedWorker,
        process: int,
        report_read: int | None,
        work: int,
        before: StartCounters,
        *,
        prepared: ReadyNamespaces | None = None,
        place: confine.ChildFolders | None = None,
        watched: tuple[str, ...] = (),
    ) -> None:
        self.process = process
        self.handle = os.pidfd_open(process)  # readable as soon as the child has ended
        self.work = work  # the work folder; stays usable until `close`
        self.prepared = prepared
        self.keeper = None if prepared is None else prepared.keeper
        self._worker, self._report_read, self._place = worker, report_read, place
        self._before = before
        # Only a tmpfs enforces its size; other folders are measured from time to time.
        self._watched = watched
        self.pause = _LOOK_AT_FOLDER_EVERY if watched else _LONG
        self._blind_looks = 0

    def wait(self, timeout: float = _LONG) -> ChildEnding:
        """Wait for the child, at most the given seconds; then end everything it has started."""
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

    def folder_is_full(self, *, has_ended: bool = False) -> bool:
        """Return whether the files of the child exceed the limit, those without a name too."""
        if not self._watched:
            return False
        base = self._worker.base_size
        allowed: int = self._worker.spec["limits"]["work_size"]
        most = trees.Size(allowed + base.bytes, root.FILES_PER_FOLDER + base.entries)
        sizes = [trees.measure(folder, most) for folder in self._watched]
        together = trees.Size(*map(sum, zip(*sizes, strict=True)))
        if together.bytes > most.bytes or together.entries > most.entries:
            return True
        # With the last process they are gone. In namespaces others look after most files.
        if has_ended or self.prepared is not None:
            return False
        more = processes.measure_unnamed(os.getpid(), self._watched, allowed // _MAPPED_FILES)
        self._blind_looks = self._blind_looks + 1 if more.is_hidden else 0
        is_hiding = self._blind_looks >= _MOST_BLIND_LOOKS and self._worker.level != "none"
        return is_hiding or together.bytes + more.bytes > most.bytes

    def connect(self, port: int) -> socket.socket:
        """Return a socket that is connecting to a port of the child; the caller waits for it."""
        connection = self._worker.open_socket(self)
        connection.setblocking(False)
        connection.connect_ex((b"127.0.0.1", port))
        return connection

    def end(self, limit: str | None = None) -> ChildEnding:
        """End the child and everything it has started, and return how it ended."""
        wall = time.monotonic() - self._before.time
        with contextlib.suppress(ProcessLookupError):
            first = self.handle if self.prepared is None else self.prepared.keeper
            signal.pidfd_send_signal(first, signal.SIGKILL)
        _, status, usage = os.wait4(self.process, 0)
        if self.prepared is None:
            processes.end_descendants(is_scoped=self._worker.is_scoped)
        else:
            _wait_until_gone(self.prepared.keeper)
        self._check_isolated()
        self._reopen_folder()
        # Checked last: while a program runs, its folder grows faster than it can be measured.
        full = (
            self.folder_is_full(has_ended=True)
            if self._watched
            else os.fstatvfs(self.work).f_bavail == 0
        )
        code = os.waitstatus_to_exitcode(status)
        cpu = usage.ru_utime + usage.ru_stime
        group, before = self._worker.group, self._before.group
        after = None if group is None else group.read()
        limit = limit or self._limit_hit(code, cpu, after) or ("work_size" if full else None)
        ending = ChildEnding(code, limit, wall, cpu, self._peak(usage.ru_maxrss * 1024))
        if group and before and after:
            group.allow_more(before, after)
        return ending

    def _check_isolated(self) -> None:
        if self._report_read is None:
            return
        report_read = os.read(self._report_read, 4096)
        if report_read != b"+":
            reason = report_read.decode("utf-8", "replace") or "it ended before it was isolated"
            self.close()
            raise JailError(f"a child could not be isolated: {reason}")

    def _reopen_folder(self) -> None:
        """Restore the owner's access to a work folder, so that it can be read or reused."""
        mode = stat.S_IMODE(os.fstat(self.work).st_mode)
        if mode & 0o700 != 0o700:
            with contextlib.suppress(OSError):
                os.fchmod(self.work, mode | 0o700)

    def _limit_hit(self, code: int, cpu: float, after: cgroups.GroupCounters | None) -> str | None:
        before = self._before.group
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

    def close(self, on_entry: Callable[[], None] = lambda: None) -> None:
        """Release the work folder and delete its files."""
        held = () if self.prepared is None else (self.prepared.keeper, *self.prepared.spaces)
        report_read = () if self._report_read is None else (self._report_read,)
        for descriptor in (self.handle, self.work, *report_read, *held):
            os.close(descriptor)
        if self._place is not None:
            self._worker.remove_place(self._place, on_entry)


def _wait_until_gone(keeper: int) -> None:
    # The first process of a namespace is gone only after all others in it are, and have been
    # reaped: also those that made themselves children of this process, where no filter forbids it.
    poller = select.poll()
    poller.register(keeper, select.POLLIN)
    deadline = time.monotonic() + _SETTLE
    while not poller.poll(_REAP_EVERY * 1000):
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if time.monotonic() > deadline:
            raise JailError("processes of a child did not end when they were killed")
