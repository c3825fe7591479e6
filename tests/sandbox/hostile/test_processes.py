"""Programs that turn against other processes, or against what watches over them."""

from __future__ import annotations

import os

import pytest

from tests.sandbox.hostile.support import Sandbox


def test_signals_to_the_outside(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
import signal
for process in sys.argv[1:-1]:
    attempt("kill", lambda: os.kill(int(process), signal.SIGKILL))
    attempt("probe", lambda: os.kill(int(process), 0))
    attempt("group", lambda: os.killpg(int(process), signal.SIGTERM))
    attempt("handle", lambda: signal.pidfd_send_signal(os.pidfd_open(int(process)), 9))
""",
        str(sandbox.driver),
        str(os.getpid()),
    )
    outcome.refused()
    assert sandbox.run(["true"]).exit_status == 0


def test_signals_to_the_parent(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import signal, time
for number in (signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL, signal.SIGINT, signal.SIGCHLD):
    for process in (1, os.getppid()):
        try:
            if process:
                os.kill(process, number)
        except OSError:
            pass
time.sleep(0.1)
print("still here")
""")
    assert outcome.lines == ["still here"], outcome
    assert sandbox.run(["true"]).exit_status == 0


def test_signal_to_everybody(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import signal
try:
    os.kill(-1, signal.SIGKILL)
except OSError:
    pass
print("done")
""")
    assert outcome.lines in (["done"], []), outcome
    assert sandbox.run(["true"]).exit_status == 0
    os.kill(sandbox.driver, 0)


def test_signals_among_its_own_work(sandbox: Sandbox) -> None:
    if not sandbox.can_signal_its_own():
        pytest.skip("needs Landlock of Linux 6.12")
    outcome = sandbox.python("""
import subprocess
child = subprocess.Popen(["sleep", "60"])
child.terminate()
print(child.wait())
""")
    assert outcome.lines == ["-15"], outcome


def test_limits_and_priorities_of_others(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
import resource
for process in [int(item) for item in sys.argv[1:-1]]:
    attempt("limit", lambda: resource.prlimit(process, resource.RLIMIT_CPU, (1, 1)))
    attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, process, 19))
    attempt("processors", lambda: os.sched_setaffinity(process, {0}))
    attempt("scheduler", lambda: os.sched_setscheduler(process, os.SCHED_IDLE, os.sched_param(0)))
""",
        str(sandbox.driver),
        str(os.getpid()),
    )
    outcome.refused()
    assert os.getpriority(os.PRIO_PROCESS, os.getpid()) < 19
    assert os.getpriority(os.PRIO_PROCESS, sandbox.driver) < 19


def test_priority_of_the_whole_user(sandbox: Sandbox) -> None:
    before = os.getpriority(os.PRIO_PROCESS, sandbox.driver)
    sandbox.python("attempt('user', lambda: os.setpriority(os.PRIO_USER, 0, 19))")
    assert os.getpriority(os.PRIO_PROCESS, sandbox.driver) == before
    assert sandbox.run(["nice"]).stdout == b"%d\n" % before


def test_shared_memory_segments_do_not_stay(sandbox: Sandbox) -> None:
    source = """
import platform
number = {"x86_64": 29, "aarch64": 194}[platform.machine()]
attempt("segment", lambda: call(number, 0x6173, 4096, 0o1666))
attempt("again", lambda: call(number, 0x6173, 4096, 0o666) and 0)
"""
    first = sandbox.python(source)
    second = sandbox.python(source.replace("0o1666", "0o666"))
    assert first.exit_status == second.exit_status == 0, (first, second)
    assert second.lines[0].startswith("segment refused E"), (first, second)


def test_tracing_its_own_child_is_refused_too(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import platform
number = {"x86_64": 101, "aarch64": 117}[platform.machine()]
attempt("trace me", lambda: call(number, 0, 0, 0, 0))
""")
    outcome.refused()


def test_pretending_to_be_the_worker(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
answer = b'{"ending": [0, null, 0, 0, 0], "files": [], "left": []}'
for number in range(3, 64):
    try:
        os.write(number, answer)
        print("wrote to", number)
    except OSError:
        pass
os._exit(9)
""")
    assert outcome.exit_status == 9, outcome
    assert outcome.lines == []


def test_crash_is_its_own(sandbox: Sandbox) -> None:
    outcome = sandbox.python("ctypes.string_at(0)")
    assert outcome.exit_status == -11, outcome
    assert sandbox.run(["true"]).exit_status == 0
