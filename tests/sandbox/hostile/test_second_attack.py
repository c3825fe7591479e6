"""A second round of attacks, made without looking at what held back the first."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import subprocess
from pathlib import Path
from typing import Any

import pytest

from assay.sandbox import Limits
from assay.sandbox.isolation import available_levels, probe
from assay.sandbox.jail import processes
from assay.sandbox.programs import ProgramResult, Programs
from tests.sandbox.hostile.support import (
    ORDINARY_USER,
    SOURCE,
    Sandbox,
    command_lines,
    python_folders,
    reachable_python,
    run_in_worker,
)
from tests.waiting import PATIENCE

# Whatever the kernel counts for the user who runs Assay, taken until there is no more.
TIMERS = """
count = 0
while count < 20_000 and libc.timer_create(1, None, ctypes.byref(ctypes.c_int())) == 0:
    count += 1
print(count)
"""
WATCHES = """
count = 0
while libc.inotify_init1(0) >= 0:
    count += 1
print(count)
"""
QUEUES = """
count = 0
import platform
number = {"x86_64": 240, "aarch64": 180}[platform.machine()]
while count < 100:
    try: os.close(call(number, f"queue{count}".encode(), os.O_CREAT | os.O_RDWR, 0o600, 0))
    except OSError: break
    count += 1
print(count)
"""
OF_THE_USER = {"timers": (TIMERS, 4096), "watches": (WATCHES, 32), "queues": (QUEUES, 4)}


@pytest.mark.parametrize("what", OF_THE_USER)
def test_a_program_leaves_the_user_most_of_what_is_counted_for_the_user(
    sandbox: Sandbox, what: str
) -> None:
    attack, most = OF_THE_USER[what]
    outcome = sandbox.python(attack, limits={"open_files": 400})
    assert outcome.stderr == b"", outcome
    assert int(outcome.lines[0]) <= most


def test_a_pair_of_sockets_takes_no_name_of_the_machine(sandbox: Sandbox) -> None:
    name = f"assay-tests-{secrets.token_hex(8)}"
    attack = f"""
import socket
one, two = socket.socketpair()
attempt("name", lambda: one.bind("\\0{name}"))
attempt("any name", lambda: two.bind(""))
attempt("path", lambda: socket.socketpair()[0].bind("path"))
"""
    outcome = sandbox.python(attack)
    if sandbox.level == "landlock":
        outcome.refused()
    else:  # names of a network of its own
        assert "name ALLOWED None" in outcome.lines


# Refused by the kernel at both levels; the marker of each is the process that runs the sandbox.
REFUSED = {
    "signals of descriptors": """
import fcntl, signal, struct
owner = int(sys.argv[1])
def send(request, value):
    reading, writing = os.pipe()
    fcntl.fcntl(reading, request, value)
    fcntl.fcntl(reading, 10, int(signal.SIGKILL))
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writing, b"x")
for request, value in ((8, owner), (8, -owner), (15, struct.pack("ii", 0, owner)),
                       (15, struct.pack("ii", 1, owner)), (15, struct.pack("ii", 2, owner))):
    try: send(request, value)
    except OSError: pass
attempt("done", lambda: os.kill(owner, 0))
""",
    "files of processes": """
def write(path, text):
    with open(path, "w") as file: file.write(text)
for path, text in (("/proc/sys/kernel/core_pattern", "|/bin/false"),
                   ("/proc/self/oom_score_adj", "-1000"), ("/proc/self/uid_map", "0 0 1"),
                   ("/proc/sysrq-trigger", "h"), ("/proc/sys/kernel/hostname", "other"),
                   ("/proc/1/oom_score_adj", "1000"),
                   ("/proc/self/timens_offsets", "monotonic 1 0"),
                   (f"/proc/{os.getppid()}/comm", "other"), ("/proc/self/loginuid", "0")):
    attempt(path, lambda: write(path, text))
""",
    "devices": """
for name in ("kmsg", "ptmx", "pts/ptmx", "fuse", "net/tun", "loop-control", "kvm", "mem", "vsock",
             "userfaultfd", "mapper/control", "console", "uinput", "vhost-net", "udmabuf"):
    attempt(name, lambda: os.open(f"/dev/{name}", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK))
""",
    "own rights": """
for name, arguments in {"secure bits": (28, 0x2f), "ambient": (47, 2, 21, 0, 0),
                        "privileges": (38, 0, 0, 0, 0), "memory map": (35, 1, 1 << 16, 0, 0),
                        "flusher": (57, 1, 0, 0, 0), "bounds": (24, 0, 0, 0, 0)}.items():
    def ask():
        if libc.prctl(*[ctypes.c_ulong(one) for one in arguments]) != 0:
            # What the kernel finds nonsense here is refused as well.
            raise OSError({errno.EINVAL: errno.EPERM}.get(code := ctypes.get_errno(), code), "")
    attempt(name, ask)
""",
    "one file in place of another": """
number = {"x86_64": 316, "aarch64": 276}[__import__("platform").machine()]
open("own", "w").close()
attempt("exchange", lambda: call(number, -100, b"own", -100, b"/usr/bin/env", 2))
attempt("attribute", lambda: os.setxattr(".", "trusted.overlay.opaque", b"y"))
attempt("shared", lambda: __import__("mmap").mmap(os.open("/usr/bin/env", os.O_RDONLY), 4096))
""",
}


@pytest.mark.parametrize("attack", REFUSED)
def test_the_kernel_refuses(sandbox: Sandbox, attack: str) -> None:
    sandbox.python(REFUSED[attack], str(sandbox.driver)).refused()
    assert sandbox.python("print('still here')").lines == ["still here"]


# Each ends the program or its result in another way; none of them is the machine's fault.
OWN_FAULT = {
    "times": """
import struct
for name in ("a.txt", "b.txt"):
    open(name, "w").close()
    libc.utimensat(-100, name.encode(), struct.pack("qqqq", -2**60, 0, 2**61, 0), 0)
""",
    "streams made small and taken over": """
import fcntl
for stream in range(3):
    for request, value in ((4, os.O_NONBLOCK | os.O_ASYNC), (1031, 4096), (8, os.getppid())):
        try: fcntl.fcntl(stream, request, value)
        except OSError: pass
    try: os.open(f"/proc/self/fd/{stream}", os.O_RDWR)
    except OSError: pass
""",
    "folders in flight": """
import array, socket
for _ in range(8):
    one, two = socket.socketpair()
    held = array.array("i", [os.open(".", os.O_RDONLY), one.fileno(), two.fileno()])
    one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, held)])
""",
    "the signal of a limit": "import signal\nos.kill(os.getpid(), signal.SIGXCPU)",
    "a status that looks like the sandbox's": "os._exit(125)",
    "no memory given back": """
import mmap
area = mmap.mmap(-1, 1 << 38, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
for place in range(0, 1 << 38, 1 << 21): area[place]
""",
}


@pytest.mark.parametrize("attack", OWN_FAULT)
def test_a_program_that_does_this_has_failed_by_itself(sandbox: Sandbox, attack: str) -> None:
    outcome = sandbox.python(OWN_FAULT[attack], collect=("*.txt",), stdin=b"x" * 100_000)
    assert outcome.error is None, outcome.text
    assert outcome.limit != "work_size", outcome
    assert sandbox.python("print('still here')").lines == ["still here"]


HOG = """
def score():
    with open("/proc/self/oom_score_adj") as file: return int(file.read())
while score() != 0: pass
held = []
while True: held.append(bytearray(b"x") * (4 << 20))
"""


@pytest.mark.parametrize("level", ["namespaces", "landlock"])
def test_a_worker_that_ends_because_its_program_has_used_up_the_memory_is_the_programs_fault(
    level: str,
) -> None:
    if level not in available_levels(probe()):
        pytest.skip(f"this machine has no level {level}")
    layers = {layer.name: layer for layer in probe()}
    if os.geteuid() != 0 or not layers["control groups"].available:
        pytest.skip("only root can have the kernel choose the worker, in a control group")
    outcome, after = asyncio.run(_run_hog(level))
    assert outcome.limit == "memory"
    assert after.stdout == b"still here\n"


async def _run_hog(level: str) -> tuple[ProgramResult, ProgramResult]:
    marker = f"hostile-{secrets.token_hex(8)}"
    python = [str(reachable_python()), "-I", "-c"]
    binds = [(folder, folder, False) for folder in python_folders()]
    limits = Limits(memory=128 << 20, wall_time=60)
    async with Programs(isolation=level, limits=limits, binds=binds) as programs:
        await programs.run([*python, "pass"])
        supervisor = programs._pool.idle[0].pid
        running = asyncio.create_task(programs.run([*python, HOG, marker]))
        while not running.done():
            if hogs := [line.partition(":")[0] for line in command_lines(marker)]:
                # The kernel would choose the program; have it choose the worker.
                for process in processes.descendants(supervisor):
                    _set_score(str(process), 0 if str(process) in hogs else 1000)
            await asyncio.sleep(0.05)
        return await running, await programs.run([*python, "print('still here')"])


def _set_score(process: str, score: int) -> None:
    with contextlib.suppress(OSError):
        Path(f"/proc/{process}/oom_score_adj").write_text(str(score))


# The first process of a namespace cannot end before one that somebody else has to reap. Until then
# it is there, ends, and cannot be looked at.
ENDING = """
import ctypes, importlib, os, signal, sys, time
sys.path.insert(0, sys.argv[1])
import start
start.load()
processes = importlib.import_module("assay_jail.processes")
if ctypes.CDLL(None).unshare(0x10000000 | 0x20000000):
    sys.exit("no namespaces")
first, other = [os.fork() or signal.pause() for _ in range(2)]
os.kill(first, signal.SIGKILL)
os.waitid(os.P_PID, other, os.WEXITED | os.WNOWAIT)
for _ in range(20):
    seen = processes.measure_unnamed(os.getpid(), ("/tmp",), 1)
    assert os.path.exists(f"/proc/{first}/task")
    print(seen.is_hidden)
    time.sleep(0.01)
os.waitpid(other, 0)
"""


def test_a_process_that_is_ending_hides_nothing(open_place: Path) -> None:
    inside = open_place / "inside"
    inside.mkdir()
    for path in (SOURCE / "sandbox" / "jail").glob("*.py"):
        (inside / path.name).write_bytes(path.read_bytes())
    user: dict[str, Any] = (
        {"user": ORDINARY_USER, "group": ORDINARY_USER} if os.geteuid() == 0 else {}
    )
    answer = subprocess.run(
        [reachable_python(), "-B", "-I", "-S", "-c", ENDING, inside],
        capture_output=True, text=True, timeout=PATIENCE, check=False, **user,
    )  # fmt: skip
    if "no namespaces" in answer.stderr:
        pytest.skip("this user cannot make namespaces")
    assert answer.stderr == ""
    assert answer.stdout.split()[-1] == "False", answer.stdout


# Code of a target, as it is imported: it takes what it can get, and says how much that was.
GREEDY = """
spec["level"] = "LEVEL"
spec["limits"].update(memory=192 << 20, processes=8, file_size=1 << 20)
jail.enter(spec)
jail.limit_worker()
import mmap, resource
def take(memory):
    try:
        while len(memory) < 128: memory.append(bytearray(8 << 20))
    except MemoryError: pass
    return 8 * len(memory)
if jail._worker.group is None: print("memory", take([]), flush=True)
count = 0
try:
    while count < 1000:
        if os.fork() == 0: os.execv("/bin/sleep", ["sleep", "20"])
        count += 1
except OSError: pass
print("processes", count, flush=True)
file = os.open(f"{jail.work_folder()}/large", os.O_CREAT | os.O_WRONLY)
for _ in range(8):
    try: os.write(file, bytes(1 << 20))
    except OSError: pass
print("file", os.fstat(file).st_size >> 20, flush=True)
print("core", resource.getrlimit(resource.RLIMIT_CORE)[1], flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("user", ["root", "user"])
@pytest.mark.parametrize("level", ["namespaces", "landlock"])
def test_what_a_target_takes_while_it_is_imported_is_bounded(
    level: str, user: str, open_place: Path
) -> None:
    if level not in available_levels(probe()):
        pytest.skip(f"this machine has no level {level}")
    outcome = run_in_worker(GREEDY.replace("LEVEL", level), open_place, user, {})
    taken = dict(line.split() for line in outcome.lines)
    assert int(taken.get("memory", 0)) <= 192, outcome
    assert 0 < int(taken["processes"]) < 500, outcome
    assert taken["file"] == "1", outcome
    assert taken["core"] == "0", outcome
