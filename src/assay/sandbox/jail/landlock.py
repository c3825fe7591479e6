"""The Landlock filter, which restricts a process's access to files, ports and other processes."""

from __future__ import annotations

import ctypes
import os
import stat
import struct

from . import kernel

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
_FOR_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_BIND_TCP, _CONNECT_TCP = 1, 2
_PATH_RULE, _PORT_RULE = 1, 2

READ = _EXECUTE | _READ_FILE | _READ_DIR
LOOK = _READ_FILE | _READ_DIR
WRITE = (1 << 16) - 1
SCOPED_SIGNALS_VERSION = 6
TCP_RULES_VERSION = 4
TRUNCATE_VERSION = 3


def version_of_kernel() -> int:
    """Return the version of Landlock this kernel offers; 0 where there is none."""
    try:
        return kernel.call("landlock_create_ruleset", ctypes.c_char_p(None), 0, 1)
    except OSError:
        return 0


def ruleset_of(
    rules: list[tuple[str, int]],
    *,
    ports: tuple[int, ...] = (),
    limit_tcp: bool = False,
    may_connect: bool = False,
) -> int:
    """Return a descriptor of rules: what may be done beneath which path, and nothing else."""
    version = version_of_kernel()
    handled = _rights_of(version)
    tcp = _BIND_TCP | _CONNECT_TCP if limit_tcp and version >= TCP_RULES_VERSION else 0
    if ports and not tcp:
        raise OSError("serving without a private network needs Landlock version 4 (Linux 6.7)")
    scoped = 3 if version >= SCOPED_SIGNALS_VERSION else 0  # abstract sockets and signals
    size = 24 if version >= SCOPED_SIGNALS_VERSION else 16 if version >= TCP_RULES_VERSION else 8
    wanted = struct.pack("=QQQ", handled, tcp, scoped)[:size]
    ruleset = kernel.call("landlock_create_ruleset", ctypes.c_char_p(wanted), size, 0)
    for path, access in rules:
        _add_path(ruleset, path, access & handled)
    for port in ports if tcp else ():
        rule = struct.pack("=QQ", tcp if may_connect else _BIND_TCP, port)
        kernel.call("landlock_add_rule", ruleset, _PORT_RULE, ctypes.c_char_p(rule), 0)
    return ruleset


def _rights_of(version: int) -> int:
    first_version = (1 << 13) - 1
    later = ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEVICE))
    return first_version | sum(bit for since, bit in later if version >= since)


def _add_path(ruleset: int, path: str, access: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return  # what cannot be reached needs no permission
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            access &= _FOR_FILES
        rule = struct.pack("=Qi", access, descriptor)
        kernel.call("landlock_add_rule", ruleset, _PATH_RULE, ctypes.c_char_p(rule), 0)
    finally:
        os.close(descriptor)


def install(ruleset: int) -> None:
    """Put the rules on this process and all it starts; needs no-new-privileges first."""
    kernel.call("landlock_restrict_self", ruleset, 0)
