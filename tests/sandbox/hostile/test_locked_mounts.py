"""What is mounted in a jail stays as it is even where no filter holds back the import of a target.

Every attack is made twice: with the second user namespace, where it must fail, and without it,
where those on files must succeed. So an attack that fails for a slip of its own is noticed.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.sandbox.hostile.support import (
    SECRET,
    Outcome,
    command_lines,
    run_in_worker,
    start_worker,
)
from tests.waiting import wait_until

WITHOUT_FILTER = """
importlib.import_module("assay_jail.seccomp").install = lambda program: None
"""
WITHOUT_SECOND_NAMESPACE = """
kernel = importlib.import_module("assay_jail.kernel")
unshare, made = kernel.unshare, []
def refuse_the_second(flags):
    if flags & kernel.NEW_USER and made:
        raise PermissionError(errno.EPERM, "unshare: refused by a test")
    made.append(flags)
    unshare(flags)
kernel.unshare = refuse_the_second
"""
ATTACKS = """
import fcntl, struct, tempfile
jail.enter(spec)
target, kit = sys.argv[3:5]
MOUNT, UMOUNT, UNSHARE, PIVOT, SETNS, PTRACE, READ_MEMORY = {
    "x86_64": (165, 166, 272, 155, 308, 101, 310), "aarch64": (40, 39, 97, 41, 268, 117, 270),
}[os.uname().machine]
OPEN_TREE, MOVE_MOUNT, FSCONFIG, FSPICK, PIDFD_GETFD, SET_ATTRIBUTES = 428, 429, 431, 433, 438, 442
REMOUNT, BIND, MOVE, RECURSIVE, DETACH = 32, 4096, 8192, 16384, 2
NEW_MOUNT, NEW_USER, HERE, EMPTY_PATH, WHOLE_TREE = 0x20000, 0x10000000, -100, 0x1000, 0x8000

def text(value):
    return ctypes.c_char_p(None if value is None else os.fsencode(value))
def mount(source, place, flags, kind=None, options=None):
    call(MOUNT, text(source), text(place), text(kind), flags, text(options))
def unmount(place):
    call(UMOUNT, text(place), DETACH)
def make_writable(descriptor, path, flags):
    wanted = struct.pack("=QQQQ", 0, 1, 0, 0)
    call(SET_ATTRIBUTES, descriptor, text(path), flags, ctypes.c_char_p(wanted), len(wanted))
def mark(folder, descriptor=None):
    os.close(os.open(folder + "/mark", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
def read_below(folder, descriptor=None):
    return os.read(os.open(folder + "/covered/below", os.O_RDONLY, dir_fd=descriptor), 100)
def clone(folder, flags=0):
    return call(OPEN_TREE, HERE, text(folder), 1 | flags)
def alone(name, *actions):
    # In a mount namespace of its own, so that no attack finds what another has left.
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        call(UNSHARE, NEW_MOUNT)
        for action in actions:
            attempt(name, action)
        os._exit(0)
    assert os.waitpid(process, 0)[1] == 0

def remount(folder):
    mount(None, folder, REMOUNT | BIND)
    mark(folder)
def set_attributes(folder):
    make_writable(HERE, folder, WHOLE_TREE)
    mark(folder)
def bind_over_itself(folder):
    mount(folder, folder, BIND | RECURSIVE)
    remount(folder)
def bind_elsewhere(folder):
    copy = tempfile.mkdtemp()
    mount(folder, copy, BIND | RECURSIVE)
    remount(copy)
def bind_all(folder):
    copy = tempfile.mkdtemp()
    mount("/", copy, BIND | RECURSIVE)
    remount(copy + folder)
def move(folder):
    copy = tempfile.mkdtemp()
    mount(folder, copy, MOVE)
    remount(copy)
def clone_tree(folder):
    tree = clone(folder, WHOLE_TREE)
    make_writable(tree, "", EMPTY_PATH | WHOLE_TREE)
    mark(".", tree)
def move_tree(folder):
    copy = tempfile.mkdtemp()
    call(MOVE_MOUNT, clone(folder, WHOLE_TREE), text(""), HERE, text(copy), 4)
    remount(copy)
def pivot(folder):
    new = tempfile.mkdtemp()
    mount("none", new, 0, "tmpfs")
    os.mkdir(new + "/old")
    call(PIVOT, text(new), text(new + "/old"))
    os.chroot("/old")
    remount(folder)
for folder in (target, kit):
    for attack in (remount, set_attributes, bind_over_itself, bind_elsewhere, bind_all, move,
                   clone_tree, move_tree, pivot):
        alone("files: " + attack.__name__, lambda: attack(folder))
alone("files: remount of the root", lambda: mount(None, "/", REMOUNT | BIND))

def uncover():
    unmount(target + "/covered")
    if not os.path.exists(target + "/covered/below"):
        unmount(target + "/covered")  # beneath /tmp everything is bound once more
    return read_below(target)
def bind_without_cover():
    copy = tempfile.mkdtemp()
    mount(target, copy, BIND)
    return read_below(copy)
def clone_without_cover():
    return read_below(".", clone(target))
def move_cover():
    mount(target + "/covered", tempfile.mkdtemp(), MOVE)
    if not os.path.exists(target + "/covered/below"):
        mount(target + "/covered", tempfile.mkdtemp(), MOVE)
    return read_below(target)
def overlay_without_cover():
    merged = tempfile.mkdtemp()
    options = f"lowerdir={target}:{kit},userxattr"
    mount("overlay", merged, 0, "overlay", options)
    return read_below(merged)
for attack in (uncover, bind_without_cover, clone_without_cover, move_cover, overlay_without_cover):
    alone("files: " + attack.__name__, attack)

def remount_all():
    mount(None, target, REMOUNT)
    mark(target)
def reconfigure():
    handle = call(FSPICK, HERE, text(target), 0)
    call(FSCONFIG, handle, 0, text("rw"), text(None), 0)
    call(FSCONFIG, handle, 7, text(None), text(None), 0)
    mark(target)
def nest():
    call(UNSHARE, NEW_USER | NEW_MOUNT)
    remount(target)
def leave_root():
    unmount("/")
    remount(target)
def leave_root_and_look():
    unmount("/")
    return uncover()
def enter_parent(name):
    parent = fcntl.ioctl(os.open("/proc/self/ns/" + name, os.O_RDONLY), 0xB702)
    call(SETNS, parent, 0)
def enter_parent_of_users():
    enter_parent("user")
def enter_parent_of_processes():
    enter_parent("pid")
for attack in (remount_all, reconfigure, nest, leave_root, leave_root_and_look,
               enter_parent_of_users, enter_parent_of_processes):
    alone("more: " + attack.__name__, attack)

SPACES = ("user", "mnt", "pid", "net", "ipc", "uts")
def through_files(process):
    place = f"/proc/{process}"
    actions = [lambda name=name: call(SETNS, os.open(f"{place}/ns/{name}", os.O_RDONLY), 0)
               for name in SPACES]
    return [*actions, lambda: os.open(place + "/mem", os.O_RDWR),
            lambda: open(place + "/environ").read(1), lambda: open(place + "/maps").read(1),
            lambda: os.listdir(place + "/root"), lambda: os.listdir(place + "/cwd"),
            lambda: os.listdir(place + "/fd")]
def through_calls(process):
    space = ctypes.create_string_buffer(8)
    vector = struct.pack("@PN", ctypes.addressof(space), 8)
    handle = os.pidfd_open(process)
    return [lambda: call(PTRACE, 16, process, 0, 0), lambda: call(PTRACE, 0x4206, process, 0, 0),
            lambda: call(READ_MEMORY, process, ctypes.c_char_p(vector), 1,
                         ctypes.c_char_p(vector), 1, 0),
            lambda: call(PIDFD_GETFD, handle, 0, 0),
            lambda: call(SETNS, handle, NEW_USER), lambda: call(SETNS, handle, NEW_MOUNT)]
child = jail.fork_child()
if child is None:
    os.read(0, 1)
    os._exit(0)
others = [int(name) for name in os.listdir("/proc") if name.isdigit()]
others = [process for process in others if process not in (os.getpid(), child.process)]
assert 1 in others and len(others) >= 2  # the maker, and keepers
for process in others:
    alone("processes: others", *through_files(process), *through_calls(process))
def see_outer():
    unmount("/proc")
    with open("/proc/self/status") as file:
        numbers = next(line.split()[1:] for line in file if line.startswith("NSpid"))
    assert len(numbers) == 2, numbers
if not jail.why_unlocked():
    alone("outer", see_outer, *through_files(1))
sys.stdout.flush()
os._exit(0)
"""
# As an ordinary user, in a user namespace in which one more can be made, but none inside that.
ONE_LEVEL = """
user, group = os.getuid(), os.getgid()
kernel = importlib.import_module("assay_jail.kernel")
kernel.unshare(kernel.NEW_USER)
def write(path, text):
    with open(path, "w") as file:
        file.write(text)
write("/proc/self/setgroups", "deny")
write("/proc/self/gid_map", f"{group} {group} 1")
write("/proc/self/uid_map", f"{user} {user} 1")
try:
    write("/proc/sys/user/max_user_namespaces", "1")
except OSError:
    print("settings cannot be changed")
    sys.exit()
print(importlib.import_module("assay_jail.probe")._jail("namespaces")(), flush=True)
"""
# Has a child running, and therefore two keepers: of this child, and of the next.
WAIT = """
jail.enter(spec)
child = jail.fork_child()
if child is None:
    os.read(0, 1)
    os._exit(0)
while len([name for name in os.listdir("/proc") if name.isdigit()]) < 5:
    pass
print("ready", flush=True)
os.read(0, 1)
"""
FILE_ATTACKS = 9 + 9 + 1 + 5


@pytest.fixture(params=["beneath a private folder", "elsewhere"])
def folders(open_place: Path, request: pytest.FixtureRequest) -> dict[Path, Path]:
    """A target, a kit, and a folder that covers one of the target; all open to everybody."""
    target, kit, cover = (open_place / name for name in ("target", "kit", "cover"))
    for folder in (target, kit, cover, target / "covered"):
        folder.mkdir()
        folder.chmod(0o777)
    (target / "module.py").write_text("VALUE = 1\n")
    (kit / "judge.py").write_text("VALUE = 2\n")
    (target / "covered" / "below").write_text(SECRET)
    inside = Path("/elsewhere" if request.param == "elsewhere" else "/tmp/inside")
    return {target: inside / "target", kit: inside / "kit", cover: inside / "target" / "covered"}


def _read_files(place: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(place)): path.read_bytes() if path.is_file() else b""
        for path in place.rglob("*")
        if "inside" not in path.parts
    }


class _Process(NamedTuple):
    capabilities: int
    user_namespace: int


def _look(process: int) -> _Process:
    namespace = Path(f"/proc/{process}/ns/user").stat().st_ino
    return _Process(int(_field(process, "CapPrm"), 16), namespace)


def _field(process: int, name: str) -> str:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith(f"{name}:"))


def _look_at_children(process: int, place: Path) -> dict[int, _Process]:
    """The children of a process that were started from this place, by their number."""
    everybody = [int(line.partition(":")[0]) for line in command_lines(str(place))]
    children = [one for one in everybody if int(_field(one, "PPid")) == process]
    return {child: _look(child) for child in children}


def _attack(before: str, place: Path, user: str, folders: dict[Path, Path]) -> Outcome:
    return run_in_worker(before + ATTACKS, place, user, folders)


@pytest.mark.parametrize("user", ["root", "user"])
def test_without_a_filter_an_import_cannot_change_or_uncover_what_is_mounted(
    open_place: Path, folders: dict[Path, Path], user: str
) -> None:
    before = _read_files(open_place)
    outcome = _attack(WITHOUT_FILTER, open_place, user, folders)
    assert _read_files(open_place) == before
    assert outcome.stderr.decode() == ""
    assert SECRET not in outcome.stdout.decode()
    assert "outer ALLOWED None" in outcome.lines, outcome  # it did see the first process
    outcome.stdout = outcome.stdout.replace(b"outer ALLOWED None\n", b"")
    outcome.refused("EINVAL")  # which is what the kernel says of a mount that is locked
    kinds = [line.partition(":")[0].split()[0] for line in outcome.lines]
    assert kinds.count("files") == FILE_ATTACKS
    assert kinds.count("more") == 7
    assert kinds.count("processes") >= 2 * 18
    assert kinds.count("outer") == 12


@pytest.mark.parametrize("user", ["root", "user"])
def test_without_the_second_user_namespace_the_same_attacks_on_files_succeed(
    open_place: Path, folders: dict[Path, Path], user: str
) -> None:
    outcome = _attack(WITHOUT_FILTER + WITHOUT_SECOND_NAMESPACE, open_place, user, folders)
    files = [line for line in outcome.lines if line.startswith("files")]
    assert len(files) == FILE_ATTACKS, outcome
    assert [line for line in files if " ALLOWED " not in line] == []
    assert (open_place / "kit" / "mark").exists()


@pytest.mark.parametrize("user", ["root", "user"])
def test_capabilities_are_few_and_only_over_the_second_user_namespace(
    open_place: Path, user: str
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can look at processes that hide")
    with start_worker(WAIT, open_place, user, {}) as supervisor:
        assert supervisor.stdout is not None
        assert supervisor.stdout.readline() == b"ready\n", supervisor.communicate()
        ((first, of_first),) = _look_at_children(supervisor.pid, open_place).items()
        ((maker, of_maker),) = _look_at_children(first, open_place).items()

        def look_at_family() -> list[_Process]:
            family = _look_at_children(maker, open_place)
            own = [_look_at_children(child, open_place).values() for child in family]
            return sorted(itertools.chain(family.values(), *own))

        # A keeper gives up its rights as soon as it has prepared its namespaces.
        wait_until(lambda: [one.capabilities for one in look_at_family()].count(0) == 3, supervisor)
        *others, worker = look_at_family()
        supervisor.kill()
        # Nothing of a jail outlives the supervisor, not even if that is killed.
        wait_until(lambda: command_lines(str(open_place)) == [])
    mounting, changing_root, networks = 1 << 21, 1 << 18, 1 << 12
    assert of_first.capabilities == 0
    assert of_maker.capabilities == mounting | networks
    assert worker.capabilities == mounting | changing_root
    assert [one.capabilities for one in others] == [0, 0, 0]  # a child and two keepers
    outside = Path("/proc/self/ns/user").stat().st_ino
    assert len({outside, of_first.user_namespace, of_maker.user_namespace}) == 3
    assert {one.user_namespace for one in (worker, *others)} == {of_maker.user_namespace}


def test_where_user_namespaces_cannot_be_nested_the_level_works_and_the_probe_says_so(
    open_place: Path,
) -> None:
    outcome = run_in_worker(ONE_LEVEL, open_place, "user", {})
    if outcome.lines == ["settings cannot be changed"]:
        pytest.skip("this machine does not let the number of user namespaces be limited")
    assert outcome.stderr == b"", outcome
    assert outcome.lines == [
        "a child was isolated and ended; its mounts are not locked, no second user namespace: "
        "[Errno 28] unshare: No space left on device"
    ]


def test_a_second_user_namespace_that_fails_for_another_reason_is_an_error(
    open_place: Path,
) -> None:
    failing = WITHOUT_SECOND_NAMESPACE.replace("EPERM", "ENOMEM")
    script = failing + "jail.enter(spec)\nprint('inside')\n"
    outcome = run_in_worker(script, open_place, "user", {})
    assert outcome.stdout == b""
    assert "JailError: " in outcome.stderr.decode()
    assert "refused by a test" in outcome.stderr.decode()
    assert command_lines(str(open_place)) == []
