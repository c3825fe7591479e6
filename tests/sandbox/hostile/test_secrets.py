"""Programs that look for what their parents know."""

from __future__ import annotations

import os

from tests.sandbox.hostile.support import SECRET, Sandbox


def test_environment_is_empty(sandbox: Sandbox) -> None:
    outcome = sandbox.python("print(sorted(os.environ)); print(open('/proc/self/environ').read())")
    assert outcome.lines[0] == "['HOME', 'LANG', 'PATH', 'TMPDIR']", outcome
    assert SECRET.encode() not in outcome.stdout


def test_environment_of_every_other_process(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
for process in [str(number) for number in range(1, 40)] + sys.argv[1:-1]:
    if int(process) != os.getpid():
        for name in ("environ", "maps", "mem", "auxv"):
            attempt(f"{process}/{name}", lambda: open(f"/proc/{process}/{name}", "rb").read(9999))
""",
        str(sandbox.driver),
        str(os.getpid()),
        str(os.getppid()),
    )
    outcome.refused()
    assert SECRET.encode() not in outcome.stdout


def test_other_processes_are_not_described(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
attempt("command line", lambda: open(f"/proc/{sys.argv[1]}/cmdline").read())
attempt("status", lambda: open(f"/proc/{sys.argv[1]}/status").read())
attempt("descriptors", lambda: os.listdir(f"/proc/{sys.argv[1]}/fd"))
attempt("root", lambda: os.listdir(f"/proc/{sys.argv[1]}/root"))
attempt("folder", lambda: os.listdir(f"/proc/{sys.argv[1]}/cwd/"))
""",
        str(sandbox.driver),
    )
    outcome.refused()


def test_only_its_own_processes_are_listed(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        "attempt('list', lambda: [name for name in os.listdir('/proc') if name.isdigit()])"
    )
    if sandbox.level == "landlock":
        outcome.refused()
    else:
        assert outcome.lines == ["list ALLOWED ['1', '2']"], outcome


def test_the_way_out_through_the_first_process(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
for name in ("root", "cwd"):
    attempt(name, lambda: os.listdir(f"/proc/1/{name}/"))
    attempt(f"{name} and down", lambda: open(f"/proc/1/{name}{sys.argv[1]}/secret.txt").read())
attempt("descriptors", lambda: os.listdir("/proc/1/fd"))
attempt("executable", lambda: open("/proc/1/exe", "rb"))
""",
        str(sandbox.home),
    )
    outcome.refused()


def test_no_descriptor_is_inherited(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import stat
kinds = []
for number in range(1024):
    try:
        kinds.append((number, stat.S_ISFIFO(os.fstat(number).st_mode)))
    except OSError:
        pass
print(kinds)
""")
    assert outcome.lines == ["[(0, True), (1, True), (2, True)]"], outcome


def test_standard_streams_lead_nowhere_else(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
for number in (0, 1, 2):
    attempt("ioctl", lambda: __import__("fcntl").ioctl(number, 0x5412, b"x"))
    attempt("terminal", lambda: os.ttyname(number))
attempt("controlling terminal", lambda: os.open("/dev/tty", os.O_RDWR))
""")
    outcome.refused()


def test_memory_of_the_parent(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
import platform
numbers = {"x86_64": (101, 310, 311), "aarch64": (117, 270, 271)}[platform.machine()]
class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
buffer = ctypes.create_string_buffer(64)
here, there = Piece(ctypes.addressof(buffer), 64), Piece(0x400000, 64)
for process in {os.getppid(), 1, int(sys.argv[1])}:
    attempt("attach", lambda: call(numbers[0], 16, process, 0, 0))
    attempt("seize", lambda: call(numbers[0], 0x4206, process, 0, 0))
    for number in numbers[1:]:
        attempt("move", lambda: call(number, process, ctypes.byref(here), 1,
                                     ctypes.byref(there), 1, 0))
""",
        str(sandbox.driver),
    )
    outcome.refused()


def test_descriptors_of_the_parent(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
for process in {os.getppid() or 1, int(sys.argv[1])}:
    def steal():
        handle = os.pidfd_open(process)
        return call(438, handle, 0, 0)
    attempt("steal", steal)
""",
        str(sandbox.driver),
    )
    outcome.refused()


def test_kernel_keys(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import platform
numbers = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}[platform.machine()]
text = ctypes.c_char_p
attempt("add", lambda: call(numbers[0], text(b"user"), text(b"x"), text(b"y"), 1, -4))
attempt("request", lambda: call(numbers[1], text(b"user"), text(b"x"), text(None), -4))
attempt("list", lambda: call(numbers[2], 0, -4, 0))
""")
    outcome.refused()
