"""The filter of system calls: the numbers, the families, and what the page about them says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.sandbox.inside import calls, seccomp

HEADERS = {
    "x86_64": (
        "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
        "/usr/include/asm/unistd_64.h",
        "/usr/x86_64-linux-gnu/include/asm/unistd_64.h",
    ),
    "aarch64": ("/usr/include/asm-generic/unistd.h",),
}
SECURITY = Path(__file__).parents[3] / "docs" / "security.md"
# Names under which the headers of 64-bit machines list calls of 32-bit ones, or none at all.
NOT_CALLS = {"arch_specific_syscall", "syscalls", "sync_file_range2"}


def _numbers_of(header: str) -> dict[str, int]:
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\b", header)
    return {
        {"fstatat": "newfstatat"}.get(name, name): int(number)
        for name, number in found
        if name not in NOT_CALLS and not name.endswith(("time64", "settime64", "gettime64"))
    }


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_numbers_of_calls_are_those_of_the_kernels_headers(machine: str) -> None:
    paths = [path for path in map(Path, HEADERS[machine]) if path.exists()]
    if not paths:
        pytest.skip(f"the headers of the kernel for {machine} are not installed")
    header = _numbers_of(paths[0].read_text())
    header = {name: number for name, number in header.items() if not name.endswith("64") or
              name in calls.NUMBERS[machine]}  # fmt: skip
    assert len(header) > 250
    ours = calls.NUMBERS[machine]
    newer = set(header) - set(ours)  # a header may be newer than the table, never older by name
    assert all(header[name] > max(ours.values()) or header[name] in (335, 336) for name in newer)
    assert {name: ours[name] for name in header if name in ours} == {
        name: number for name, number in header.items() if name in ours
    }


def test_every_call_of_either_machine_belongs_to_one_family() -> None:
    named = [name for family in seccomp.FAMILIES.values() for name in family.calls.split()]
    assert len(named) == len(set(named))
    assert set(named) == {name for numbers in calls.NUMBERS.values() for name in numbers}


def test_the_page_says_of_every_family_what_the_filter_does() -> None:
    rows = re.findall(
        r"^\| ([^|]+) \| (\w+) \| (\w+) \| (\w+) \| [^|]+ \|$", SECURITY.read_text(), re.MULTILINE
    )
    written = {name: tuple(decisions) for name, *decisions in rows}
    assert written == {name: tuple(family[:3]) for name, family in seccomp.FAMILIES.items()}
