"""Which pages of memory a proof writes to, learned from a sample, to copy them before it runs.

After a fork every page that is written to has to be copied, and in Python looking at an object is
writing to it. One by one that is some thousands of faults per proof; all at once it costs little,
and nothing at all to a proof whose process was forked before it was asked for.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Iterable

_POPULATE_WRITE = 23  # of madvise; a kernel that does not know it refuses, and nothing is lost
_PRESENT, _EXCLUSIVE = 1 << 63, 1 << 56
Range = tuple[int, int]


def writable() -> list[Range]:
    """The private writable memory of this process, as (start, end)."""
    ranges = []
    with open("/proc/self/maps") as file:
        for line in file:
            place, rights = line.split(maxsplit=2)[:2]
            if rights == "rw-p":
                start, _, end = place.partition("-")
                ranges.append((int(start, 16), int(end, 16)))
    return ranges


def written(ranges: list[Range]) -> list[int]:
    """The pages of these ranges that are no longer shared with the process that was forked."""
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
    """Pages as ranges, those that touch as one."""
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
