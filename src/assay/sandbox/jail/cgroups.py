"""A control group for the programs of one worker, where this machine allows one."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from collections.abc import Iterator
from typing import NamedTuple


class GroupCounters(NamedTuple):
    """The counters of a group at one moment."""

    usage: int
    killed_for_memory: int
    refused_processes: int


# The exit status of a supervisor whose worker the kernel killed for lack of memory.
KILLED_FOR_MEMORY = 99
_CHILD, _WORKER, _DONE = b"child", b"worker", b"done"
_FIRST_TO_BE_KILLED = b"1000"
# The limit is set again when the worker's memory use has changed by this much.
_CLOSE_ENOUGH = 64
_ROOM_TO_WORK = 4


class ControlGroup:
    """Limits the memory and the number of processes of a worker and its child together.

    The worker is in the group, so that its children start in it: moving a process into a group
    takes the kernel some ten milliseconds. The worker can read the counters, from files that are
    opened here because the folders are not visible in the jail. It cannot set the limit, because
    code of a target runs in it: its supervisor outside does, at the worker's request.
    """

    def __init__(self, folders: list[str], memory: int, work_size: int) -> None:
        self.folders = folders
        self._memory, self._work_size = memory, work_size
        self._joins = [_open(folder, "cgroup.procs", os.O_WRONLY) for folder in folders]
        self._limit = _open_first(folders, ("memory.limit_in_bytes", "memory.max"), os.O_RDWR)
        self._usage = _open_first(folders, ("memory.usage_in_bytes", "memory.current"))
        self._oom = _open_first(folders, ("memory.oom_control", "memory.events"))
        # Written only to reset the peak, which in version 2 applies to this one descriptor.
        self._peak = _open_first(folders, ("memory.max_usage_in_bytes", "memory.peak"), os.O_RDWR)
        self._refused = _open_first(folders, ("pids.events",))
        # Numbers, not objects, which a forked process would close when it forgets them.
        outside, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        outside.setblocking(False)
        self.requests, self._asking = outside.detach(), inside.detach()
        self._score, self._own_score = -1, b""
        self._limit_is_above: int | None = None

    def description(self) -> str:
        version = 2 if os.path.exists(f"{self.folders[0]}/memory.max") else 1
        return f"version {version}: memory{'' if self._refused is None else ', processes'}"

    def join(self) -> None:
        """Put the calling process, and all it will start, into the group.

        From then on it has nothing open that moves a process or a limit.
        """
        for descriptor in self._joins:
            os.write(descriptor, b"0")
        limit = () if self._limit is None else (self._limit,)
        for descriptor in (*self._joins, *limit, self.requests):
            os.close(descriptor)
        self._score = os.open("/proc/self/oom_score_adj", os.O_RDWR | os.O_CLOEXEC)
        self._own_score = os.pread(self._score, 16, 0).strip()

    @contextlib.contextmanager
    def expendable_children(self) -> Iterator[None]:
        """Have those who are forked meanwhile killed first when memory is used up."""
        os.pwrite(self._score, _FIRST_TO_BE_KILLED, 0)
        try:
            yield
        finally:
            os.pwrite(self._score, self._own_score, 0)

    def begin(self) -> GroupCounters:
        """Allow a child its memory on top of what its worker has in use now."""
        reading = self.read()
        above = self._limit_is_above
        if above is None or abs(reading.usage - above) > self._memory // _CLOSE_ENOUGH:
            self._ask(_CHILD)
            self._limit_is_above = reading.usage
        if self._peak is not None:
            # A peak that cannot be reset stays the highest of the worker's life.
            with contextlib.suppress(OSError):
                os.pwrite(self._peak, b"0", 0)
        return reading

    def allow_more(self, before: GroupCounters, after: GroupCounters) -> None:
        """Let the worker bring files back, however much memory the program's files still hold."""
        if after.usage - before.usage > self._memory // _ROOM_TO_WORK:
            self._ask(_WORKER)
            self._limit_is_above = None

    def _ask(self, request: bytes) -> None:
        os.write(self._asking, request)
        os.read(self._asking, len(_DONE))

    def serve(self) -> None:
        """Set the limit as the worker requests it; called in the supervisor.

        Code of a target may send requests too. However often it does, its own memory counts only up
        to a bound, and more is not allowed.
        """
        with contextlib.suppress(OSError):
            request = os.read(self.requests, 16)
            held = 0 if self._usage is None else int(_text(self._usage))
            most = self._memory + self._work_size + (self._memory if request == _WORKER else 0)
            if self._limit is not None:
                os.pwrite(self._limit, str(min(held, most) + self._memory).encode(), 0)
        with contextlib.suppress(OSError):
            os.write(self.requests, _DONE)

    def read(self) -> GroupCounters:
        usage = 0 if self._usage is None else int(_text(self._usage))
        return GroupCounters(usage, _counter(self._oom, "oom_kill"), _counter(self._refused, "max"))

    def has_lost(self, status: int) -> bool:
        """Return whether a worker that ended like this was killed because memory was used up.

        Programs are killed first. But kernel memory of a program (page tables, for example) may be
        freed too late, and then only the worker is left to kill.
        """
        is_killed = status in (-signal.SIGKILL, 128 + signal.SIGKILL)
        return is_killed and _counter(self._oom, "oom_kill") > 0

    def peak_above(self, before: GroupCounters) -> int | None:
        return None if self._peak is None else max(0, int(_text(self._peak)) - before.usage)

    def remove(self) -> None:
        """Remove the group; processes that were just killed may need a moment to leave it."""
        for folder in self.folders:
            for _ in range(100):
                try:
                    os.rmdir(folder)
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.01)
                else:
                    break


def make(memory: int, processes: int, work_size: int) -> ControlGroup | None:
    """Make a group with these bounds; None where that cannot be done, found out by trying."""
    name = f"assay-{os.getpid()}-{time.monotonic_ns():x}"
    values = {
        "memory.max": memory,
        "memory.swap.max": 0,
        "memory.limit_in_bytes": memory,
        "memory.swappiness": 0,
        "pids.max": processes + 1,  # the worker itself
    }
    for parents in _places():
        _sweep(parents)
        folders = [f"{parent}/{name}" for parent in parents]
        group = _try(folders, values, memory, work_size)
        if group is not None:
            return group
    return None


def _sweep(parents: list[str]) -> None:
    """Remove groups whose supervisor was killed; one that is in use cannot be removed."""
    for parent in parents:
        with contextlib.suppress(OSError):
            for name in os.listdir(parent):
                owner = name.split("-")[1] if name.startswith("assay-") else ""
                if owner.isdigit() and not os.path.exists(f"/proc/{owner}"):
                    with contextlib.suppress(OSError):
                        os.rmdir(f"{parent}/{name}")


def _try(
    folders: list[str], values: dict[str, int], memory: int, work_size: int
) -> ControlGroup | None:
    made: list[str] = []
    try:
        for folder in folders:
            os.mkdir(folder)
            made.append(folder)
        _set(folders, values)
        group = ControlGroup(folders, memory, work_size)
        if _can_join(group):
            return group
    except OSError:
        pass
    for folder in made:
        with contextlib.suppress(OSError):
            os.rmdir(folder)
    return None


def _set(folders: list[str], values: dict[str, int]) -> None:
    found = set()
    for folder in folders:
        for name, value in values.items():
            if os.path.exists(f"{folder}/{name}"):
                with open(f"{folder}/{name}", "w") as file:
                    file.write(str(value))
                found.add(name)
    if not found & {"memory.max", "memory.limit_in_bytes"}:
        raise FileNotFoundError("this hierarchy does not control memory")


def _can_join(group: ControlGroup) -> bool:
    process = os.fork()
    if process == 0:
        try:
            group.join()
            os._exit(0)
        except OSError:
            os._exit(1)
    return os.waitpid(process, 0)[1] == 0


def _places() -> Iterator[list[str]]:
    """Folders to try as parents: the unified hierarchy upwards, then the older ones."""
    own = _own_groups()
    if "" in own:
        top, folder = own[""]
        while folder.startswith(top):
            with (
                contextlib.suppress(OSError),
                open(f"{folder}/cgroup.subtree_control", "w") as file,
            ):
                file.write("+memory +pids")
            yield [folder]
            folder = os.path.dirname(folder)
    older = [own[name][1] for name in ("memory", "pids") if name in own]
    if "memory" in own:
        yield older
        yield [own["memory"][1]]


def _own_groups() -> dict[str, tuple[str, str]]:
    """Controller to (mount point, folder of this process); the unified hierarchy is ''."""
    try:
        with open("/proc/self/cgroup") as file:
            memberships = [line.rstrip("\n").split(":", 2) for line in file]
        with open("/proc/self/mountinfo") as file:
            mounts = [_mount(line) for line in file if " - cgroup" in line]
    except OSError:
        return {}
    groups = {}
    for _, controllers, path in memberships:
        for kind, options, root, point in mounts:
            names = controllers.split(",") if kind == "cgroup" and controllers else [""]
            fits = (kind == "cgroup2") == (controllers == "") and set(names) <= {"", *options}
            if fits and path.startswith(root.rstrip("/")):
                folder = (point + path[len(root.rstrip("/")) :]).rstrip("/")
                groups.update(dict.fromkeys(names, (point, folder)))
    return groups


def _mount(line: str) -> tuple[str, list[str], str, str]:
    before, after = line.split(" - ", 1)
    fields = before.split()
    return after.split()[0], after.split()[2].split(","), fields[3], fields[4]


def _open(folder: str, name: str, flags: int = os.O_RDONLY) -> int:
    return os.open(f"{folder}/{name}", flags | os.O_CLOEXEC)


def _open_first(folders: list[str], names: tuple[str, ...], flags: int = os.O_RDONLY) -> int | None:
    for folder in folders:
        for name in names:
            for mode in dict.fromkeys((flags, os.O_RDONLY)):
                with contextlib.suppress(OSError):
                    return _open(folder, name, mode)
    return None


def _text(descriptor: int) -> str:
    return os.pread(descriptor, 4096, 0).decode()


def _counter(descriptor: int | None, name: str) -> int:
    if descriptor is None:
        return 0
    for line in _text(descriptor).splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return 0
