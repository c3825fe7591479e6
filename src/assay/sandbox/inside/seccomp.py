"""The filter a process puts on its own system calls, for good (seccomp)."""

from __future__ import annotations

import ctypes
import struct

from . import kernel, landlock

# Calls that no program under test needs and that have been ways out of sandboxes, or that reach
# beyond one. Each has its number on x86_64 and on aarch64; None where the call does not exist.
_DENIED = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "create_module": (174, None),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lookup_dcookie": (212, 18),
    "migrate_pages": (256, 238),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "name_to_handle_at": (303, 264),
    "nfsservctl": (180, 42),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "uselib": (134, None),
    "vhangup": (153, 58),
}
# What reaches the whole system where there are no namespaces: shared memory, semaphores, queues,
# watching files that cannot be read.
_SYSTEM_WIDE = {
    "inotify_add_watch": (254, 27),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "semget": (64, 190),
    "shmget": (29, 194),
}
# Landlock says nothing about these: they change files of the same user wherever those are.
_FILE_ATTRIBUTES = {
    "chmod": (90, None),
    "chown": (92, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "file_setattr": (469, 469),
    "fremovexattr": (199, 16),
    "fsetxattr": (190, 7),
    "futimesat": (261, None),
    "lchown": (94, None),
    "lremovexattr": (198, 15),
    "lsetxattr": (189, 6),
    "removexattr": (197, 14),
    "removexattrat": (466, 466),
    "setxattr": (188, 5),
    "setxattrat": (463, 463),
    "utime": (132, None),
    "utimensat": (280, 88),
    "utimes": (235, None),
}
# Before its third version Landlock did not cover cutting a file by its path either.
_TRUNCATE_BY_PATH = {"truncate": (76, 45)}
# Calls on a process of the same user; the place of the argument that names it. Zero is oneself.
_ON_A_PROCESS = {
    "ioprio_set": (251, 30, 1),
    "prlimit64": (302, 261, 0),
    "sched_setaffinity": (203, 122, 0),
    "sched_setattr": (314, 274, 0),
    "sched_setparam": (142, 118, 0),
    "sched_setscheduler": (144, 119, 0),
    "setpriority": (141, 140, 1),
}
_EXAMINED = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "kill": (62, 129),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "sendmmsg": (307, 269),
    "sendmsg": (46, 211),
    "sendto": (44, 206),
    "socket": (41, 198),
    "tgkill": (234, 131),
    "tkill": (200, 130),
}
_NUMBERS = {
    **_DENIED,
    **_SYSTEM_WIDE,
    **_FILE_ATTRIBUTES,
    **_TRUNCATE_BY_PATH,
    **_EXAMINED,
    **{name: (first, second) for name, (first, second, _) in _ON_A_PROCESS.items()},
}
# All that a worker needs to send its children into the namespaces that its maker has prepared.
_FOR_NAMESPACES = ("setns",)
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
# Calls newer than this list was written answer "not implemented": nobody has thought about them.
_LAST_KNOWN_CALL = 470

_LOAD, _EQUAL, _ABOVE, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x54, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_ONE_PROCESS = {"setpriority": 0, "ioprio_set": 1}  # not a group, not a user
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_NEW_NAMESPACES = 0x7E020080  # every namespace, time included
_CLONE_PARENT = 0x8000  # a child of the worker, which does not know it and would never reap it
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C  # typing into a terminal on behalf of its owner
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_MSG_FASTOPEN = 0x20000000  # connects without asking Landlock

SOCKETS_PRIVATE = "private"  # in a network namespace of its own: nothing there to reach
SOCKETS_NONE = "none"  # no namespace: no socket at all, only pairs
SOCKETS_PORTS = "ports"  # no namespace: TCP, with Landlock naming the ports
SOCKETS_HOST = "host"  # the network is allowed


def supported() -> bool:
    return kernel.MACHINE in _MACHINES


def program(
    *, sockets: str, private: bool, shared_user: bool = False, namespaces: bool = False
) -> bytes:
    """The filter as the kernel takes it.

    `private`: in namespaces of its own, where the whole system is out of reach. `shared_user`:
    under the user id of whoever started Assay, whose files and processes then need protection.
    `namespaces` leaves `setns` alone, which a worker needs to isolate its children; they get
    `program_for_child` on top. A worker may not mount: code of a target runs in it, which could
    make writable what was bound read-only.
    """
    denied = {name for name in _DENIED if not (namespaces and name in _FOR_NAMESPACES)}
    blocks = [
        ("ioctl", [*_refuse_equal(1, _TIOCSTI), *_refuse_equal(1, _TIOCLINUX)]),
        ("socket", _socket_block(sockets)),
    ]
    if sockets == SOCKETS_PORTS:
        blocks += [(name, _refuse_bits(place, _MSG_FASTOPEN)) for name, place in _SENDERS]
    blocks += _clone_blocks()
    if not private:
        denied |= set(_SYSTEM_WIDE)
        blocks += [
            (name, _process_block(name, place)) for name, (_, _, place) in _ON_A_PROCESS.items()
        ]
    if shared_user:
        denied |= set(_FILE_ATTRIBUTES)
        denied |= (
            set(_TRUNCATE_BY_PATH)
            if landlock.version_of_kernel() < landlock.TRUNCATE_VERSION
            else set()
        )
    return _assemble(denied, blocks)


def program_for_child(*, only_to: int | None = None, never_to: int | None = None) -> bytes:
    """What a child refuses beyond its worker.

    Where Landlock cannot hold back signals: `only_to`, the one process that may get some, or
    `never_to`, the one that may get none.
    """
    blocks: list[tuple[str, list[bytes]]] = []
    if only_to is not None:
        blocks = _signals_only_to(only_to)
    elif never_to is not None:
        blocks = _signals_never_to(never_to)
    return _assemble(set(_FOR_NAMESPACES), blocks)


def _assemble(denied: set[str], blocks: list[tuple[str, list[bytes]]]) -> bytes:
    if not supported():
        raise OSError(f"no list of system calls for {kernel.MACHINE}")
    column, architecture = _MACHINES[kernel.MACHINE]
    numbers = {name: pair[column] for name, pair in _NUMBERS.items()}
    code = [_op(_LOAD, 4), _op(_EQUAL, architecture, 1, 0), _op(_RETURN, _KILL), _op(_LOAD, 0)]
    code += [_op(_ABOVE, _LAST_KNOWN_CALL, 0, 1), _op(_RETURN, _ERROR | _ENOSYS)]
    for name in sorted(denied):
        number = numbers[name]
        if number is not None:
            code += [_op(_EQUAL, number, 0, 1), _op(_RETURN, _ERROR | _EPERM)]
    for name, block in blocks:
        body = [*block, _op(_RETURN, _ALLOW)]
        code += [_op(_EQUAL, numbers[name] or 0, 0, len(body)), *body]
    return b"".join([*code, _op(_RETURN, _ALLOW)])


def _clone_blocks() -> list[tuple[str, list[bytes]]]:
    # The flags of clone3 are in memory, where a filter cannot look; the C library then uses clone.
    not_there = [_op(_RETURN, _ERROR | _ENOSYS)]
    return [("clone3", not_there), ("clone", _refuse_bits(0, _NEW_NAMESPACES | _CLONE_PARENT))]


_SENDERS = (("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3))


def _op(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, when_true, when_false, value)


def _argument(place: int) -> bytes:
    return _op(_LOAD, 16 + 8 * place)


def _refuse_equal(place: int, value: int) -> list[bytes]:
    return [_argument(place), _op(_EQUAL, value, 0, 1), _op(_RETURN, _ERROR | _EPERM)]


def _refuse_bits(place: int, bits: int) -> list[bytes]:
    return [_argument(place), _op(_ANY_BIT, bits, 0, 1), _op(_RETURN, _ERROR | _EPERM)]


def _refuse_unless(place: int, values: tuple[int, ...], error: int, mask: int = 0) -> list[bytes]:
    tests = [_op(_EQUAL, value, len(values) - position, 0) for position, value in enumerate(values)]
    masked = [_op(_AND, mask)] if mask else []
    return [_argument(place), *masked, *tests, _op(_RETURN, _ERROR | error)]


def _process_block(name: str, place: int) -> list[bytes]:
    which = [] if place == 0 else _refuse_unless(0, (_ONE_PROCESS[name],), _EPERM)
    return [*which, *_refuse_unless(place, (0,), _EPERM)]


def _socket_block(sockets: str) -> list[bytes]:
    route_only_netlink = [
        _argument(0),
        _op(_EQUAL, _NETLINK, 0, 3),
        *_refuse_unless(2, (0,), _EPERM),
    ]
    if sockets == SOCKETS_NONE:
        return [_op(_RETURN, _ERROR | _EPERM)]
    if sockets == SOCKETS_PORTS:
        stream, tcp = 1, 6
        return [
            *_refuse_unless(0, (_INET, _INET6), _EPERM),
            *_refuse_unless(1, (stream,), _EPERM, mask=0xF),
            *_refuse_unless(2, (0, tcp), _EPERM),
        ]
    private = (_UNIX,) if sockets == SOCKETS_PRIVATE else ()
    families = (*private, _INET, _INET6, _NETLINK)
    return [*_refuse_unless(0, families, _EAFNOSUPPORT), *route_only_netlink]


def _signals_only_to(process: int) -> list[tuple[str, list[bytes]]]:
    refuse = [_op(_RETURN, _ERROR | _EPERM)]
    return [
        ("fcntl", _refuse_signals_by_detour()),
        ("kill", _refuse_unless(0, (0, process), _EPERM)),
        ("tgkill", _refuse_unless(0, (process,), _EPERM)),
        ("rt_sigqueueinfo", _refuse_unless(0, (process,), _EPERM)),
        ("rt_tgsigqueueinfo", _refuse_unless(0, (process,), _EPERM)),
        ("tkill", refuse),
        ("pidfd_send_signal", refuse),
    ]


def _signals_never_to(process: int) -> list[tuple[str, list[bytes]]]:
    everybody, its_group = 0xFFFFFFFF, (1 << 32) - process
    direct = ("kill", "tgkill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open")
    refused = (process, its_group, everybody)
    block = [op for value in refused for op in _refuse_equal(0, value)]
    return [("fcntl", _refuse_signals_by_detour()), *((name, block) for name in direct)]


def _refuse_signals_by_detour() -> list[bytes]:
    set_owner, set_owner_too = 8, 15  # of a descriptor, who then gets signals from it
    return [*_refuse_equal(1, set_owner), *_refuse_equal(1, set_owner_too)]


def install(program: bytes) -> None:
    """Put the filter on this process and all it starts; needs no-new-privileges first."""
    instructions = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(instructions))
    kernel.call("seccomp", 1, 0, ctypes.c_char_p(header))
