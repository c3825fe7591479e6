"""Memory that is in use is put into large pages; what a fork writes is still its own."""

from __future__ import annotations

import ctypes
import json
import mmap
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.sandbox.jail import memory

SMALL = mmap.PAGESIZE
LARGE = 2 << 20
PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
SHARED = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS


def in_a_fork(work: Callable[[], object]) -> Any:
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.write(write, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        answer = json.loads(file.read())
    os.waitpid(process, 0)
    return answer


def map_memory(size: int, flags: int) -> tuple[mmap.mmap, int]:
    mapped = mmap.mmap(-1, size, flags=flags)
    return mapped, ctypes.addressof(ctypes.c_char.from_buffer(mapped))


def kilobytes(start: int, name: str) -> int:
    """What the kernel says of the part of memory around an address."""
    is_there = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first, value, *_ = line.split()
        if not first.endswith(":"):
            begin, _, end = first.partition("-")
            is_there = int(begin, 16) <= start < int(end, 16)
        elif is_there and first == f"{name}:":
            return int(value)
    raise AssertionError(f"{start:x} is nowhere")


def test_memory_in_use_goes_into_large_pages_with_its_content() -> None:
    size = 16 * LARGE

    def work() -> tuple[int, int, bool]:
        mapped, start = map_memory(size, PRIVATE)
        content = b"".join(
            number.to_bytes(4, "big") * (SMALL // 4) for number in range(size // SMALL)
        )
        mapped.write(content)
        made = memory.make_large_pages()
        return made, kilobytes(start, "AnonHugePages"), mapped[:] == content

    made, large, is_same = in_a_fork(work)
    assert is_same
    if not made:
        pytest.skip("this kernel makes no large pages when it is asked to")
    # The ends need not begin and end where large pages do.
    assert large * 1024 >= size - 2 * LARGE


def test_memory_that_is_hardly_used_stays_small() -> None:
    size = 64 * LARGE  # so much that what the kernel joins it with does not matter

    def work() -> int:
        mapped, start = map_memory(size, PRIVATE)
        for place in range(0, size, LARGE):
            mapped[place] = 1
        before = kilobytes(start, "Rss")
        memory.make_large_pages()
        return kilobytes(start, "Rss") - before

    assert in_a_fork(work) * 1024 < LARGE


def test_what_a_fork_writes_to_a_large_page_is_its_own() -> None:
    mapped, _ = map_memory(4 * LARGE, PRIVATE)
    mapped.write(b"x" * 4 * LARGE)
    memory.make_large_pages()

    def work() -> str:
        mapped[LARGE] = ord("y")
        return mapped[LARGE - 1 : LARGE + 2].decode()

    assert in_a_fork(work) == "xyx"
    assert mapped[:] == b"x" * 4 * LARGE


def test_shared_memory_is_found_and_unshared() -> None:
    mapped, start = map_memory(2 * SMALL, SHARED)
    mapped[0] = 7
    found = [one for one in memory.find_shared() if one[0] <= start < one[1]]
    assert len(found) == 1

    def work() -> int:
        memory.unshare(found)
        mapped[1] = 8
        return mapped[0]

    assert in_a_fork(work) == 7
    assert mapped[1] == 0
