"""The `namespaces` level: the process tree of a jail, its privileges and its cleanup."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import socket
from typing import Any, NoReturn

from . import cgroups, confine, kernel, landlock, root, seccomp
from .child import ConfinedWorker, JailChild, ReadyNamespaces
from .kernel import JailError

# The outside user id of a jail started by root: an id that owns nothing.
_SANDBOX_USER = 2_000_000_000
# The user id inside, always the same.
_USER = 1000
_PATIENCE = 30.0
_WATCHES = {"max_inotify_instances": 32, "max_inotify_watches": 8192}
# The error of a machine that has user namespaces but does not allow nested ones.
_NOT_NESTED = (errno.EPERM, errno.EACCES, errno.ENOSPC, errno.EUSERS)
_REFUSED = b"refused: "


def _names(spec: dict[str, Any]) -> tuple[str, ...]:
    """Return the namespaces a child gets, the one of processes first."""
    return ("pid", "mnt", "ipc", "uts", *(() if spec.get("network") else ("net",)))


def sandbox_user() -> int:
    """Return a user id for programs started by root, an unused one if possible."""
    with open("/proc/self/uid_map") as file:
        ranges = [[int(field) for field in line.split()] for line in file]
    wanted = _SANDBOX_USER + os.getpid()
    last = max(first + count for first, _, count in ranges) - 1
    if wanted <= last:
        return wanted
    between_people_and_services = last - 25_535 + os.getpid() % 20_000
    return between_people_and_services if last > 60_000 else last


def start(spec: dict[str, Any], group: cgroups.ControlGroup | None) -> ConfinedWorker:
    """Return in the worker; the calling process becomes the supervisor and never returns."""
    outside = os.pidfd_open(os.getppid())
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    kernel.adopt_orphans()
    process = os.fork()
    if process:
        there.close()
        first = _bring_up(here, process, spec.get("user"))
        leave(supervise(first, outside, group), group)
    here.close()
    return _unshare_and_fork(spec, group, there)


def _bring_up(here: socket.socket, process: int, wanted_user: int | None) -> int:
    """Write the user map and let the first process continue; called in the supervisor."""
    _expect(here, b"unshared")
    _map_users(process, wanted_user)
    here.send(b"mapped")
    first = int(_expect(here, b"first "))
    os.waitpid(process, 0)
    here.send(b"adopted")
    try:
        _expect(here, b"ready")
    except JailError:
        os.waitpid(first, 0)
        raise
    here.close()
    return first


def _expect(here: socket.socket, start_of_message: bytes) -> bytes:
    message = here.recv(4096)
    if not message.startswith(start_of_message):
        raise JailError(message.decode("utf-8", "replace") or "the jail ended while it was built")
    return message[len(start_of_message) :]


def _map_users(process: int, wanted: int | None) -> None:
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        outside = wanted or sandbox_user()
        users = groups = f"0 0 1\n{_USER} {outside} 1\n"
    else:
        _write(f"/proc/{process}/setgroups", "deny")
        users, groups = f"{_USER} {user} 1\n", f"{_USER} {group} 1\n"
    _write_maps(process, users, groups)


def _write_maps(process: int, users: str, groups: str) -> None:
    _write(f"/proc/{process}/gid_map", groups)
    _write(f"/proc/{process}/uid_map", users)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


class _AskedToEnd(BaseException):
    """The supervisor received a signal; its jail must not outlive it."""


def _ask_to_end(number: int, frame: object) -> None:
    signal.signal(number, signal.SIG_IGN)
    raise _AskedToEnd


def supervise(process: int, outside: int, group: cgroups.ControlGroup | None) -> int:
    """Wait for the jail, and end it if the caller is gone; return the jail's exit status.

    Meanwhile set the limits of the control group, which nothing inside can access.
    """
    poller = select.poll()
    requests = () if group is None else (group.requests,)
    for descriptor in (os.pidfd_open(process), outside, *requests):
        poller.register(descriptor, select.POLLIN)
    with contextlib.suppress(_AskedToEnd):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, _ask_to_end)
        while [number for number, _ in poller.poll()] == [*requests]:
            assert group is not None
            group.serve()
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def leave(status: int, group: cgroups.ControlGroup | None) -> NoReturn:
    if group is not None:
        if group.has_lost(status):
            status = cgroups.KILLED_FOR_MEMORY
        group.remove()
    os._exit(status if status >= 0 else 128 - status)


def _unshare_and_fork(
    spec: dict[str, Any], group: cgroups.ControlGroup | None, there: socket.socket
) -> ConfinedWorker:
    try:
        as_root = os.geteuid() == 0
        if as_root:
            os.setgroups([])
        kernel.unshare(kernel.NEW_USER | kernel.NEW_MOUNT | kernel.NEW_PID)
        there.send(b"unshared")
        _expect(there, b"mapped")
        process = os.fork()
        if process:
            there.send(b"first %d" % process)
            os._exit(0)
        _expect(there, b"adopted")
        return _make_jail(spec, group, there, as_root=as_root)
    except BaseException as error:
        # Nothing reads this pipe once the jail is ready; it then ends silently.
        with contextlib.suppress(OSError):
            there.send(f"{type(error).__name__}: {error}".encode()[:4000])
        os._exit(125)


def _make_jail(
    spec: dict[str, Any], group: cgroups.ControlGroup | None, there: socket.socket, *, as_root: bool
) -> ConfinedWorker:
    _limit_watches()
    binds = [(host, inside, bool(writable)) for host, inside, writable in spec["binds"]]
    if spec.get("base"):
        binds.append((spec["base"], root.BASE, spec["work"] == "base"))
    root.build(binds, network=bool(spec.get("network")), user=_USER, group=_USER)
    unlocked = _lock_mounts(spec, there, as_root=as_root)
    if not spec.get("network"):
        kernel.raise_loopback()
    socket.sethostname("assay")
    if as_root:
        kernel.keep_capabilities_over_setuid()
        _become_user()
    confine.check_readable([inside for _, inside, _ in binds])
    # The maker creates namespaces and mounts in them; the worker moves children there.
    own = (kernel.CAP_SYS_ADMIN, *(() if spec.get("network") else (kernel.CAP_NET_ADMIN,)))
    of_worker = (kernel.CAP_SYS_ADMIN, kernel.CAP_SYS_CHROOT)
    kernel.limit_capabilities((*own, *of_worker))
    if spec.get("base"):
        root.probe_views()
    root.make_private_folders(spec["limits"]["work_size"], _work_of(spec))
    kernel.no_new_privileges()
    if unlocked:  # otherwise the process that stayed behind dies so, and takes the maker along
        kernel.die_with_parent(signal.SIGKILL)
    orders, asking = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    kernel.hide_memory()
    process = os.fork()
    if process:
        asking.close()
        there.close()
        kernel.limit_capabilities(own)
        _serve(spec, orders, process)
    orders.close()
    os.setsid()  # no terminal, and a group of its own that children leave for theirs
    kernel.limit_capabilities(of_worker)
    kernel.show_memory()
    if group is not None:
        group.join()
    if seccomp.is_supported():
        program = seccomp.program(
            sockets=confine.sockets_of(spec),
            private=True,
            namespaces=True,
            counted=group is not None,
        )
        seccomp.install(program)
    worker = NamespaceWorker(spec, group, asking, unlocked)
    there.send(b"ready")
    there.close()
    return worker


def _limit_watches() -> None:
    """Leave most of them to the user who runs Assay, against whom they are counted."""
    for name, most in _WATCHES.items():
        with contextlib.suppress(OSError):  # a container may have them read-only
            _write(f"/proc/sys/user/{name}", str(most))


def _become_user() -> None:
    os.setresgid(_USER, _USER, _USER)
    os.setresuid(_USER, _USER, _USER)


def _lock_mounts(spec: dict[str, Any], there: socket.socket, *, as_root: bool) -> str:
    """Continue in a second user namespace, which has no control over existing mounts.

    Capabilities there can neither make a read-only bind writable nor remove it to show what is
    beneath. Returns in the first process of that namespace; the calling one stays behind, or
    continues itself if no second user namespace is available. In that case the return value is the
    reason.
    """
    own = kernel.NEW_IPC | kernel.NEW_UTS | (0 if spec.get("network") else kernel.NEW_NET)
    before, after = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = os.fork()
    if process:
        after.close()
        with before:
            message = before.recv(4096)
            if not message.startswith(_REFUSED):
                _stay_behind(message, before, process, as_root=as_root)
        os.waitpid(process, 0)
        kernel.unshare(own)
        return message[len(_REFUSED) :].decode("utf-8", "replace")
    before.close()
    with after:
        try:
            kernel.unshare(kernel.NEW_USER | kernel.NEW_MOUNT | kernel.NEW_PID | own)
        except OSError as error:
            kind = _REFUSED if error.errno in _NOT_NESTED else b""
            after.send(kind + str(error).encode())
            os._exit(0)
        after.send(b"unshared")
        _expect(after, b"mapped")
    if os.fork():
        os._exit(0)
    root.mount_processes()
    return ""


def _stay_behind(message: bytes, before: socket.socket, process: int, *, as_root: bool) -> NoReturn:
    """Map the users of the second namespace, drop all rights, wait for the maker, exit like it.

    This is the first process of the outer pid namespace: when it is killed, all others end.
    """
    if message != b"unshared":
        raise JailError(message.decode("utf-8", "replace") or "the jail ended while it was built")
    mapped = "".join(f"{user} {user} 1\n" for user in ((0, _USER) if as_root else (_USER,)))
    _write_maps(process, mapped, mapped)
    if as_root:
        _become_user()
    kernel.limit_capabilities()
    kernel.no_new_privileges()
    kernel.hide_memory()
    kernel.die_with_parent(signal.SIGKILL)
    before.send(b"mapped")
    kernel.close_descriptors_from(0)
    _ignore_requests_to_end()
    os.waitpid(process, 0)
    status = os.waitstatus_to_exitcode(os.wait()[1])  # of the maker, an orphan since
    os._exit(status if status >= 0 else 128 - status)


def _work_of(spec: dict[str, Any]) -> str:
    """Return what a new work folder is, in the terms of root.py."""
    if spec.get("work") == "base":
        return "base"
    return "view" if spec.get("base") else "empty"


def _serve(spec: dict[str, Any], orders: socket.socket, worker: int) -> NoReturn:
    """Prepare namespaces when asked, reap, and take the jail down at the end, as its maker."""
    _ignore_requests_to_end()
    own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    handle = os.pidfd_open(worker)
    poller = select.poll()
    for descriptor in (orders.fileno(), handle):
        poller.register(descriptor, select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _ in poller.poll()}
        if handle in ready:
            status = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
            os._exit(status if status >= 0 else 128 - status)
        _reap_but(worker)
        if not _take_request(orders):
            poller.unregister(orders.fileno())
            continue
        kernel.unshare(kernel.NEW_PID)
        if os.fork() == 0:
            _keep(spec, orders)
        kernel.setns(own, kernel.NEW_PID)


def _ignore_requests_to_end() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)  # which the first process of a namespace ignores


def _take_request(orders: socket.socket) -> bool:
    try:
        return bool(orders.recv(16))
    except ConnectionResetError:  # the worker is gone
        return False


def _reap_but(worker: int) -> None:
    # The worker's status is wanted later, so it must not be taken along with the keepers'.
    while True:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None or ended.si_pid in (0, worker):
            return
        os.waitpid(ended.si_pid, 0)


def _keep(spec: dict[str, Any], orders: socket.socket) -> NoReturn:
    """Create the other namespaces, hand them over, and stay alive as their keeper."""
    try:
        network = 0 if spec.get("network") else kernel.NEW_NET
        kernel.unshare(kernel.NEW_MOUNT | kernel.NEW_IPC | kernel.NEW_UTS | network)
        is_kept = spec.get("work") == "kept"
        root.make_private_folders(
            spec["limits"]["work_size"], "kept" if is_kept else _work_of(spec)
        )
        root.mount_processes(read_only=True)
        if network:
            kernel.raise_loopback()
        work = os.open(root.WORK, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        # One by one: entering them through the process would need a keeper that can be traced.
        spaces = [
            os.open(f"/proc/self/ns/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in _names(spec)
        ]
        handles = [os.pidfd_open(os.getpid()), work, *spaces]
        if landlock.version_of_kernel():
            handles.append(landlock.ruleset_of(_rules(spec)))
        kernel.drop_capabilities()
        socket.send_fds(orders, [b"+"], handles)
    except BaseException as error:
        orders.send(f"{type(error).__name__}: {error}".encode()[:4000])
        os._exit(125)
    # The kernel reaps the children of a process that ignores their end.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    kernel.close_descriptors_from(0)
    while True:
        signal.pause()


def _rules(spec: dict[str, Any]) -> list[tuple[str, int]]:
    rules = [("/", landlock.READ)]
    rules += [(path, landlock.WRITE) for path in (root.WORK, "/tmp", "/dev/shm")]
    rules += [(path, landlock.WRITE) for path in root.DEVICES]
    return rules + [(inside, landlock.WRITE) for _, inside, writable in spec["binds"] if writable]


class NamespaceWorker(ConfinedWorker):
    """A worker whose children get namespaces that were prepared in advance."""

    def __init__(
        self,
        spec: dict[str, Any],
        group: cgroups.ControlGroup | None,
        asking: socket.socket,
        unlocked: str,
    ) -> None:
        super().__init__(spec, group, root.WORK)
        self.unlocked = unlocked
        os.environ.update(HOME=root.WORK, TMPDIR="/tmp")
        # A number, not an object: a child closes its descriptors, and an object would later close
        # an unrelated one with the same number.
        self._asking = asking.detach()
        self._own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self._own_network = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        os.write(self._asking, b"new")

    def fork(
        self, keep: tuple[int, ...], standard: tuple[int, int, int] | None
    ) -> JailChild | None:
        prepared = self._take()
        report_read, report_write = os.pipe2(os.O_CLOEXEC)
        before = self.begin()
        kernel.setns(prepared.spaces[0], kernel.NEW_PID)
        try:
            with self.expendable_children():
                process = os.fork()
        except OSError as error:
            kernel.setns(self._own, kernel.NEW_PID)
            raise JailError(f"no process could be started: {error}") from None
        if process == 0:
            place = confine.ChildFolders(root.WORK, "/tmp")
            confine.isolate(self, report_write, keep, standard, place, prepared=prepared)
            return None
        kernel.setns(self._own, kernel.NEW_PID)
        os.close(report_write)
        for descriptor in prepared.ruleset:
            os.close(descriptor)
        os.write(self._asking, b"new")
        # The base is not a tmpfs; only the disk limits its size.
        watched = (root.BASE,) if self.spec.get("work") == "base" else ()
        return JailChild(
            self, process, report_read, prepared.work, before, prepared=prepared, watched=watched
        )

    def open_socket(self, child: JailChild) -> socket.socket:
        """Return a socket in the child's network, wherever it is used."""
        if self.spec.get("network"):
            return super().open_socket(child)
        assert child.prepared is not None
        kernel.setns(child.prepared.spaces[-1], kernel.NEW_NET)
        try:
            return super().open_socket(child)
        finally:
            kernel.setns(self._own_network, kernel.NEW_NET)

    def _take(self) -> ReadyNamespaces:
        with socket.socket(fileno=os.dup(self._asking)) as asking:
            asking.settimeout(_PATIENCE)
            try:
                message, handles, _, _ = socket.recv_fds(asking, 4096, 8)
            except OSError as error:
                raise JailError(f"namespaces could not be had: {error}") from None
        if message != b"+":
            os.write(self._asking, b"new")  # the next child may have more luck
            reason = message.decode("utf-8", "replace") or "the maker is gone"
            raise JailError(f"namespaces could not be made: {reason}")
        end = 2 + len(_names(self.spec))
        return ReadyNamespaces(handles[0], handles[1], tuple(handles[2:end]), tuple(handles[end:]))
