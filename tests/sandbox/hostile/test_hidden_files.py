"""Programs that put their files where the size of a folder does not show them."""

from __future__ import annotations

import pytest

from tests.sandbox.hostile.support import SMALL, Sandbox

PUT = """
import time
def put(file):
    for _ in range(6):
        os.write(file, bytes(1 << 20))
"""
# Each writes 6 MB into a file that then has no name, so that three exceed what SMALL allows.
UNNAMED = {
    "unlinked": """
def hide(number):
    file = os.open(f"file{number}", os.O_CREAT | os.O_RDWR, 0o600)
    os.unlink(f"file{number}")
    put(file)
""",
    "never linked": """
def hide(number):
    file = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)
    put(file)
""",
    "held by a process that was left behind": """
def hide(number):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            file = os.open(f"file{number}", os.O_CREAT | os.O_RDWR, 0o600)
            os.unlink(f"file{number}")
            put(file)
            time.sleep(600)
        os._exit(0)
    os.wait()
""",
    "held by children of a thread": """
import threading
def hide(number):
    def keep():
        child = os.fork()
        if child == 0:
            file = os.open(f"file{number}", os.O_CREAT | os.O_RDWR, 0o600)
            os.unlink(f"file{number}")
            put(file)
            time.sleep(600)
        os.waitpid(child, 0)
    threading.Thread(target=keep, daemon=True).start()
""",
}
WAIT = """
for number in range(4):
    hide(number)
time.sleep(8)
print("survived", flush=True)
"""


@pytest.mark.parametrize("way", UNNAMED)
def test_files_without_a_name_count_as_work(sandbox: Sandbox, way: str) -> None:
    outcome = sandbox.python(PUT + UNNAMED[way] + WAIT)
    if sandbox.level == "landlock":
        assert outcome.limit == "work_size", outcome
        assert b"survived" not in outcome.stdout
    else:
        # The file system of a namespace refuses to grow.
        assert b"No space left" in outcome.stderr or outcome.limit == "work_size", outcome


def _only_where_folders_are_measured(sandbox: Sandbox) -> None:
    if sandbox.level == "namespaces":
        pytest.skip("a file system of its own holds no more, wherever files are hidden in it")


def test_many_files_that_are_only_mapped_count_as_work(sandbox: Sandbox) -> None:
    _only_where_folders_are_measured(sandbox)
    outcome = sandbox.python("""
import mmap, time
maps = []
for number in range(20):
    with open(f"file{number}", "w+b") as file:
        file.write(bytes(1 << 20))
        file.flush()
        maps.append(mmap.mmap(file.fileno(), 4096))
    os.unlink(f"file{number}")
    # The module keeps a descriptor of its own.
for number in range(3, 64):
    try:
        os.close(number)
    except OSError:
        pass
time.sleep(8)
print("survived", flush=True)
""")
    assert outcome.limit == "work_size", outcome


def test_files_in_flight_between_sockets_count_as_work(sandbox: Sandbox) -> None:
    _only_where_folders_are_measured(sandbox)
    outcome = sandbox.python("""
import array, socket, time
left, right = socket.socketpair()
for number in range(4):
    file = os.open(f"file{number}", os.O_CREAT | os.O_RDWR, 0o600)
    os.unlink(f"file{number}")
    os.write(file, bytes(6 << 20))
    rights = array.array("i", [file])
    left.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
    os.close(file)
time.sleep(8)
print("survived", flush=True)
""")
    assert outcome.limit == "work_size", outcome


def test_a_process_cannot_hide_what_it_holds(sandbox: Sandbox) -> None:
    _only_where_folders_are_measured(sandbox)
    outcome = sandbox.python("""
import platform
number = {"x86_64": (157, 56), "aarch64": (167, 220)}[platform.machine()]
attempt("dumpable", lambda: call(number[0], 4, 0, 0, 0, 0))
files_of_its_own = 0x100 | 0x800 | 0x10000
attempt("thread", lambda: call(number[1], files_of_its_own, 0, 0, 0, 0))
attempt("files of its own later", lambda: call(436, 1000, 2000, 2))
""")
    outcome.refused()
    # The kernel shows nothing of a process whose program cannot be read.
    outcome = sandbox.python("""
import time
program = os.open("program", os.O_CREAT | os.O_WRONLY, 0o100)
with open("/usr/bin/sleep", "rb") as source:
    os.write(program, source.read())
os.close(program)
for number in range(4):
    file = os.open(f"file{number}", os.O_CREAT | os.O_RDWR, 0o600)
    os.unlink(f"file{number}")
    os.write(file, bytes(6 << 20))
    os.set_inheritable(file, True)
os.execv("./program", ["sleep", "8"])
""")
    assert outcome.limit == "work_size", outcome


@pytest.mark.parametrize("mode", ["0o300", "0o400", "0o100", "0o000"])
def test_files_in_closed_folders_count_as_work(sandbox: Sandbox, mode: str) -> None:
    _only_where_folders_are_measured(sandbox)
    outcome = sandbox.python(f"""
import time
mode = {mode}
try:
    os.mkdir("closed")
    closing = os.open("closed", os.O_RDONLY)
    os.fchmod(closing, 0o700)
except PermissionError:
    if mode != 0o300:
        os._exit(7)  # nothing could be put into it
    os.rmdir("closed")
    os.mkdir("closed", mode)
    closing = None
for number in range(4):
    with open(f"closed/file{{number}}", "wb") as file:
        file.write(bytes(6 << 20))
if closing is not None:
    os.fchmod(closing, mode)
time.sleep(8)
print("survived", flush=True)
""")
    assert outcome.limit == "work_size" or outcome.exit_status == 7, outcome
    assert sandbox.user == "user" or outcome.limit == "work_size", outcome


def test_folders_and_long_names_count_as_work(sandbox: Sandbox) -> None:
    _only_where_folders_are_measured(sandbox)
    outcome = sandbox.python("""
import time
for number in range(15_000):
    os.mkdir(f"{number:05}" + "x" * 240)
time.sleep(8)
print("survived", flush=True)
""")
    assert outcome.limit == "work_size", outcome


def test_a_file_with_many_names_counts_once(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import time
with open("file", "wb") as file:
    file.write(bytes(4 << 20))
for number in range(20):
    os.link("file", f"link{number}")
time.sleep(0.5)
print("survived", flush=True)
""")
    assert outcome.lines == ["survived"], outcome
    assert outcome.limit is None


def test_memory_files_are_counted_or_not_to_be_had(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import time
held = []
try:
    for number in range(60):
        file = os.memfd_create("filler")
        os.write(file, bytes(8 << 20))
        held.append(file)
except OSError as error:
    print("refused", errno.errorcode[error.errno], len(held), flush=True)
    os._exit(0)
print("survived", flush=True)
""")
    assert outcome.limit == "memory" or outcome.lines == ["refused ENOSYS 0"], outcome
    assert SMALL["memory"] < 60 * (8 << 20)


def test_shared_memory_segments_are_counted_or_not_to_be_had(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import platform
get, attach, detach = {"x86_64": (29, 30, 67), "aarch64": (194, 196, 197)}[platform.machine()]
libc.syscall.restype = ctypes.c_long
try:
    for number in range(60):
        segment = call(get, 0, 8 << 20, 0o1600)
        place = call(attach, segment, 0, 0)
        ctypes.memset(place, 1, 8 << 20)
        call(detach, place)
except OSError as error:
    print("refused", number, flush=True)
    os._exit(0)
print("survived", flush=True)
""")
    assert outcome.limit == "memory" or outcome.lines == ["refused 0"], outcome
