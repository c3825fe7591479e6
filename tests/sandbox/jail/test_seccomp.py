"""The filter of system calls: the numbers, the families, and what the page about them says."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path
from typing import Any

import pytest

from assay.sandbox.jail import kernel, seccomp

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
              name in seccomp.NUMBERS[machine]}  # fmt: skip
    assert len(header) > 250
    ours = seccomp.NUMBERS[machine]
    newer = set(header) - set(ours)  # a header may be newer than the table, never older by name
    assert all(header[name] > max(ours.values()) or header[name] in (335, 336) for name in newer)
    assert {name: ours[name] for name in header if name in ours} == {
        name: number for name, number in header.items() if name in ours
    }


def test_every_call_of_either_machine_belongs_to_one_family() -> None:
    named = [name for family in seccomp.FAMILIES.values() for name in family.calls.split()]
    assert len(named) == len(set(named))
    assert set(named) == {name for numbers in seccomp.NUMBERS.values() for name in numbers}


def test_the_page_says_of_every_family_what_the_filter_does() -> None:
    rows = re.findall(
        r"^\| ([^|]+) \| (\w+) \| (\w+) \| (\w+) \| [^|]+ \|$", SECURITY.read_text(), re.MULTILINE
    )
    written = {name: tuple(decisions) for name, *decisions in rows}
    assert written == {name: tuple(family[:3]) for name, family in seccomp.FAMILIES.items()}


ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
LEVELS: list[dict[str, Any]] = [
    {"sockets": seccomp.SOCKETS_PRIVATE, "private": True, "counted": True},
    {"sockets": seccomp.SOCKETS_NONE, "private": False, "counted": True},
    {"sockets": seccomp.SOCKETS_NONE, "private": False, "counted": True, "shared_user": True},
]


def _answer(program: bytes, architecture: int, number: int, *arguments: int) -> str:
    """Run a filter as the kernel does: "ALLOW", "KILL" or the name of an error."""
    values = (*arguments, *([0] * (6 - len(arguments))))
    data = struct.pack("=iIQ6Q", number, architecture, 0, *values)
    code = list(struct.iter_unpack("=HBBI", program))
    place = loaded = 0
    while True:
        operation, when_true, when_false, value = code[place]
        place += 1
        if operation == 0x06:
            if value >> 16 == 5:
                return errno.errorcode[value & 0xFFFF]
            return {0x7FFF0000: "ALLOW", 0x80000000: "KILL"}[value]
        if operation == 0x20:
            (loaded,) = struct.unpack_from("=I", data, value)
        elif operation == 0x54:
            loaded &= value
        elif operation == 0x05:
            place += value
        else:
            holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}
            place += when_true if holds[operation] else when_false


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("level", [0, 1, 2], ids=["namespaces", "landlock", "same user"])
def test_the_filter_answers_every_call_as_its_family_says(
    monkeypatch: pytest.MonkeyPatch, machine: str, level: int
) -> None:
    monkeypatch.setattr(kernel, "MACHINE", machine)
    program, numbers = seccomp.program(**LEVELS[level]), seccomp.NUMBERS[machine]
    wanted = {"no": "EPERM", "absent": "ENOSYS", "yes": "ALLOW", "counted": "ALLOW"}
    examined = {"socket", "socketpair", "bind", "ioctl", "prctl"}
    for family in seccomp.FAMILIES.values():
        for name in set(family.calls.split()) & numbers.keys() - examined:
            if family[level] in wanted:
                found = _answer(program, ARCHITECTURE[machine], numbers[name])
                assert found == wanted[family[level]], name
    unknown = set(range(600)) - set(numbers.values())
    for number in (*unknown, 0x40000000, 0x40000000 + numbers["read"], 0x7FFFFFFF):
        assert _answer(program, ARCHITECTURE[machine], number) == "ENOSYS"
    assert _answer(program, 0x40000003, numbers["read"]) == "KILL"


THREAD = 0x3D0F00
EXAMINED = [
    ("clone", (17,), "ALLOW", "ALLOW"),
    ("clone", (THREAD,), "ALLOW", "ALLOW"),
    ("clone", (THREAD & ~0x400,), "EPERM", "EPERM"),
    ("clone", (0x10000000,), "EPERM", "EPERM"),
    ("clone", (0x8000 | 17,), "EPERM", "EPERM"),
    ("socketpair", (1, 1 | 0o2000000), "ALLOW", "ALLOW"),
    ("socketpair", (1, 5), "ALLOW", "ALLOW"),
    ("socketpair", (1, 2), "ALLOW", "EPERM"),
    ("socketpair", (30, 1), "EAFNOSUPPORT", "EAFNOSUPPORT"),
    ("bind", (3,), "ALLOW", "EPERM"),
    ("socket", (1, 1), "ALLOW", "EPERM"),
    ("socket", (2, 1), "ALLOW", "EPERM"),
    ("socket", (16, 3, 0), "ALLOW", "EPERM"),
    ("socket", (16, 3, 9), "EPERM", "EPERM"),
    ("socket", (40, 1), "EAFNOSUPPORT", "EPERM"),
    ("prctl", (4, 0), "ALLOW", "EPERM"),
    ("prctl", (4, 1), "ALLOW", "ALLOW"),
    ("prctl", (15, 0), "ALLOW", "ALLOW"),
    ("prlimit64", (0,), "ALLOW", "ALLOW"),
    ("prlimit64", (7,), "ALLOW", "EPERM"),
    ("setpriority", (0, 0), "ALLOW", "ALLOW"),
    ("setpriority", (2, 0), "ALLOW", "EPERM"),
    ("ioprio_set", (1, 0), "ALLOW", "ALLOW"),
    ("ioprio_set", (3, 0), "ALLOW", "EPERM"),
    ("mmap", (0, 0, 0, 0x22), "ALLOW", "ALLOW"),
    ("mmap", (0, 0, 0, 0x40022), "ENOMEM", "ENOMEM"),
    ("ioctl", (0, 0x5401), "ALLOW", "ALLOW"),
    ("ioctl", (0, 0x5412), "EPERM", "EPERM"),
    ("ioctl", (0, 0x40049409), "ALLOW", "ALLOW"),
    ("ioctl", (0, 0x40086602), "ENOTTY", "ENOTTY"),
    ("fcntl", (0, 1030), "ALLOW", "ALLOW"),
    ("fcntl", (0, 1024), "ALLOW", "EPERM"),
    ("close_range", (3, 4, 0), "ALLOW", "ALLOW"),
    ("close_range", (3, 4, 2), "ALLOW", "EPERM"),
]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize(("name", "arguments", "namespaces", "landlock"), EXAMINED)
def test_arguments_decide_where_the_call_alone_does_not(
    monkeypatch: pytest.MonkeyPatch,
    machine: str,
    name: str,
    arguments: tuple[int, ...],
    namespaces: str,
    landlock: str,
) -> None:
    monkeypatch.setattr(kernel, "MACHINE", machine)
    number = seccomp.NUMBERS[machine][name]
    found = [
        _answer(seccomp.program(**level), ARCHITECTURE[machine], number, *arguments)
        for level in LEVELS
    ]
    assert found == [namespaces, landlock, landlock]


def test_without_a_control_group_there_is_no_memory_that_belongs_to_no_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernel, "MACHINE", "x86_64")
    program = seccomp.program(sockets=seccomp.SOCKETS_PRIVATE, private=True)
    for name in ("memfd_create", "shmget", "semget", "msgget"):
        number = seccomp.NUMBERS["x86_64"][name]
        assert _answer(program, ARCHITECTURE["x86_64"], number) == "ENOSYS"
