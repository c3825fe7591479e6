"""Files without a name: unlinked or never linked, they take room as long as a process has them."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from . import processes

_EXITING = 0x4  # among the flags of a task: it is ending and runs no code of its own any more


class Unnamed(NamedTuple):
    """What they take, and whether a process has hidden some: that cannot be seen for long."""

    bytes: int
    is_hidden: bool


def measure(ancestor: int, folders: tuple[str, ...], least_when_mapped: int) -> Unnamed:
    """Return what the descendants of a process have of files that were once in these folders.

    Nobody but root can say how large a file is that is mapped and not open: what is mapped of it
    counts, and not less than `least_when_mapped`.
    """
    devices = {os.stat(folder).st_dev for folder in folders}
    open_files: dict[tuple[int, int], int] = {}
    mapped: dict[int, int] = {}
    is_hidden = False
    for process in processes.descendants(ancestor, of_all_threads=True):
        thread = _readable_thread(process)
        if thread is None:
            is_hidden = is_hidden or _is_alive(process)
            continue
        for found, descriptor in _open_files(thread):
            if stat.S_ISSOCK(found.st_mode):
                is_hidden = is_hidden or _has_files_in_flight(f"{thread}/fdinfo/{descriptor}")
            elif stat.S_ISREG(found.st_mode) and not found.st_nlink and found.st_dev in devices:
                open_files[found.st_dev, found.st_ino] = found.st_blocks * 512
        for inode, end in _mapped_files(f"{thread}/maps", folders):
            mapped[inode] = max(end, mapped.get(inode, least_when_mapped))
    also_open = {inode for _, inode in open_files}
    only_mapped = sum(size for inode, size in mapped.items() if inode not in also_open)
    return Unnamed(sum(open_files.values()) + only_mapped, is_hidden)


def _readable_thread(process: int) -> str | None:
    """Return the folder of a thread that lives; all share their files, by the filter of calls."""
    for name in _names(f"/proc/{process}/task"):
        thread = f"/proc/{process}/task/{name}"
        if _names(f"{thread}/fd"):
            return thread
    # One without any open file is all right if it can be looked at.
    own = f"/proc/{process}"
    return own if os.access(f"{own}/fd", os.R_OK) else None


def _open_files(thread: str) -> Iterator[tuple[os.stat_result, str]]:
    for name in _names(f"{thread}/fd"):
        with contextlib.suppress(OSError):  # closed meanwhile
            yield os.stat(f"{thread}/fd/{name}"), name


def _has_files_in_flight(path: str) -> bool:
    """Return whether open files wait in a socket to be received."""
    return any(line.startswith("scm_fds:") and line.split()[1] != "0" for line in _lines(path))


def _mapped_files(path: str, folders: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    starts = tuple(f"{folder}/" for folder in folders)
    for line in _lines(path):
        if not line.endswith(" (deleted)"):
            continue
        area, _, offset, _, inode, name = line.split(None, 5)
        if name.startswith(starts):
            first, last = (int(address, 16) for address in area.split("-"))
            yield int(inode), int(offset, 16) + last - first


def _is_alive(process: int) -> bool:
    """Return whether a thread of it goes on.

    One that is ending cannot be looked at either, for as long as it takes to give its memory back.
    """
    return any(
        _goes_on(f"/proc/{process}/task/{thread}/stat")
        for thread in _names(f"/proc/{process}/task")
    )


def _goes_on(path: str) -> bool:
    # The name of a program may hold anything, so the fields are counted after it.
    fields = "\n".join(_lines(path)).rpartition(")")[2].split()
    return bool(fields) and fields[0] not in ("Z", "X") and not int(fields[6]) & _EXITING


def _names(folder: str) -> Iterable[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return ()


def _lines(path: str) -> list[str]:
    try:
        with open(path, errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []
