"""Processes without a pid namespace: counting them, and ending all descendants of one."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import stat
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .kernel import JailError

_SETTLE = 10.0


def spawn(
    command: list[str],
    environment: dict[str, str],
    standard: tuple[int, int, int],
    limits: list[tuple[int, tuple[int, int]]],
) -> int:
    """Start a program in this process's folder, as the leader of a group, and within these limits.

    Raises OSError or ValueError if it cannot be started.
    """
    actions = [(os.POSIX_SPAWN_DUP2, number, place) for place, number in enumerate(standard)]
    before = [(name, resource.getrlimit(name)) for name, _ in limits]
    try:
        for (name, (soft, _)), (_, (_, highest)) in zip(limits, before, strict=True):
            # Started with the lower limits, a program cannot outrun them. CPU time is left out:
            # this process may have used more than a program is allowed to.
            if name != resource.RLIMIT_CPU:
                resource.setrlimit(name, (soft, highest))
        process = _spawn_found(command, environment, actions)
    finally:
        for name, values in before:
            resource.setrlimit(name, values)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        for name, values in limits:
            resource.prlimit(process, name, values)
    return process


def _spawn_found(
    command: list[str], environment: dict[str, str], actions: list[tuple[int, int, int]]
) -> int:
    """Look the program up in the PATH of its own environment, as `os.execvpe` does."""
    name = command[0]
    error: OSError = FileNotFoundError(name)
    folders = [""] if os.path.dirname(name) else os.get_exec_path(environment)
    for folder in folders:
        try:
            return os.posix_spawn(
                os.path.join(folder, name),
                command,
                environment,
                file_actions=actions,
                setpgroup=0,
                setsigdef=[signal.SIGPIPE],
            )
        except (FileNotFoundError, NotADirectoryError) as missing:
            error = missing
    raise error


def count_own() -> int:
    """Count the processes and threads of this user, wherever they run."""
    user, total = os.getuid(), 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == user:
                    total += len(os.listdir(f"/proc/{name}/task"))
    return total


def end_descendants(*, is_scoped: bool = False) -> None:
    """Kill everything that descends from this process, until there is nothing left to reap.

    Processes that live for one fork only are gone before they can be killed one by one. Where
    Landlock lets signals reach only descendants (`is_scoped`), all of them are killed at once.
    """
    deadline = time.monotonic() + _SETTLE
    while True:
        if is_scoped and not _can_signal(os.getppid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(-1, signal.SIGKILL)
        for process in descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        if time.monotonic() > deadline:
            raise JailError("processes did not end when they were killed")
        time.sleep(0.001)


def _can_signal(process: int) -> bool:
    try:
        os.kill(process, 0)
    except PermissionError:
        return False
    except ProcessLookupError:
        return True  # nobody there to try it with
    return True


def descendants(ancestor: int, *, of_all_threads: bool = False) -> list[int]:
    """Return all that descend from a process.

    Those in the care of other threads than the first are adopted, and found, once their parent is
    dead; to look for them costs more.
    """
    if not os.path.exists(f"/proc/{ancestor}/task/{ancestor}/children"):
        return _descendants_among_all(ancestor)
    found, new = [], [ancestor]
    while new:
        new = [
            process
            for parent in new
            for process in list_children(parent, of_all_threads=of_all_threads)
        ]
        found += new
    return found


def list_children(process: int, *, of_all_threads: bool = True) -> list[int]:
    """Return the children of a process; each of its threads can start some."""
    threads = _list_names(f"/proc/{process}/task") if of_all_threads else (str(process),)
    lines = (line for one in threads for line in read_lines(f"/proc/{process}/task/{one}/children"))
    return [int(child) for line in lines for child in line.split()]


def _descendants_among_all(ancestor: int) -> list[int]:
    """Return the same on kernels that do not list the children of a process."""
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


_EXITING = 0x4  # among the flags of a task: it is ending and runs no code of its own any more


class UnnamedFiles(NamedTuple):
    """The space they take, and whether a process hides some, which can only be seen briefly."""

    bytes: int
    is_hidden: bool


def measure_unnamed(
    ancestor: int, folders: tuple[str, ...], least_when_mapped: int
) -> UnnamedFiles:
    """Return the space of deleted files from these folders that descendants still hold open.

    Only root can tell the size of a file that is mapped but not open: its mapped part counts, and
    at least `least_when_mapped`.
    """
    devices = {os.stat(folder).st_dev for folder in folders}
    open_files: dict[tuple[int, int], int] = {}
    mapped: dict[int, int] = {}
    is_hidden = False
    for process in descendants(ancestor, of_all_threads=True):
        thread = _readable_thread(process)
        if thread is None:
            is_hidden = is_hidden or is_alive(process)
            continue
        for found, descriptor in _list_open(thread):
            if stat.S_ISSOCK(found.st_mode):
                is_hidden = is_hidden or _has_files_in_flight(f"{thread}/fdinfo/{descriptor}")
            elif stat.S_ISREG(found.st_mode) and not found.st_nlink and found.st_dev in devices:
                open_files[found.st_dev, found.st_ino] = found.st_blocks * 512
        for inode, end in _list_mapped(f"{thread}/maps", folders):
            mapped[inode] = max(end, mapped.get(inode, least_when_mapped))
    also_open = {inode for _, inode in open_files}
    only_mapped = sum(size for inode, size in mapped.items() if inode not in also_open)
    return UnnamedFiles(sum(open_files.values()) + only_mapped, is_hidden)


def _readable_thread(process: int) -> str | None:
    """Return the folder of a live thread; the seccomp filter ensures that all share their files."""
    for name in _list_names(f"/proc/{process}/task"):
        thread = f"/proc/{process}/task/{name}"
        if _list_names(f"{thread}/fd"):
            return thread
    # A thread without open files is fine if it can be inspected.
    own = f"/proc/{process}"
    return own if os.access(f"{own}/fd", os.R_OK) else None


def _list_open(thread: str) -> Iterator[tuple[os.stat_result, str]]:
    for name in _list_names(f"{thread}/fd"):
        with contextlib.suppress(OSError):  # closed meanwhile
            yield os.stat(f"{thread}/fd/{name}"), name


def _has_files_in_flight(path: str) -> bool:
    """Return whether open files wait in a socket to be received."""
    return any(line.startswith("scm_fds:") and line.split()[1] != "0" for line in read_lines(path))


def _list_mapped(path: str, folders: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    starts = tuple(f"{folder}/" for folder in folders)
    for line in read_lines(path):
        if not line.endswith(" (deleted)"):
            continue
        area, _, offset, _, inode, name = line.split(None, 5)
        if name.startswith(starts):
            first, last = (int(address, 16) for address in area.split("-"))
            yield int(inode), int(offset, 16) + last - first


def is_alive(process: int) -> bool:
    """Return whether one of its threads is still running.

    A process that is ending cannot be inspected either, until its memory is released.
    """
    return any(
        _goes_on(f"/proc/{process}/task/{thread}/stat")
        for thread in _list_names(f"/proc/{process}/task")
    )


def _goes_on(path: str) -> bool:
    # The name of a program may hold anything, so the fields are counted after it.
    fields = "\n".join(read_lines(path)).rpartition(")")[2].split()
    return bool(fields) and fields[0] not in ("Z", "X") and not int(fields[6]) & _EXITING


def _list_names(folder: str) -> Iterable[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return ()


def read_lines(path: str) -> list[str]:
    """Return the lines of a kernel file; none if its process has just ended."""
    try:
        with open(path, errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []
