"""Programs that try to make their own failure look like one of the machine: none of them can.

Whatever a program does, its result is a result of its own, and the next program in the same
sandbox runs as if nothing had happened.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.sandbox.hostile.support import Sandbox

# A process that is the child of this one's parent, so that nobody here can wait for it.
SIBLING = """
import platform
number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
def sibling():
    if call(number, 0x8000 | 17, 0, 0, 0, 0) == 0:
        while True: os.read(os.pipe()[0], 1)
attempt("sibling", sibling)
"""
# Each process lives for one fork only, so that whoever wants to kill it comes too late.
RUNNERS = """
import signal
for number in range(12):
    if os.fork() == 0:
        if number % 2: os.setsid()
        for stream in range(3): os.close(stream)
        while True:
            try:
                if os.fork(): os._exit(0)
            except OSError: pass
"""
FOLDERS = """
for number in range(3):
    if os.fork() == 0: break
count = 0
while True:
    os.mkdir(f"{os.getpid()}-{count}" + 200 * "x"); count += 1
"""
LINKS = """
open("0", "w").close()
count = 0
while True:
    count += 1
    try: os.link("0", str(count))
    except OSError: open(str(count), "w").close()
"""
SHARED_MEMORY = """
libc.shmat.restype = ctypes.c_void_p
libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
with open("a.txt", "wb") as file: file.write(bytes(range(256)) * 4000)
for _ in range(60):
    number = libc.shmget(0, 4 << 20, 0o1600)
    if number == -1: break
    ctypes.memset(libc.shmat(number, None, 0), 1, 4 << 20)
"""
STREAMS_IN_FLIGHT = """
import array, socket
one, two = socket.socketpair()
held = array.array("i", [1, 2, one.fileno(), two.fileno()])
one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, held)])
"""
CLOSED = """
open("a.txt", "w").close()
os.mkdir("folder", 0)
try: os.chmod(".", 0)
except OSError: pass
"""
CLOSED_ABOVE = """
import time
for path in ("..", os.environ["TMPDIR"]):
    try: os.chmod(path, 0)
    except OSError: pass
time.sleep(0.5)
"""
ATTACKS = {
    "sibling": SIBLING,
    "runners": RUNNERS,
    "folders": FOLDERS,
    "links": LINKS,
    "shared memory": SHARED_MEMORY,
    "streams in flight": STREAMS_IN_FLIGHT,
    "closed": CLOSED,
    "closed above": CLOSED_ABOVE,
    "own group": "import signal\nos.kill(0, signal.SIGKILL)",
    "stopped": "import signal\nfor number in range(3): os.fork()\nos.kill(0, signal.SIGSTOP)",
    "streams": "os.closerange(0, 3)\nos.open('/dev/null', os.O_RDWR)\nos.abort()",
    "names": "os.mkdir(b'\\xff\\xfe')\nopen(b'\\xff\\xfe/\\xed\\xa0\\x80\\n.txt', 'w').close()",
    "own folder": "import shutil\nshutil.rmtree(os.environ['TMPDIR'], True)\nos.rmdir(os.getcwd())",
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_program_can_make_its_failure_the_machines(sandbox: Sandbox, attack: str) -> None:
    options: dict[str, Any] = {"collect": ("a.txt", "**/*.txt")}
    outcome = sandbox.python(ATTACKS[attack], **options, limits={"wall_time": 5.0})
    assert outcome.error is None, outcome.text
    after = sandbox.python("print('still here')", limits={"wall_time": 5.0})
    assert after.lines == ["still here"], after
