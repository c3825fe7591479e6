"""Memory of a process that forks for every proof: unshares it, and makes a fork copy less."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator

_MAP_SHARED, _MAP_FIXED, _MAP_ANONYMOUS = 0x01, 0x10, 0x20
_COLLAPSE = 25  # of madvise; a kernel that does not know it refuses, and nothing is lost
_LARGE = 2 << 20
# Where more than one part in so many is not in use, memory stays as it is.
_SPARSE = 4
Range = tuple[int, int]


def find_shared() -> list[Range]:
    """Return the memory that all forks of this process would share, as (start, end)."""
    ranges = []
    with open("/proc/self/maps") as file:
        for line in file:
            place, rights, _, device, _, *name = line.split(maxsplit=5)
            # Read-only mappings of files on disk are system files, such as locales.
            if rights.endswith("s") and ("w" in rights or not _is_of_disk("".join(name), device)):
                ranges.append(_range_of(place))
    return ranges


def _range_of(place: str) -> Range:
    start, _, end = place.partition("-")
    return int(start, 16), int(end, 16)


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


def make_large_pages() -> int:
    """Put private memory into large pages where possible; return how many bytes are in them.

    A fork copies an entry per page, and its end frees each of them: of a process that has imported
    a large target, tens of thousands. A fork that writes to a large page copies a small one still.
    """
    advise, made = ctypes.CDLL(None).madvise, 0
    for start, end in _find_full():
        for place in range(-(-start // _LARGE) * _LARGE, end - _LARGE + 1, _LARGE):
            if advise(ctypes.c_void_p(place), ctypes.c_size_t(_LARGE), _COLLAPSE) == 0:
                made += _LARGE
    return made


def _find_full() -> Iterator[Range]:
    """Yield private writable memory that is in use; what is not would be filled with zeros."""
    found: Range | None = None
    with open("/proc/self/smaps") as file:
        for line in file:
            name, value, *_ = line.split()
            if not name.endswith(":"):
                found = _range_of(name) if value == "rw-p" else None
            elif name == "Rss:" and found is not None:
                start, end = found
                if int(value) * 1024 * _SPARSE >= (end - start) * (_SPARSE - 1):
                    yield start, end
