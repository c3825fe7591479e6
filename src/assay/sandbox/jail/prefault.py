"""Memory pages: copies those a proof will write to in advance, and unshares others.

After a fork every page that is written to has to be copied, and in Python even reading an object
writes to it. One by one that is some thousands of faults per proof; all at once it costs little,
and nothing for a proof whose process was forked in advance.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Iterable

_MAP_SHARED, _MAP_FIXED, _MAP_ANONYMOUS = 0x01, 0x10, 0x20
_POPULATE_WRITE = 23  # of madvise; a kernel that does not know it refuses, and nothing is lost
_PRESENT, _EXCLUSIVE = 1 << 63, 1 << 56
Range = tuple[int, int]


def find_writable() -> list[Range]:
    """Return the private writable memory of this process, as (start, end)."""
    ranges = []
    with open("/proc/self/maps") as file:
        for line in file:
            place, rights = line.split(maxsplit=2)[:2]
            if rights == "rw-p":
                start, _, end = place.partition("-")
                ranges.append((int(start, 16), int(end, 16)))
    return ranges


def find_shared() -> list[Range]:
    """Return the memory that all forks of this process would share, as (start, end)."""
    ranges = []
    with open("/proc/self/maps") as file:
        for line in file:
            place, rights, _, device, _, *name = line.split(maxsplit=5)
            # Read-only mappings of files on disk are system files, such as locales.
            if rights.endswith("s") and ("w" in rights or not _is_of_disk("".join(name), device)):
                start, _, end = place.partition("-")
                ranges.append((int(start, 16), int(end, 16)))
    return ranges


def _is_of_disk(name: str, device: str) -> bool:
    memory = ("/dev/shm", "/dev/zero", "/memfd:", "/SYSV")
    return name.startswith("/") and not name.startswith(memory) and device != "00:01"


def unshare(ranges: list[Range]) -> None:
    """Make these pages private to this process and its children, keeping their content.

    Raises OSError if that cannot be done.
    """
    if not ranges:
        return
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    for start, end in ranges:
        size = end - start
        content = ctypes.string_at(start, size)
        place = library.mmap(
            ctypes.c_void_p(start),
            ctypes.c_size_t(size),
            mmap.PROT_READ | mmap.PROT_WRITE,
            _MAP_SHARED | _MAP_FIXED | _MAP_ANONYMOUS,
            -1,
            ctypes.c_long(0),
        )
        if place != start:
            raise OSError(ctypes.get_errno(), "shared memory could not be separated")
        ctypes.memmove(start, content, size)


def find_written(ranges: list[Range]) -> list[int]:
    """Return the pages of these ranges that a fork no longer shares with its parent."""
    found: list[int] = []
    size = mmap.PAGESIZE
    with open("/proc/self/pagemap", "rb") as file:
        for start, end in ranges:
            file.seek(start // size * 8)
            data = file.read((end - start) // size * 8)
            entries = struct.unpack(f"={len(data) // 8}Q", data)
            found += [
                start + position * size
                for position, entry in enumerate(entries)
                if entry & _PRESENT and entry & _EXCLUSIVE
            ]
    return found


def merge(pages: Iterable[int]) -> list[Range]:
    """Return pages as ranges, those that touch as one."""
    merged: list[Range] = []
    for page in sorted(pages):
        if merged and page == merged[-1][1]:
            merged[-1] = (merged[-1][0], page + mmap.PAGESIZE)
        else:
            merged.append((page, page + mmap.PAGESIZE))
    return merged


def copy(ranges: list[Range]) -> None:
    """Make these pages this process's own, before it needs them."""
    advise = ctypes.CDLL(None).madvise
    for start, end in ranges:
        advise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _POPULATE_WRITE)
