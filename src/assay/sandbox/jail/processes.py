"""Processes without a namespace of their own: counting them, ending all that descend from one."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time

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
            # Born with the lower limits, a program cannot outrun them. CPU time is left out: this
            # process may have used more than a program is allowed to.
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


def count_of_user() -> int:
    """Processes and threads of this user, wherever they run."""
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
            for thread in (_threads(parent) if of_all_threads else (parent,))
            for process in _children(parent, thread)
        ]
        found += new
    return found


def _threads(process: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{process}/task")]
    except OSError:
        return []


def _children(parent: int, thread: int) -> list[int]:
    try:
        with open(f"/proc/{parent}/task/{thread}/children") as file:
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
