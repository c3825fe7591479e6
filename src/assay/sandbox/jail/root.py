"""The file system of a jail: an empty root with an explicit list of entries, and nothing else."""

from __future__ import annotations

import os

from . import kernel, trees

# A distinct name, so that no folder bound from the machine is inside it.
WORK = "/assay-work"
BASE = "/assay-base"
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_DEVICES = ("null", "zero", "full", "random", "urandom")
_SETTINGS = (
    "alternatives",
    "ca-certificates",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "pki",
    "protocols",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
)
_NETWORK_SETTINGS = ("gai.conf", "host.conf", "hosts", "resolv.conf")
_READ_ONLY, _NO_SETUID, _NO_DEVICES = 1, 2, 4  # attributes of mount_setattr
FILES_PER_FOLDER = 100_000

# What a program may read where there is no root of its own: the same list, as Landlock rules.
READABLE = (*_SYSTEM, *(f"/etc/{name}" for name in _SETTINGS), "/etc/passwd", "/etc/group")
READABLE_WITH_NETWORK = tuple(f"/etc/{name}" for name in (*_NETWORK_SETTINGS, "nsswitch.conf"))
DEVICES = tuple(f"/dev/{name}" for name in _DEVICES)
# Private folders of every child; anything bound beneath them would be hidden.
_PRIVATE = (f"{WORK}/", "/tmp/", "/dev/shm/")
_bound_beneath: list[str] = []
# Without overlays views are copies; this is the maximum size of each.
_copied_bytes: int | None = None
# Facts about the machine that interpreters ask for; no other process is among them.
MACHINE_FACTS = tuple(
    f"/proc/{name}"
    for name in ("cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "sys", "uptime", "version")
)


def build(binds: list[tuple[str, str, bool]], *, network: bool, user: int, group: int) -> None:
    """Replace the root of this mount namespace; called by the first process of a pid namespace."""
    sources = [(os.path.realpath(host), inside, writable) for host, inside, writable in binds]
    settings = _SETTINGS + (_NETWORK_SETTINGS if network else ())
    sources += [
        (os.path.realpath(f"/etc/{name}"), f"/etc/{name}", False)
        for name in settings
        if os.path.exists(f"/etc/{name}")
    ]
    _leave_old_root()
    for path in _SYSTEM:
        _copy_or_bind(path)
    _write_settings(user, group, network=network)
    for host, inside, writable in sorted(sources, key=lambda item: item[1].count("/")):
        _bind(f"/.old{host}", inside, writable=writable)
        if inside.startswith(_PRIVATE):
            _bound_beneath.append(inside)
    _make_devices()
    for path in ("/proc", "/tmp", WORK):
        os.makedirs(path, exist_ok=True)
    mount_processes()
    kernel.unmount("/.old")
    os.rmdir("/.old")
    kernel.mount("none", "/", None, _remount_read_only(), None)


def _remount_read_only() -> int:
    flags = kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY
    return flags | kernel.MS_NOSUID | kernel.MS_NODEV


def _leave_old_root() -> None:
    # Private first: whatever is mounted from here on must never be seen outside.
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE, None)
    place = next(path for path in ("/tmp", "/mnt", "/usr") if os.path.isdir(path))
    _mount_tmpfs(place, "size=4m,mode=755")
    os.mkdir(f"{place}/.old")
    kernel.pivot_root(place, f"{place}/.old")
    os.chdir("/")


def _mount_tmpfs(target: str, options: str) -> None:
    kernel.mount("tmpfs", target, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)


def _copy_or_bind(path: str) -> None:
    # On a merged system /bin and /lib are links into /usr and stay links.
    old = f"/.old{path}"
    if os.path.islink(old):
        os.symlink(os.readlink(old), path)
    elif os.path.isdir(old):
        _bind(old, path)


def _bind(source: str, inside: str, *, writable: bool = False) -> None:
    os.makedirs(os.path.dirname(inside), exist_ok=True)
    if os.path.isdir(source):
        os.makedirs(inside, exist_ok=True)
    elif not os.path.lexists(inside):
        os.close(os.open(inside, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    kernel.mount(source, inside, None, kernel.MS_BIND | kernel.MS_REC, None)
    attributes = _NO_SETUID | (0 if source.startswith("/.old/dev/") else _NO_DEVICES)
    kernel.restrict_mount(inside, attributes | (0 if writable else _READ_ONLY))


def _make_devices() -> None:
    os.makedirs("/dev/shm", exist_ok=True)
    for name in _DEVICES:
        if os.path.exists(f"/.old/dev/{name}"):
            _bind(f"/.old/dev/{name}", f"/dev/{name}", writable=True)
    os.symlink("/proc/self/fd", "/dev/fd")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"/dev/{name}")


def _write_settings(user: int, group: int, *, network: bool) -> None:
    os.makedirs("/etc", exist_ok=True)
    texts = {
        "passwd": f"root:x:0:0::/:/bin/false\nassay:x:{user}:{group}::{WORK}:/bin/sh\n",
        "group": f"root:x:0:\nassay:x:{group}:\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    }
    if not network:
        texts["hosts"] = "127.0.0.1 localhost\n::1 localhost\n"
    for name, text in texts.items():
        with open(f"/etc/{name}", "w") as file:
            file.write(text)


def mount_processes(*, read_only: bool = False) -> None:
    """Mount a view of the processes of this pid namespace only."""
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    flags |= kernel.MS_RDONLY if read_only else 0
    kernel.mount("proc", "/proc", "proc", flags, None)


def probe_views() -> None:
    """Find out, once for all children, whether a view of the base can be an overlay."""
    global _copied_bytes
    _mount_tmpfs("/tmp", "size=1m,mode=700")
    try:
        for name in ("work", "spare"):
            os.mkdir(f"/tmp/{name}")
        _mount_overlay(BASE, "/tmp/work", "/tmp/spare", WORK)
        kernel.unmount(WORK)
    except OSError:
        _copied_bytes = trees.measure(BASE).bytes
    finally:
        kernel.unmount("/tmp")


def make_private_folders(size: int, work: str = "empty") -> None:
    """Make a work folder, /tmp and /dev/shm, which together hold at most `size` bytes.

    The work folder is "empty", a "view" of the base, the "base" itself, or "kept" as it was.
    """
    stage = "/tmp"
    kept = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in _bound_beneath]
    size += (_copied_bytes or 0) if work == "view" else 0
    _mount_tmpfs(stage, f"size={size},nr_inodes={FILES_PER_FOLDER},mode=700")
    for name, mode in (("work", 0o700), ("spare", 0o700), ("shm", 0o1777), ("tmp", 0o1777)):
        os.mkdir(f"{stage}/{name}")
        os.chmod(f"{stage}/{name}", mode)
    _mount_work(stage, work)
    for source, target in (("shm", "/dev/shm"), ("tmp", stage)):
        kernel.mount(f"{stage}/{source}", target, None, kernel.MS_BIND, None)
    for path, descriptor in kept:
        _bind(f"/proc/self/fd/{descriptor}", path, writable=True)  # as writable as it was
        os.close(descriptor)


def _mount_work(stage: str, work: str) -> None:
    if work == "kept":
        return
    if work == "view" and _copied_bytes is None:
        _mount_overlay(BASE, f"{stage}/work", f"{stage}/spare", WORK)
        return
    if work == "view":
        trees.copy_tree(BASE, f"{stage}/work")
    kernel.mount(BASE if work == "base" else f"{stage}/work", WORK, None, kernel.MS_BIND, None)


def _mount_overlay(base: str, changes: str, spare: str, target: str) -> None:
    """Mount the base at the target, with all changes going to another folder.

    `changes` and `spare` are empty folders of one file system. OSError where that cannot be done.
    """
    # A folder that is removed and made again is marked by such an attribute. Without them
    # programs would get errors that no ordinary folder gives.
    os.setxattr(changes, "user.assay", b"1")
    os.removexattr(changes, "user.assay")
    options = f"lowerdir={base},upperdir={changes},workdir={spare},userxattr"
    kernel.mount("overlay", target, "overlay", kernel.MS_NOSUID | kernel.MS_NODEV, options)
