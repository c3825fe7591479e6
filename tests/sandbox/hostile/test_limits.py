"""Programs that want more than they may have: each is held or ended, and nothing of it stays."""

from __future__ import annotations

import pytest

from tests.sandbox.hostile.support import SMALL, Sandbox
from tests.waiting import PATIENCE

MIB = 1 << 20


def test_fork_bomb_is_held(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import time
made = 0
try:
    while made < 500:
        if os.fork() == 0:
            time.sleep(600)
        made += 1
except BlockingIOError:
    print(made, flush=True)
""")
    assert outcome.exit_status == 0, outcome
    assert int(outcome.lines[0]) <= SMALL["processes"]


def test_exponential_fork_bomb_is_ended(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
while True:
    try:
        os.fork()
        os.setsid()
    except OSError:
        pass
""",
        limits={"wall_time": 1.0},
    )
    assert outcome.limit in ("wall_time", "processes"), outcome
    assert outcome.exit_status < 0


def test_bomb_that_goes_on_after_its_parent(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import time
def bomb():
    os.setsid()
    for _ in range(200):
        try:
            if os.fork() == 0:
                os.setsid()
        except OSError:
            pass
    time.sleep(600)
for _ in range(3):
    try:
        if os.fork() == 0:
            bomb()
    except OSError:
        pass
os._exit(0)
""")
    assert outcome.exit_status == 0, outcome
    assert outcome.wall_time < PATIENCE


def test_thread_bomb_is_held(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import threading, time
made = 0
try:
    while made < 500:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        made += 1
except RuntimeError:
    print(made, flush=True)
os._exit(0)
""")
    assert int(outcome.lines[0]) <= SMALL["processes"], outcome


@pytest.mark.parametrize(
    "source",
    [
        "held = [bytearray(16 << 20) for _ in range(64)]",
        """
import mmap
area = mmap.mmap(-1, 8 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for place in range(0, 8 << 30, 4096):
    area[place] = 1
""",
        """
import mmap
areas, filling = [], bytes(32 << 20)
while len(areas) < 1000:
    areas.append(mmap.mmap(-1, 256 << 20))
    areas[-1].write(filling)
""",
        """
while True:
    file = os.memfd_create("filler")
    for _ in range(8):
        os.write(file, bytes(1 << 20))
""",
    ],
    ids=["allocations", "private pages", "shared pages", "memory files"],
)
def test_memory_bomb_is_ended(sandbox: Sandbox, source: str) -> None:
    outcome = sandbox.python(f"{source}\nprint('survived', flush=True)\n")
    assert outcome.exit_status != 0, outcome
    assert b"survived" not in outcome.stdout
    # Where there are no control groups, only what is mapped counts, and each process for itself.
    assert outcome.peak_memory <= 3 * SMALL["memory"] + (2 << 30)
    if sandbox.user == "root":
        assert outcome.limit == "memory", outcome
        assert outcome.peak_memory <= SMALL["memory"] + 16 * MIB


def test_disk_filler_is_stopped(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
for number in range(100):
    with open(f"filler{number}", "wb") as file:
        for _ in range(4):
            file.write(bytes(1 << 20))
    import time; time.sleep(0.05)
print("survived", flush=True)
""")
    assert outcome.limit == "work_size", outcome
    assert b"survived" not in outcome.stdout


def test_temporary_folders_count_as_work(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import tempfile, time
for number in range(100):
    with open(os.path.join(tempfile.gettempdir(), f"filler{number}"), "wb") as file:
        file.write(bytes(2 << 20))
    time.sleep(0.05)
print("survived", flush=True)
""")
    assert outcome.limit == "work_size", outcome
    assert b"survived" not in outcome.stdout


def test_many_small_files_are_removed(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
try:
    for number in range(1000):
        open(f"small{number}", "w").close()
except OSError:
    pass
print("done")
""")
    assert outcome.lines == ["done"], outcome


def test_file_larger_than_allowed(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
with open("large", "wb", buffering=0) as file:
    while True:
        file.write(bytes(1 << 20))
""")
    assert outcome.exit_status != 0, outcome
    assert outcome.stderr.endswith(b"File too large\n") or outcome.limit == "file_size"


def test_sparse_file_larger_than_allowed(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
file = os.open("sparse", os.O_CREAT | os.O_RDWR)
attempt("truncate", lambda: os.ftruncate(file, 1 << 40))
attempt("write at the end", lambda: os.pwrite(file, b"x", 1 << 40))
""")
    outcome.refused()


def test_sparse_file_is_not_brought_back_as_zeros(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        "os.ftruncate(os.open('sparse', os.O_CREAT | os.O_RDWR), 8 << 20)", collect=("*",)
    )
    assert outcome.files == {}, outcome
    assert "more than may be brought back" in outcome.left["sparse"]


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output_flood_is_cut_in_the_middle(sandbox: Sandbox, stream: str) -> None:
    outcome = sandbox.python(f"""
stream = sys.{stream}.buffer
stream.write(b"first")
for _ in range(3000):
    stream.write(b"x" * 10_000)
stream.write(b"last")
""")
    kept: bytes = getattr(outcome, stream)
    assert outcome.exit_status == 0, outcome
    assert kept.startswith(b"first")
    assert kept.endswith(b"last")
    missing = 30_000_009 - SMALL["output"]
    assert outcome.cut == {stream: missing}
    assert b"[... %d bytes cut ...]" % missing in kept
    assert len(kept) < SMALL["output"] + 100


def test_endless_output_ends_with_the_time(sandbox: Sandbox) -> None:
    outcome = sandbox.run(["yes", sandbox.marker], limits={"wall_time": 0.5})
    assert outcome.limit == "wall_time", outcome
    assert outcome.timed_out


def test_infinite_loop_uses_up_its_processor_time(sandbox: Sandbox) -> None:
    outcome = sandbox.python("while True: pass", limits={"cpu_time": 1})
    assert outcome.limit == "cpu_time", outcome
    assert outcome.timed_out


def test_infinite_loop_that_catches_the_warning(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
import signal
signal.signal(signal.SIGXCPU, signal.SIG_IGN)
while True: pass
""",
        limits={"cpu_time": 1, "wall_time": PATIENCE},
    )
    assert outcome.limit == "cpu_time", outcome


def test_sleeper_is_ended(sandbox: Sandbox) -> None:
    outcome = sandbox.python("import time; time.sleep(600)", limits={"wall_time": 0.5})
    assert outcome.limit == "wall_time", outcome
    assert 0.4 < outcome.wall_time < PATIENCE


def test_program_that_ignores_every_signal(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
import signal, time
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True: time.sleep(1)
""",
        limits={"wall_time": 0.5},
    )
    assert outcome.limit == "wall_time", outcome
    assert outcome.exit_status == -9


def test_program_that_stops_itself(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        "import signal; os.kill(os.getpid(), signal.SIGSTOP)", limits={"wall_time": 0.5}
    )
    assert outcome.limit == "wall_time", outcome


def test_double_forked_daemon_is_gone(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
    os._exit(0)
print("left a daemon", flush=True)
""")
    assert outcome.lines == ["left a daemon"], outcome
    assert outcome.wall_time < PATIENCE


def test_open_files_are_held(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
held = []
try:
    while len(held) < 1000:
        held.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error:
    print(errno.errorcode[error.errno], len(held) < 64)
""")
    assert outcome.lines == ["EMFILE True"], outcome


def test_limits_cannot_be_raised(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import resource
for name in ("RLIMIT_CPU", "RLIMIT_NPROC", "RLIMIT_FSIZE", "RLIMIT_NOFILE"):
    number = getattr(resource, name)
    hard = resource.getrlimit(number)[1]
    attempt(name, lambda: resource.setrlimit(number, (hard + 1, hard + 1)))
""")
    assert len(outcome.lines) == 4, outcome
    assert all("ValueError" in line for line in outcome.lines), outcome


def test_deep_folders_are_removed(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
for _ in range(300):
    os.mkdir("deeper")
    os.chdir("deeper")
open("file", "w").close()
print("done")
""",
        collect=("**",),
    )
    assert outcome.lines == ["done"], outcome


def test_a_tree_deeper_than_any_stack_is_removed_and_the_level_stays_usable(
    sandbox: Sandbox,
) -> None:
    outcome = sandbox.python(
        """
try:
    for _ in range(3000):
        os.mkdir("d")
        os.chdir("d")
except OSError:
    pass
print("done")
""",
        collect=("**/*",),
    )
    # Where folders have to be measured, one that has no end counts as full.
    assert outcome.lines == ["done"] or outcome.limit == "work_size", outcome
    after = sandbox.python("print(os.listdir())")
    assert after.lines == ["[]"], after
    # A worker of another kind begins with a sweep of what others have left.
    another = sandbox.python("print('started')", limits={"output": 32 << 10})
    assert another.lines == ["started"], another


def test_what_is_hidden_deep_down_counts_as_work(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import time
for _ in range(100):
    os.mkdir("d")
    os.chdir("d")
for number in range(100):
    with open(f"filler{number}", "wb") as file:
        file.write(bytes(2 << 20))
    time.sleep(0.05)
print("survived", flush=True)
""")
    assert outcome.limit == "work_size", outcome
    assert b"survived" not in outcome.stdout


def test_closed_folders_are_removed(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
os.mkdir("closed")
open("closed/file", "w").close()
os.mkdir("never open", 0)
try:
    os.chmod("closed", 0)
except PermissionError:
    pass
print("done")
""")
    assert outcome.lines == ["done"], outcome
