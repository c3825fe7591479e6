"""Linux system calls that Python does not offer; each raises OSError with its own name."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import platform
import socket
import struct

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MNT_DETACH = 2

NEW_MOUNT, NEW_UTS, NEW_IPC = 0x00020000, 0x04000000, 0x08000000
NEW_USER, NEW_PID, NEW_NET = 0x10000000, 0x20000000, 0x40000000

CAP_NET_ADMIN, CAP_SYS_CHROOT, CAP_SYS_ADMIN = 12, 18, 21
_CAP_SETPCAP = 8

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 1, 4, 24
_PR_SET_KEEPCAPS, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 8, 36, 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4

MACHINE = platform.machine()
# Numbers of the calls that the C library has no name for; the later ones are the same everywhere.
_OWN_NUMBERS = {
    "x86_64": {"pivot_root": 155, "seccomp": 317},
    "aarch64": {"pivot_root": 41, "seccomp": 277},
}
_NUMBERS = {
    "close_range": 436,
    "mount_setattr": 442,
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
    **_OWN_NUMBERS.get(MACHINE, {}),
}


class JailError(Exception):
    """The jail could not be built or left; nothing was run in it, or it is gone now."""


_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _check(name: str, result: int) -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def call(name: str, *arguments: object) -> int:
    """Call the kernel by the name of the call; integers are passed as 64 bits."""
    if name not in _NUMBERS:
        raise OSError(errno.ENOSYS, f"{name}: not known on {MACHINE}")
    wide = [ctypes.c_long(item) if isinstance(item, int) else item for item in arguments]
    return _check(name, int(_libc.syscall(ctypes.c_long(_NUMBERS[name]), *wide)))


def unshare(flags: int) -> None:
    _check("unshare", _libc.unshare(ctypes.c_int(flags)))


def setns(descriptor: int, flags: int) -> None:
    _check("setns", _libc.setns(ctypes.c_int(descriptor), ctypes.c_int(flags)))


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None) -> None:
    """Mount; the message names the target, because one start mounts many things."""
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    data = None if options is None else options.encode()
    result = _libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), data)
    _check(f"mount of {source} on {target}", result)


def unmount(target: str, flags: int = MNT_DETACH) -> None:
    _check(f"umount of {target}", _libc.umount2(os.fsencode(target), ctypes.c_int(flags)))


def pivot_root(new: str, old: str) -> None:
    call("pivot_root", ctypes.c_char_p(os.fsencode(new)), ctypes.c_char_p(os.fsencode(old)))


def restrict_mount(target: str, attributes: int) -> None:
    """Add read-only and the like to a mount and all that is mounted beneath it."""
    recursive, here = 0x8000, -100
    wanted = struct.pack("=QQQQ", attributes, 0, 0, 0)
    path = ctypes.c_char_p(os.fsencode(target))
    call("mount_setattr", here, path, recursive, ctypes.c_char_p(wanted), len(wanted))


def prctl(name: str, option: int, value: int = 0, third: int = 0) -> None:
    zero = ctypes.c_ulong(0)
    second, fourth = ctypes.c_ulong(value), ctypes.c_ulong(third)
    _check(name, _libc.prctl(ctypes.c_int(option), second, fourth, zero, zero))


def die_with_parent(signal_number: int) -> None:
    prctl("PR_SET_PDEATHSIG", _PR_SET_PDEATHSIG, signal_number)


def hide_memory() -> None:
    """Prevent processes without capabilities from tracing this one or reading its memory."""
    prctl("PR_SET_DUMPABLE", _PR_SET_DUMPABLE, 0)


def show_memory() -> None:
    """Let a process look at itself through /proc again, after its identity has changed."""
    prctl("PR_SET_DUMPABLE", _PR_SET_DUMPABLE, 1)


def adopt_orphans() -> None:
    prctl("PR_SET_CHILD_SUBREAPER", _PR_SET_CHILD_SUBREAPER, 1)


def no_new_privileges() -> None:
    prctl("PR_SET_NO_NEW_PRIVS", _PR_SET_NO_NEW_PRIVS, 1)


def keep_capabilities_over_setuid() -> None:
    prctl("PR_SET_KEEPCAPS", _PR_SET_KEEPCAPS, 1)


def limit_capabilities(kept: tuple[int, ...] = ()) -> None:
    """Keep only these capabilities, here and in everything started from here."""
    prctl("PR_CAP_AMBIENT", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    # Without CAP_SETPCAP the bounding set stays as it is; no-new-privileges makes it moot.
    with contextlib.suppress(PermissionError):
        _set_capabilities((*kept, _CAP_SETPCAP))
        _drop_from_bounding_set(kept)
    _set_capabilities(kept)


def drop_capabilities() -> None:
    """Drop all capabilities. Fast, for a child whose worker has limited the available ones."""
    _set_capabilities(())


def _drop_from_bounding_set(kept: tuple[int, ...]) -> None:
    for number in range(64):
        try:
            if number not in kept:
                prctl("PR_CAPBSET_DROP", _PR_CAPBSET_DROP, number)
        except OSError as error:
            if error.errno == errno.EINVAL:
                return  # past the last capability this kernel knows
            raise


def _set_capabilities(wanted: tuple[int, ...]) -> None:
    bits = sum(1 << number for number in set(wanted))
    low, high = bits & 0xFFFFFFFF, bits >> 32
    header = struct.pack("=Ii", 0x20080522, 0)
    sets = struct.pack("=IIIIII", low, low, 0, high, high, 0)
    _check("capset", _libc.capset(header, sets))


def close_descriptors_from(first: int, but: tuple[int, ...] = ()) -> None:
    """Close every descriptor from this one up, except those named."""
    for kept in sorted(but):
        if kept > first:
            _close_range(first, kept - 1)
        first = max(first, kept + 1)
    _close_range(first, 0x7FFFFFFF)


def _close_range(first: int, last: int) -> None:
    try:
        call("close_range", first, last, 0)
    except OSError:
        os.closerange(first, min(last, 65535) + 1)


def raise_loopback() -> None:
    """Bring up the loopback interface of a new network namespace."""
    get_flags, set_flags, up_and_running = 0x8913, 0x8914, 0x41
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = fcntl.ioctl(handle, get_flags, struct.pack("16sH14x", b"lo", 0))
        flags = struct.unpack("16sH14x", request)[1] | up_and_running
        fcntl.ioctl(handle, set_flags, struct.pack("16sH14x", b"lo", flags))
