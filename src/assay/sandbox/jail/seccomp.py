"""The seccomp filter, which permanently restricts the system calls of a process.

It is an allowlist: every call that is not listed here is refused.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from . import kernel, landlock

# The answer to a family of calls at a level. EPERM means that a call is deliberately refused;
# ENOSYS (for every call in no family) makes programs do without it.
_YES, _NO, _ABSENT = "yes", "no", "absent"
_COUNTED = "counted"  # only where a control group counts the memory that it takes
_ONESELF = "oneself"  # on the calling process only


class Family(NamedTuple):
    """Calls with the same answers: in namespaces, at landlock, there under the user's own id.

    That last one, because Landlock says nothing about some calls on the user's other files and
    processes.
    """

    namespaces: str
    landlock: str
    same_user: str
    calls: str


# docs/security.md gives the reasons, under the same names.
FAMILIES = {
    "files": Family(_YES, _YES, _YES, """
        open openat openat2 creat close close_range dup dup2 dup3 fcntl flock read write readv
        writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek sendfile copy_file_range
        splice tee vmsplice fallocate ftruncate fadvise64 readahead fsync fdatasync sync_file_range
        ioctl pipe pipe2
    """),
    "names and folders": Family(_YES, _YES, _YES, """
        stat lstat fstat newfstatat statx access faccessat faccessat2 readlink readlinkat getdents
        getdents64 getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2
        link linkat symlink symlinkat mknod mknodat umask statfs fstatfs getxattr lgetxattr
        fgetxattr getxattrat listxattr llistxattr flistxattr listxattrat file_getattr
    """),
    "memory": Family(_YES, _YES, _YES, """
        brk mmap munmap mremap mprotect madvise msync mincore mlock mlock2 mlockall munlock
        munlockall membarrier mseal map_shadow_stack pkey_alloc pkey_free pkey_mprotect mbind
        set_mempolicy get_mempolicy
    """),
    "processes and threads": Family(_YES, _YES, _YES, """
        clone fork vfork execve execveat exit exit_group wait4 waitid getpid getppid gettid setpgid
        getpgid getpgrp setsid getsid prctl arch_prctl set_tid_address set_robust_list
        get_robust_list rseq futex futex_waitv futex_wake futex_wait futex_requeue pidfd_open
        getpriority sched_yield sched_getaffinity sched_getattr sched_getparam sched_getscheduler
        sched_get_priority_max sched_get_priority_min sched_rr_get_interval ioprio_get getrlimit
        getrusage times getcpu restart_syscall
    """),
    "signals": Family(_YES, _YES, _YES, """
        rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend
        sigaltstack pause kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal
        signalfd signalfd4
    """),
    "time": Family(_YES, _YES, _YES, """
        time gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep alarm getitimer
        setitimer timer_create timer_settime timer_gettime timer_getoverrun timer_delete
        timerfd_create timerfd_settime timerfd_gettime
    """),
    "waiting for events": Family(_YES, _YES, _YES, """
        poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait
        epoll_pwait2 eventfd eventfd2 inotify_rm_watch
    """),
    "sockets": Family(_YES, _YES, _YES, """
        socket socketpair connect bind listen accept accept4 shutdown getsockname getpeername
        setsockopt getsockopt sendto sendmsg sendmmsg recvfrom recvmsg recvmmsg
    """),
    "identity": Family(_YES, _YES, _YES, """
        getuid geteuid getgid getegid getresuid getresgid getgroups setuid setgid setreuid setregid
        setresuid setresgid setfsuid setfsgid setgroups capget capset uname sysinfo getrandom
    """),
    "restricting oneself": Family(_YES, _YES, _YES, """
        seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self
    """),
    "limits and priorities": Family(_YES, _ONESELF, _ONESELF, """
        prlimit64 setpriority ioprio_set sched_setaffinity sched_setattr sched_setparam
        sched_setscheduler
    """),
    "own limits": Family(_YES, _YES, _YES, "setrlimit"),
    "memory files": Family(_COUNTED, _COUNTED, _COUNTED, "memfd_create"),
    "System V objects": Family(_COUNTED, _NO, _NO, """
        shmget shmat shmctl shmdt semget semop semtimedop semctl msgget msgsnd msgrcv msgctl
    """),
    "POSIX queues": Family(_YES, _NO, _NO, """
        mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr
    """),
    "watching files": Family(_YES, _NO, _NO, "inotify_init inotify_init1 inotify_add_watch"),
    "mode, owner and times": Family(_YES, _YES, _NO, """
        chmod fchmod fchmodat fchmodat2 chown fchown fchownat lchown utime utimes utimensat
        futimesat
    """),
    "truncating by path": Family(_YES, _YES, _YES, "truncate"),
    "extended attributes": Family(_YES, _NO, _NO, """
        setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr
        removexattrat file_setattr
    """),
    "mounting": Family(_NO, _NO, _NO, """
        mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick move_mount open_tree
        open_tree_attr mount_setattr quotactl quotactl_fd swapon swapoff
    """),
    "namespaces": Family(_NO, _NO, _NO, "unshare setns"),
    "other processes": Family(_NO, _NO, _NO, """
        ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd kcmp
        move_pages migrate_pages
    """),
    "kernel and machine": Family(_NO, _NO, _NO, """
        bpf perf_event_open userfaultfd kexec_load kexec_file_load init_module finit_module
        delete_module create_module reboot syslog acct iopl ioperm modify_ldt personality vhangup
        uselib nfsservctl lookup_dcookie sethostname setdomainname settimeofday clock_settime
        clock_adjtime adjtimex sync syncfs
    """),
    "keys": Family(_NO, _NO, _NO, "add_key request_key keyctl"),
    "files by handle": Family(_NO, _NO, _NO, """
        name_to_handle_at open_by_handle_at fanotify_init fanotify_mark
    """),
    "io_uring": Family(_NO, _NO, _NO, "io_uring_setup io_uring_enter io_uring_register"),
    "asynchronous I/O": Family(_ABSENT, _ABSENT, _ABSENT, """
        io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents
    """),
    "not needed": Family(_ABSENT, _ABSENT, _ABSENT, """
        clone3 memfd_secret cachestat statmount listmount listns lsm_get_self_attr lsm_set_self_attr
        lsm_list_modules set_mempolicy_home_node remap_file_pages set_thread_area get_thread_area
        ustat sysfs _sysctl get_kernel_syms query_module getpmsg putpmsg afs_syscall tuxcall
        security vserver epoll_ctl_old epoll_wait_old
    """),
}  # fmt: skip
# What a worker needs to move its children into the namespaces prepared by its maker.
_FOR_NAMESPACES = ("setns",)
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_LOAD, _AND, _RETURN, _JUMP = 0x20, 0x54, 0x06, 0x05
_EQUAL, _AT_LEAST, _ANY_BIT = 0x15, 0x35, 0x45
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOMEM, _ENOTTY, _ENOSYS, _EAFNOSUPPORT = 1, 12, 25, 38, 97

# The argument that names the process, which has to be zero; before it, what kind of number it is.
_ON_A_PROCESS = {"setpriority": (1, 0), "ioprio_set": (1, 1)}
_NEW_NAMESPACES = 0x7E020080  # every namespace, time included
_CLONE_PARENT = 0x8000  # a child of the worker, which does not know it and would never reap it
_CLONE_THREAD, _CLONE_FILES = 0x10000, 0x400
_MAP_HUGETLB, _MFD_HUGETLB = 0x40000, 4  # from a store of the machine that no group counts
_SET_DUMPABLE, _CLOSE_RANGE_UNSHARE = 4, 2
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_STREAM, _SEQUENCE, _KIND = 1, 5, 0xF
_MSG_FASTOPEN = 0x20000000  # connects without asking Landlock
_SENDERS = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}

# Requests to devices and file systems: those for terminals and sockets, except for typing into a
# terminal on behalf of its owner, and a few that look at a file or copy its content. Others change
# files that are open for reading only (flags, versions, verity, subvolumes), past Landlock.
_REQUESTS_OF = (0x5400, 0x8900)
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_REQUESTS = (
    0x40049409,  # FICLONE
    0x4020940D,  # FICLONERANGE
    0x80086601,  # FS_IOC_GETFLAGS
    0x801C581F,  # FS_IOC_FSGETXATTR
    0xC020660B,  # FS_IOC_FIEMAP
    0x00000002,  # FIGETBSZ
    0x80045200,  # RNDGETENTCNT
)
_SET_LEASE, _NOTIFY = 1024, 1026  # of fcntl: hold up, or watch, who else uses a file

SOCKETS_PRIVATE = "private"  # in a network namespace of its own: nothing there to reach
SOCKETS_NONE = "none"  # no namespace: no socket at all, only pairs
SOCKETS_PORTS = "ports"  # no namespace: TCP, with Landlock naming the ports
SOCKETS_HOST = "host"  # the network is allowed

Code = list[bytes]


def is_supported() -> bool:
    return kernel.MACHINE in _ARCHITECTURES


def program(
    *,
    sockets: str,
    private: bool,
    shared_user: bool = False,
    namespaces: bool = False,
    counted: bool = False,
) -> bytes:
    """Return the filter as the kernel takes it.

    `private`: in namespaces of its own, where the whole system is out of reach. `shared_user`:
    under the user id of whoever started Assay, whose files and processes then need protection.
    `counted`: a control group counts memory. `namespaces` leaves `setns` alone, which a worker
    needs to isolate its children; they get `program_for_child` on top. A worker may not mount:
    code of a target runs in it, which could make writable what was bound read-only.
    """
    answers: dict[str, Code] = {}
    for family in FAMILIES.values():
        decision = family.namespaces
        if not private:
            decision = family.same_user if shared_user else family.landlock
        for name in family.calls.split():
            answers[name] = _decide(name, decision, counted=counted)
    if namespaces:
        answers.update(dict.fromkeys(_FOR_NAMESPACES, _allow()))
    if shared_user and landlock.version_of_kernel() < landlock.TRUNCATE_VERSION:
        answers["truncate"] = _refuse()
    for name, block in _examine(sockets, private=private).items():
        if answers[name] == _allow():
            answers[name] = [*block, *_allow()]
    return _assemble(answers, _refuse(_ENOSYS))


def program_for_child(*, only_to: int | None = None, never_to: int | None = None) -> bytes:
    """Return what a child refuses beyond its worker.

    Where Landlock cannot hold back signals: `only_to`, the one process that may get some, or
    `never_to`, the one that may get none.
    """
    blocks: dict[str, Code] = {}
    if only_to is not None:
        blocks = _signals_only_to(only_to)
    elif never_to is not None:
        blocks = _signals_never_to(never_to)
    answers = {name: [*block, *_allow()] for name, block in blocks.items()}
    answers.update(dict.fromkeys(_FOR_NAMESPACES, _refuse()))
    return _assemble(answers, _allow())


def _decide(name: str, decision: str, *, counted: bool) -> Code:
    if decision == _ONESELF:
        return [*_process_block(name), *_allow()]
    if decision == _YES or (decision == _COUNTED and counted):
        return _allow()
    return _refuse(_EPERM if decision == _NO else _ENOSYS)


def _examine(sockets: str, *, private: bool) -> dict[str, Code]:
    """Return the calls whose arguments decide, with the tests that let them pass."""
    blocks = {
        "clone": _clone_block(),
        "ioctl": _request_block(),
        "memfd_create": _refuse_bits(1, _MFD_HUGETLB, _ENOMEM),
        "mmap": _refuse_bits(3, _MAP_HUGETLB, _ENOMEM),
        "socket": _socket_block(sockets),
        "socketpair": _pair_block(sockets),
    }
    if sockets == SOCKETS_NONE:
        # One socket of a pair could bind a name that a program of the machine needs.
        blocks["bind"] = _refuse()
    if sockets == SOCKETS_PORTS:
        blocks.update({name: _refuse_bits(at, _MSG_FASTOPEN) for name, at in _SENDERS.items()})
    if not private:
        blocks["fcntl"] = [*_refuse_equal(1, _SET_LEASE), *_refuse_equal(1, _NOTIFY)]
        # A process hidden from the worker, or a thread hidden from another, hides the files it
        # holds.
        blocks["close_range"] = _refuse_bits(2, _CLOSE_RANGE_UNSHARE)
        zero = _refuse_equal(1, 0)
        blocks["prctl"] = [_argument(0), _op(_EQUAL, _SET_DUMPABLE, 0, len(zero)), *zero]
    return blocks


def _assemble(answers: Mapping[str, Code], default: Code) -> bytes:
    if not is_supported():
        raise OSError(f"no list of system calls for {kernel.MACHINE}")
    numbers = NUMBERS[kernel.MACHINE]
    by_number = {numbers[name]: answer for name, answer in answers.items() if name in numbers}
    code = [_op(_LOAD, 4), _op(_EQUAL, _ARCHITECTURES[kernel.MACHINE], 1, 0), _op(_RETURN, _KILL)]
    return b"".join([*code, _op(_LOAD, 0), *_search(_ranges(by_number, default))])


def _ranges(by_number: Mapping[int, Code], default: Code) -> list[tuple[int, Code]]:
    """Return the first numbers of ranges that have the same answer, and these answers."""
    ranges = [(0, by_number.get(0, default))]
    for number in range(1, max(by_number) + 2):
        answer = by_number.get(number, default)
        if answer != ranges[-1][1]:
            ranges.append((number, answer))
    return ranges


def _search(ranges: list[tuple[int, Code]]) -> Code:
    """Return a binary search: the filter runs on every call and should execute few instructions."""
    if len(ranges) == 1:
        return ranges[0][1]
    middle = len(ranges) // 2
    lower, upper = _search(ranges[:middle]), _search(ranges[middle:])
    first = ranges[middle][0]
    if len(lower) < 256:
        return [_op(_AT_LEAST, first, len(lower), 0), *lower, *upper]
    return [_op(_AT_LEAST, first, 0, 1), _op(_JUMP, len(lower)), *lower, *upper]


def _op(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, when_true, when_false, value)


def _allow() -> Code:
    return [_op(_RETURN, _ALLOW)]


def _refuse(error: int = _EPERM) -> Code:
    return [_op(_RETURN, _ERROR | error)]


def _argument(place: int) -> bytes:
    return _op(_LOAD, 16 + 8 * place)


def _allow_equal(value: int) -> Code:
    return [_op(_EQUAL, value, 0, 1), *_allow()]


def _refuse_equal(place: int, value: int, error: int = _EPERM) -> Code:
    return [_argument(place), _op(_EQUAL, value, 0, 1), *_refuse(error)]


def _refuse_bits(place: int, bits: int, error: int = _EPERM) -> Code:
    return [_argument(place), _op(_ANY_BIT, bits, 0, 1), *_refuse(error)]


def _refuse_unless(place: int, values: Iterable[int], error: int = _EPERM, mask: int = 0) -> Code:
    wanted = tuple(values)
    tests = [_op(_EQUAL, value, len(wanted) - at, 0) for at, value in enumerate(wanted)]
    masked = [_op(_AND, mask)] if mask else []
    return [_argument(place), *masked, *tests, *_refuse(error)]


def _process_block(name: str) -> Code:
    place, kind = _ON_A_PROCESS.get(name, (0, None))
    which = [] if kind is None else _refuse_unless(0, (kind,))
    return [*which, *_refuse_unless(place, (0,))]


def _clone_block() -> Code:
    # Threads share their descriptors, so that looking at those of one shows all.
    return [
        *_refuse_bits(0, _NEW_NAMESPACES | _CLONE_PARENT),
        _op(_ANY_BIT, _CLONE_THREAD, 0, 2),
        _op(_ANY_BIT, _CLONE_FILES, 1, 0),
        *_refuse(),
    ]


def _request_block() -> Code:
    exact = [op for request in _REQUESTS for op in _allow_equal(request)]
    return [
        *_refuse_equal(1, _TIOCSTI),
        *_refuse_equal(1, _TIOCLINUX),
        *exact,
        *_refuse_unless(1, _REQUESTS_OF, _ENOTTY, mask=0xFF00),
    ]


def _socket_block(sockets: str) -> Code:
    if sockets == SOCKETS_NONE:
        return _refuse()
    if sockets == SOCKETS_PORTS:
        tcp = 6
        return [
            *_refuse_unless(0, (_INET, _INET6)),
            *_refuse_unless(1, (_STREAM,), mask=_KIND),
            *_refuse_unless(2, (0, tcp)),
        ]
    private = (_UNIX,) if sockets == SOCKETS_PRIVATE else ()
    families = (*private, _INET, _INET6, _NETLINK)
    route_only = _refuse_unless(2, (0,))
    return [
        *_refuse_unless(0, families, _EAFNOSUPPORT),
        _op(_EQUAL, _NETLINK, 0, len(route_only)),
        *route_only,
    ]


def _pair_block(sockets: str) -> Code:
    # Without a network namespace, one of a pair of datagram sockets can send to any Unix socket of
    # the machine.
    kinds = (
        [] if sockets == SOCKETS_PRIVATE else _refuse_unless(1, (_STREAM, _SEQUENCE), mask=_KIND)
    )
    return [*_refuse_unless(0, (_UNIX,), _EAFNOSUPPORT), *kinds]


def _signals_only_to(process: int) -> dict[str, Code]:
    return {
        "fcntl": _refuse_signals_by_detour(),
        "kill": _refuse_unless(0, (0, process)),
        "tgkill": _refuse_unless(0, (process,)),
        "rt_sigqueueinfo": _refuse_unless(0, (process,)),
        "rt_tgsigqueueinfo": _refuse_unless(0, (process,)),
        "tkill": _refuse(),
        "pidfd_send_signal": _refuse(),
    }


def _signals_never_to(process: int) -> dict[str, Code]:
    everybody, its_group = 0xFFFFFFFF, (1 << 32) - process
    direct = ("kill", "tgkill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open")
    refused = (process, its_group, everybody)
    block = [op for value in refused for op in _refuse_equal(0, value)]
    return {"fcntl": _refuse_signals_by_detour(), **dict.fromkeys(direct, block)}


def _refuse_signals_by_detour() -> Code:
    set_owner, set_owner_too = 8, 15  # of a descriptor, who then gets signals from it
    return [*_refuse_equal(1, set_owner), *_refuse_equal(1, set_owner_too)]


def install(program: bytes) -> None:
    """Put the filter on this process and all it starts; needs no-new-privileges first."""
    instructions = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(instructions))
    kernel.call("seccomp", 1, 0, ctypes.c_char_p(header))


# From asm/unistd_64.h; from 424 on the numbers are the same on every machine.
_X86_64 = """
    read write open close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction
    rt_sigprocmask rt_sigreturn ioctl pread64 pwrite64 readv writev access pipe select
    sched_yield mremap msync mincore madvise shmget shmat shmctl dup dup2 pause nanosleep
    getitimer alarm setitimer getpid sendfile socket connect accept sendto recvfrom sendmsg
    recvmsg shutdown bind listen getsockname getpeername socketpair setsockopt getsockopt clone
    fork vfork execve exit wait4 kill uname semget semop semctl shmdt msgget msgsnd msgrcv
    msgctl fcntl flock fsync fdatasync truncate ftruncate getdents getcwd chdir fchdir rename
    mkdir rmdir creat link unlink symlink readlink chmod fchmod chown fchown lchown umask
    gettimeofday getrlimit getrusage sysinfo times ptrace getuid syslog getgid setuid setgid
    geteuid getegid setpgid getppid getpgrp setsid setreuid setregid getgroups setgroups
    setresuid getresuid setresgid getresgid getpgid setfsuid setfsgid getsid capget capset
    rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend sigaltstack utime mknod uselib
    personality ustat statfs fstatfs sysfs getpriority setpriority sched_setparam sched_getparam
    sched_setscheduler sched_getscheduler sched_get_priority_max sched_get_priority_min
    sched_rr_get_interval mlock munlock mlockall munlockall vhangup modify_ldt pivot_root
    _sysctl prctl arch_prctl adjtimex setrlimit chroot sync acct settimeofday mount umount2
    swapon swapoff reboot sethostname setdomainname iopl ioperm create_module init_module
    delete_module get_kernel_syms query_module quotactl nfsservctl getpmsg putpmsg afs_syscall
    tuxcall security gettid readahead setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr
    listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr tkill time futex
    sched_setaffinity sched_getaffinity set_thread_area io_setup io_destroy io_getevents
    io_submit io_cancel get_thread_area lookup_dcookie epoll_create epoll_ctl_old epoll_wait_old
    remap_file_pages getdents64 set_tid_address restart_syscall semtimedop fadvise64
    timer_create timer_settime timer_gettime timer_getoverrun timer_delete clock_settime
    clock_gettime clock_getres clock_nanosleep exit_group epoll_wait epoll_ctl tgkill utimes
    vserver mbind set_mempolicy get_mempolicy mq_open mq_unlink mq_timedsend mq_timedreceive
    mq_notify mq_getsetattr kexec_load waitid add_key request_key keyctl ioprio_set ioprio_get
    inotify_init inotify_add_watch inotify_rm_watch migrate_pages openat mkdirat mknodat
    fchownat futimesat newfstatat unlinkat renameat linkat symlinkat readlinkat fchmodat
    faccessat pselect6 ppoll unshare set_robust_list get_robust_list splice tee sync_file_range
    vmsplice move_pages utimensat epoll_pwait signalfd timerfd_create eventfd fallocate
    timerfd_settime timerfd_gettime accept4 signalfd4 eventfd2 epoll_create1 dup3 pipe2
    inotify_init1 preadv pwritev rt_tgsigqueueinfo perf_event_open recvmmsg fanotify_init
    fanotify_mark prlimit64 name_to_handle_at open_by_handle_at clock_adjtime syncfs sendmmsg
    setns getcpu process_vm_readv process_vm_writev kcmp finit_module sched_setattr
    sched_getattr renameat2 seccomp getrandom memfd_create kexec_file_load bpf execveat
    userfaultfd membarrier mlock2 copy_file_range preadv2 pwritev2 pkey_mprotect pkey_alloc
    pkey_free statx io_pgetevents rseq
"""
# From asm-generic/unistd.h, which aarch64 uses; a dash is a number without a call.
_AARCH64 = """
    io_setup io_destroy io_submit io_cancel io_getevents setxattr lsetxattr fsetxattr getxattr
    lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr
    getcwd lookup_dcookie eventfd2 epoll_create1 epoll_ctl epoll_pwait dup dup3 fcntl
    inotify_init1 inotify_add_watch inotify_rm_watch ioctl ioprio_set ioprio_get flock mknodat
    mkdirat unlinkat symlinkat linkat renameat umount2 mount pivot_root nfsservctl statfs
    fstatfs truncate ftruncate fallocate faccessat chdir fchdir chroot fchmod fchmodat fchownat
    fchown openat close vhangup pipe2 quotactl getdents64 lseek read write readv writev pread64
    pwrite64 preadv pwritev sendfile pselect6 ppoll signalfd4 vmsplice splice tee readlinkat
    newfstatat fstat sync fsync fdatasync sync_file_range timerfd_create timerfd_settime
    timerfd_gettime utimensat acct capget capset personality exit exit_group waitid
    set_tid_address unshare futex set_robust_list get_robust_list nanosleep getitimer setitimer
    kexec_load init_module delete_module timer_create timer_gettime timer_getoverrun
    timer_settime timer_delete clock_settime clock_gettime clock_getres clock_nanosleep syslog
    ptrace sched_setparam sched_setscheduler sched_getscheduler sched_getparam sched_setaffinity
    sched_getaffinity sched_yield sched_get_priority_max sched_get_priority_min
    sched_rr_get_interval restart_syscall kill tkill tgkill sigaltstack rt_sigsuspend
    rt_sigaction rt_sigprocmask rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_sigreturn
    setpriority getpriority reboot setregid setgid setreuid setuid setresuid getresuid setresgid
    getresgid setfsuid setfsgid times setpgid getpgid getsid setsid getgroups setgroups uname
    sethostname setdomainname getrlimit setrlimit getrusage umask prctl getcpu gettimeofday
    settimeofday adjtimex getpid getppid getuid geteuid getgid getegid gettid sysinfo mq_open
    mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr msgget msgctl msgrcv msgsnd
    semget semctl semtimedop semop shmget shmctl shmat shmdt socket socketpair bind listen
    accept connect getsockname getpeername sendto recvfrom setsockopt getsockopt shutdown
    sendmsg recvmsg readahead brk munmap mremap add_key request_key keyctl clone execve mmap
    fadvise64 swapon swapoff mprotect msync mlock munlock mlockall munlockall mincore madvise
    remap_file_pages mbind get_mempolicy set_mempolicy migrate_pages move_pages
    rt_tgsigqueueinfo perf_event_open accept4 recvmmsg - - - - - - - - - - - - - - - - wait4
    prlimit64 fanotify_init fanotify_mark name_to_handle_at open_by_handle_at clock_adjtime
    syncfs setns sendmmsg
    process_vm_readv process_vm_writev kcmp finit_module sched_setattr sched_getattr renameat2
    seccomp getrandom memfd_create bpf execveat userfaultfd membarrier mlock2 copy_file_range
    preadv2 pwritev2 pkey_mprotect pkey_alloc pkey_free statx io_pgetevents rseq kexec_file_load
"""
_COMMON = """
    pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree move_mount
    fsopen fsconfig fsmount fspick pidfd_open clone3 close_range openat2 pidfd_getfd faccessat2
    process_madvise epoll_pwait2 mount_setattr quotactl_fd landlock_create_ruleset
    landlock_add_rule landlock_restrict_self memfd_secret process_mrelease futex_waitv
    set_mempolicy_home_node cachestat fchmodat2 map_shadow_stack futex_wake futex_wait
    futex_requeue statmount listmount lsm_get_self_attr lsm_set_self_attr lsm_list_modules mseal
    setxattrat getxattrat listxattrat removexattrat open_tree_attr file_getattr file_setattr
    listns
"""
_FIRST_COMMON = 424


def _number(text: str, first: int = 0) -> dict[str, int]:
    return {name: place for place, name in enumerate(text.split(), first) if name != "-"}


NUMBERS = {
    "x86_64": {**_number(_X86_64), **_number(_COMMON, _FIRST_COMMON)},
    "aarch64": {**_number(_AARCH64), **_number(_COMMON, _FIRST_COMMON)},
}
