"""Programs that write, change or read what is not theirs."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from tests.sandbox.hostile.support import SECRET, Sandbox


@pytest.mark.parametrize(
    "path", ["/usr/planted", "/usr/bin/planted", "/etc/planted", "/planted", "/lib/planted"]
)
def test_writing_to_the_system(sandbox: Sandbox, path: str) -> None:
    sandbox.python("attempt('write', lambda: open(sys.argv[1], 'w'))", path).refused()
    assert not Path(path).exists()


def test_writing_to_the_target(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
module = sys.argv[1] + "/module.py"
print(open(module).read().strip())
attempt("append", lambda: open(module, "a"))
attempt("replace", lambda: os.replace(module, module + ".old"))
attempt("unlink", lambda: os.unlink(module))
attempt("create", lambda: open(sys.argv[1] + "/sitecustomize.py", "w"))
attempt("folder", lambda: os.mkdir(sys.argv[1] + "/__pycache__"))
attempt("truncate", lambda: os.truncate(module, 0))
attempt("mode", lambda: os.chmod(module, 0o777))
attempt("owner", lambda: os.chown(module, os.getuid(), os.getgid()))
attempt("time", lambda: os.utime(module, (0, 0)))
attempt("attribute", lambda: os.setxattr(module, "user.planted", b"x"))
""",
        str(sandbox.target),
    )
    assert outcome.stdout.startswith(b"VALUE = 1\n"), outcome
    outcome.stdout = outcome.stdout.partition(b"\n")[2]
    outcome.refused()
    module = sandbox.target / "module.py"
    assert module.read_text() == "VALUE = 1\n"
    assert module.stat().st_mode & 0o777 == 0o644
    assert module.stat().st_mtime > 0
    assert [path.name for path in sandbox.target.iterdir()] == ["module.py"]


def test_writing_to_home_and_run_folder(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
home = sys.argv[1]
attempt("create", lambda: open(home + "/planted", "w"))
attempt("append", lambda: open(home + "/secret.txt", "a"))
attempt("unlink", lambda: os.unlink(home + "/secret.txt"))
attempt("mode", lambda: os.chmod(home + "/secret.txt", 0o777))
attempt("mode of the folder", lambda: os.chmod(home, 0))
attempt("time", lambda: os.utime(home + "/secret.txt", (0, 0)))
attempt("truncate", lambda: os.truncate(home + "/secret.txt", 0))
attempt("rename", lambda: os.rename("/etc/passwd", home + "/passwd"))
""",
        str(sandbox.home),
    )
    outcome.refused()
    assert (sandbox.home / "secret.txt").read_text() == SECRET
    assert (sandbox.home / "secret.txt").stat().st_mode & 0o777 == 0o644
    assert (sandbox.home / "secret.txt").stat().st_mtime > 0
    assert [path.name for path in sandbox.home.iterdir()] == ["secret.txt"]


def test_reading_files_of_the_user(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
attempt("secret", lambda: open(sys.argv[1] + "/secret.txt").read())
attempt("list", lambda: os.listdir(sys.argv[1]))
attempt("list above", lambda: os.listdir(sys.argv[1] + "/.."))
attempt("source", lambda: open(sys.argv[1] + "/../copy/driver.py").read())
os.symlink(sys.argv[1] + "/secret.txt", "link")
attempt("through a link", lambda: open("link").read())
attempt("up from here", lambda: open("../../../.." + sys.argv[1] + "/secret.txt").read())
attempt("hard link", lambda: os.link(sys.argv[1] + "/secret.txt", "hard"))
""",
        str(sandbox.home),
    )
    outcome.refused()
    assert SECRET.encode() not in outcome.stdout


def test_reading_private_parts_of_the_system(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
for path in ("/etc/shadow", "/etc/ssh/sshd_config", "/etc/machine-id", "/etc/hostname"):
    attempt(path, lambda: open(path).read())
for path in ("/root", "/home", "/var", "/run", "/var/run", "/var/log", "/boot", "/sys", "/srv"):
    attempt(path, lambda: os.listdir(path))
""")
    outcome.refused()


def test_kernel_settings_cannot_be_written(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger",
             "/proc/sys/vm/overcommit_memory", "/proc/self/uid_map", "/proc/self/oom_score_adj",
             "/proc/1/oom_score_adj", "/proc/acpi/wakeup", "/proc/irq/default_smp_affinity"):
    attempt(path, lambda: os.open(path, os.O_WRONLY))
""")
    outcome.refused()


def test_devices_cannot_be_opened_or_made(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import stat
for name in ("mem", "kmsg", "port", "sda", "vda", "nvme0n1", "tty", "console", "fuse", "kvm",
             "loop-control", "net/tun", "ptmx", "uinput"):
    attempt(name, lambda: os.open("/dev/" + name, os.O_RDWR))
attempt("block device", lambda: os.mknod("disk", 0o600 | stat.S_IFBLK, os.makedev(254, 0)))
attempt("character device", lambda: os.mknod("mem", 0o600 | stat.S_IFCHR, os.makedev(1, 1)))
""")
    outcome.refused()


def test_devices_that_programs_need(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
open("/dev/null", "w").write("x")
print(len(open("/dev/urandom", "rb").read(16)), open("/dev/zero", "rb").read(2))
""")
    assert outcome.lines == ["16 b'\\x00\\x00'"], outcome


def test_shared_memory_of_the_machine(sandbox: Sandbox) -> None:
    planted = Path("/dev/shm") / f"assay-{secrets.token_hex(8)}"
    planted.write_text(SECRET)
    planted.chmod(0o666)
    try:
        outcome = sandbox.python(
            """
attempt("read", lambda: open(sys.argv[1]).read())
attempt("write", lambda: os.open(sys.argv[1], os.O_WRONLY))
attempt("unlink", lambda: os.unlink(sys.argv[1]))
""",
            str(planted),
        )
        outcome.refused()
        assert planted.read_text() == SECRET
    finally:
        planted.unlink()


def test_what_is_written_to_shared_memory_stays_inside(sandbox: Sandbox) -> None:
    name = f"assay-{secrets.token_hex(8)}"
    sandbox.python("attempt('write', lambda: open('/dev/shm/' + sys.argv[1], 'w'))", name)
    assert not (Path("/dev/shm") / name).exists()


def test_temporary_files_of_the_machine(sandbox: Sandbox) -> None:
    name = f"assay-{secrets.token_hex(8)}"
    outcome = sandbox.python(
        """
attempt("write", lambda: open("/tmp/" + sys.argv[1], "w"))
attempt("list", lambda: sorted(os.listdir("/tmp")))
attempt("beside the target", lambda: os.listdir(os.path.dirname(sys.argv[2])))
""",
        name,
        str(sandbox.target),
    )
    assert not (Path("/tmp") / name).exists()
    if sandbox.level == "landlock":
        outcome.refused()
        return
    # Beside what it made there is only the way to what it may read, with nothing beside that.
    seen = [name, sandbox.place.name] if sandbox.place.parent == Path("/tmp") else [name]
    assert outcome.lines[1] == f"list ALLOWED {sorted(seen)!r}", outcome
    assert outcome.lines[2] == "beside the target ALLOWED ['target']", outcome


def test_nothing_passes_from_one_program_to_the_next(sandbox: Sandbox) -> None:
    first = sandbox.python("""
import tempfile
for folder in (os.getcwd(), tempfile.gettempdir(), os.environ["HOME"]):
    open(folder + "/planted", "w").write("planted")
print(os.getcwd())
""")
    second = sandbox.python(
        """
import tempfile
print(os.listdir("."), [name for name in os.listdir(tempfile.gettempdir()) if name == "planted"])
attempt("the folder before", lambda: open(sys.argv[1] + "/planted").read())
""",
        first.lines[0],
    )
    assert second.lines[0] == "[] []", second
    assert second.lines[1] in (
        "the folder before refused ENOENT",
        "the folder before refused EACCES",
    ), second


def test_the_interpreter_cannot_be_changed(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import json
for path in (sys.executable, json.__file__, os.__file__):
    attempt("write", lambda: os.open(path, os.O_WRONLY))
    attempt("mode", lambda: os.chmod(path, 0o777))
    attempt("unlink", lambda: os.unlink(path))
attempt("pth", lambda: open(os.path.dirname(os.__file__) + "/site-packages/x.pth", "w"))
attempt("custom", lambda: open(os.path.dirname(os.__file__) + "/sitecustomize.py", "w"))
""")
    outcome.refused()


def test_a_handle_does_not_open_what_a_path_does_not(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import platform
make, open_ = {"x86_64": (303, 304), "aarch64": (264, 265)}[platform.machine()]
handle = ctypes.create_string_buffer(136)
ctypes.c_uint.from_buffer(handle).value = 128
mount = ctypes.c_int()
attempt("make", lambda: call(make, -100, ctypes.c_char_p(b"/"), handle, ctypes.byref(mount), 0))
attempt("open", lambda: call(open_, -100, handle, os.O_RDONLY))
""")
    outcome.refused()
