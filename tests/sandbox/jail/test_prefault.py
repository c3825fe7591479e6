"""The pages a fork writes to can be told from those it still shares, and copied beforehand."""

from __future__ import annotations

import json
import mmap
import os
import resource
from collections.abc import Callable
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from assay.sandbox.jail import prefault

SIZE = mmap.PAGESIZE


def in_a_fork(work: Callable[[], object]) -> object:
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


def private_memory(count: int) -> tuple[mmap.mmap, int]:
    import ctypes

    memory = mmap.mmap(-1, count * SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.write(b"x" * count * SIZE)
    return memory, ctypes.addressof(ctypes.c_char.from_buffer(memory))


def test_only_what_the_fork_wrote_is_found() -> None:
    memory, start = private_memory(10)

    def work() -> list[int]:
        for page in (2, 3, 7):
            memory[page * SIZE] = 1
        return prefault.find_written([(start, start + 10 * SIZE)])

    assert in_a_fork(work) == [start + page * SIZE for page in (2, 3, 7)]


def test_what_was_copied_costs_no_fault_when_it_is_written() -> None:
    memory, start = private_memory(400)

    def faults(copy: bool) -> int:
        if copy:
            prefault.copy([(start, start + 400 * SIZE)])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for page in range(400):
            memory[page * SIZE] = 1
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    copied, not_copied = in_a_fork(lambda: faults(True)), in_a_fork(lambda: faults(False))
    assert isinstance(copied, int)
    assert isinstance(not_copied, int)
    assert not_copied >= 400
    assert copied < 100


def test_writable_memory_holds_the_heap() -> None:
    _, start = private_memory(1)
    assert any(begin <= start < end for begin, end in prefault.find_writable())


@given(st.sets(st.integers(0, 60)))
def test_ranges_hold_exactly_the_pages_they_were_made_of(numbers: set[int]) -> None:
    ranges = prefault.merge(number * SIZE for number in numbers)
    held = {page // SIZE for start, end in ranges for page in range(start, end, SIZE)}
    assert held == numbers
    assert all(first[1] < second[0] for first, second in pairwise(ranges))
