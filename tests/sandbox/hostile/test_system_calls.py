"""Calls that reach beyond the sandbox without a path: objects by number, sockets, requests."""

from __future__ import annotations

import ctypes
import os
import platform
import secrets
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.sandbox.jail.seccomp import NUMBERS
from tests.sandbox.hostile.support import ORDINARY_USER, Sandbox

NUMBER = NUMBERS.get(platform.machine(), {})
CREATE_OPEN_TO_ALL = 0o1666
REMOVE = 0


def _call(name: str, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    found: int = libc.syscall(NUMBER[name], *arguments)
    if found == -1:
        raise OSError(ctypes.get_errno(), name)
    return found


def _attempts(*lines: str) -> str:
    return f"number = {NUMBER!r}\n" + "\n".join(lines)


@pytest.fixture
def objects() -> Iterator[dict[str, int]]:
    """System V objects of this machine that everybody may use."""
    key = secrets.randbelow(1 << 30) + 1
    made = {
        "shm": _call("shmget", key, 4096, CREATE_OPEN_TO_ALL),
        "sem": _call("semget", key, 1, CREATE_OPEN_TO_ALL),
        "msg": _call("msgget", key, CREATE_OPEN_TO_ALL),
    }
    yield made
    for kind, identifier in made.items():
        arguments = (REMOVE, None) if kind != "sem" else (0, REMOVE, None)
        _call(f"{kind}ctl", identifier, *arguments)


def test_system_v_objects_of_the_machine_cannot_be_used_by_number(
    sandbox: Sandbox, objects: dict[str, int]
) -> None:
    outcome = sandbox.python(
        _attempts(
            "shm, sem, msg = map(int, sys.argv[1:4])",
            "buffer = ctypes.create_string_buffer(256)",
            "libc.syscall.restype = ctypes.c_long",
            "attempt('shmat', lambda: call(number['shmat'], shm, 0, 0))",
            "attempt('shmctl', lambda: call(number['shmctl'], shm, 2, buffer))",
            "operation = ctypes.create_string_buffer(b'\\0\\0\\1\\0\\0\\0', 6)",
            "attempt('semop', lambda: call(number['semop'], sem, operation, 1))",
            "attempt('semtimedop', lambda: call(number['semtimedop'], sem, operation, 1, 0))",
            "attempt('semctl', lambda: call(number['semctl'], sem, 0, 12, 0))",
            "message = ctypes.create_string_buffer(b'\\1' + bytes(7) + b'x', 16)",
            "attempt('msgsnd', lambda: call(number['msgsnd'], msg, message, 1, 0))",
            "attempt('msgrcv', lambda: call(number['msgrcv'], msg, buffer, 100, 0, 0o4000))",
            "attempt('msgctl', lambda: call(number['msgctl'], msg, 2, buffer))",
        ),
        *(str(identifier) for identifier in objects.values()),
    )
    # In a namespace the numbers are there, but name nothing.
    outcome.refused("EINVAL")
    assert len(outcome.lines) == 8
    value = _call("semctl", objects["sem"], 0, 12, 0)
    assert value == 0


def test_posix_queues_of_the_machine_are_out_of_reach(sandbox: Sandbox) -> None:
    name = f"assay-{secrets.token_hex(8)}".encode()
    # The kernel's own call takes the name without the slash that the library wants.
    opened = _call("mq_open", name, os.O_CREAT | os.O_RDWR, 0o666, None)
    try:
        if sandbox.other_user:
            os.fchown(opened, ORDINARY_USER, ORDINARY_USER)  # else it could not remove it anyway
        outcome = sandbox.python(
            _attempts(
                "name = ctypes.c_char_p(sys.argv[1].encode())",
                "attempt('open', lambda: call(number['mq_open'], name, os.O_RDWR, 0, 0))",
                "attempt('unlink', lambda: call(number['mq_unlink'], name))",
            ),
            name.decode(),
        )
        outcome.refused()
        again = _call("mq_open", name, os.O_RDWR, 0, None)
        os.close(again)
    finally:
        os.close(opened)
        _call("mq_unlink", name)


@pytest.mark.parametrize("network", [False, True])
def test_a_pair_of_datagram_sockets_reaches_no_socket_of_the_machine(
    sandbox: Sandbox, network: bool
) -> None:
    name = f"assay-{secrets.token_hex(8)}"
    with (
        tempfile.TemporaryDirectory() as place,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as by_path,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as by_name,
    ):
        Path(place).chmod(0o755)
        by_path.bind(f"{place}/socket")
        Path(place, "socket").chmod(0o777)
        by_name.bind(f"\0{name}")
        for listener in (by_path, by_name):
            listener.setblocking(False)
        outcome = sandbox.python(
            """
import array, socket
def pair(): return socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0]
rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1]))]
for address in (sys.argv[1], "\\0" + sys.argv[2]):
    attempt("send", lambda: pair().sendto(b"x", address))
    attempt("connect", lambda: pair().connect(address))
    attempt("descriptors", lambda: pair().sendmsg([b"x"], rights, 0, address))
""",
            f"{place}/socket",
            name,
            network=network,
        )
        assert len(outcome.lines) == 6, outcome
        for listener in (by_path, by_name):
            with pytest.raises(BlockingIOError):
                listener.recv(10)
    outcome.refused()


def test_what_nobody_has_decided_about_is_not_there(sandbox: Sandbox) -> None:
    names = ("io_setup", "io_submit", "io_pgetevents", "memfd_secret", "cachestat", "statmount",
             "listmount", "lsm_list_modules", "listns", "remap_file_pages")  # fmt: skip
    outcome = sandbox.python(
        _attempts(f"for name in {names}: attempt(name, lambda: call(number[name], 0, 0, 0, 0, 0))")
    )
    assert {line.split()[-1] for line in outcome.lines} == {"ENOSYS"}, outcome
    assert len(outcome.lines) == len(names)


def test_calls_on_the_whole_machine_and_on_other_processes_are_refused(sandbox: Sandbox) -> None:
    names = ("sync", "syncfs", "process_mrelease", "pidfd_getfd", "process_vm_readv", "add_key",
             "request_key", "keyctl", "fanotify_mark", "quotactl_fd", "open_tree_attr",
             "migrate_pages")  # fmt: skip
    outcome = sandbox.python(
        _attempts(f"for name in {names}: attempt(name, lambda: call(number[name], 0, 0, 0, 0, 0))")
    )
    assert {line.split()[-1] for line in outcome.lines} == {"EPERM"}, outcome
    assert len(outcome.lines) == len(names)


def test_requests_do_not_change_files_that_are_open_for_reading(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
import fcntl, struct
file = os.open(sys.argv[1] + "/module.py", os.O_RDONLY)
folder = os.open(sys.argv[1], os.O_RDONLY)
no_dump = struct.pack("l", 0x40)
attempt("flags", lambda: fcntl.ioctl(file, 0x40086602, no_dump))
attempt("flags of the folder", lambda: fcntl.ioctl(folder, 0x40086602, no_dump))
attempt("attributes", lambda: fcntl.ioctl(file, 0x401C5820, bytes(28)))
attempt("version", lambda: fcntl.ioctl(file, 0x40087602, bytes(8)))
attempt("verity", lambda: fcntl.ioctl(file, 0x40806685, bytes(128)))
attempt("subvolume", lambda: fcntl.ioctl(folder, 0x5000940E, bytearray(4096)))
""",
        str(sandbox.target),
    )
    assert {line.split()[-1] for line in outcome.lines} == {"ENOTTY"}, outcome
    assert len(outcome.lines) == 6


def test_large_pages_of_the_machine_are_not_to_be_had(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import mmap
large = 0x40000 | mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
attempt("map", lambda: mmap.mmap(-1, 2 << 20, flags=large))
attempt("file", lambda: os.memfd_create("large", os.MFD_HUGETLB))
""")
    codes = [line.split()[-1] for line in outcome.lines]
    assert codes[0] == "ENOMEM", outcome
    assert codes[1] in ("ENOMEM", "ENOSYS"), outcome


def test_extended_attributes_hold_nothing_that_nobody_counts(sandbox: Sandbox) -> None:
    if sandbox.level == "namespaces":
        pytest.skip("files are in a file system of their own, whose size holds for attributes too")
    outcome = sandbox.python("""
open("file", "w").close()
attempt("set", lambda: os.setxattr("file", "user.large", bytes(3000)))
""")
    outcome.refused()
