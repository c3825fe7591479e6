"""Programs in containers: results as in the sandbox, limits named, and nothing left behind."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.containers import ContainerPrograms, ContainerSpec, find_engine, find_settings
from assay.sandbox import KIB, MIB, Limits, ProgramResult
from tests.containers.machine_image import NAME
from tests.containers.support import Traces
from tests.waiting import PATIENCE

SMALL = Limits(
    wall_time=20.0, memory=48 * MIB, processes=16, open_files=64, file_size=8 * MIB,
    work_size=16 * MIB, output=4 * KIB, collected=MIB,
)  # fmt: skip
PYTHON = ["python3", "-c"]
Run = Callable[..., Coroutine[Any, Any, ProgramResult]]


def in_containers(
    work: Callable[[Run], Coroutine[Any, Any, None]],
    *,
    base: Path | None = None,
    limits: Limits = SMALL,
    **options: bool,
) -> None:
    async def open_and_run() -> None:
        engine = await find_engine("podman")
        settings = await find_settings(engine, NAME)
        spec = ContainerSpec(NAME, limits=limits)
        async with ContainerPrograms(engine, settings, spec, base, **options) as programs:
            await work(programs.run)

    asyncio.run(asyncio.wait_for(open_and_run(), PATIENCE))


@pytest.fixture(autouse=True)
def _leaves_nothing(podman_store: dict[str, str]) -> Any:
    before = Traces()
    yield
    assert Traces() == before


@pytest.mark.parametrize("reuse", [True, False])
def test_a_program_gets_everything_and_everything_comes_back(tmp_path: Path, reuse: bool) -> None:
    (tmp_path / "main.py").write_text(
        "import os, sys\n"
        "print(sys.argv[1:], sys.stdin.read(), os.environ['GIVEN'], open('in/put.txt').read())\n"
        "print('to stderr', file=sys.stderr)\n"
        "open('out.txt', 'w').write('made'); open('in/put.txt', 'a').write('!')\n"
        "sys.exit(3)\n"
    )

    async def work(run: Run) -> None:
        for _ in range(2):
            result = await run(
                ["python3", "main.py", "a b", "$(id)", ""],
                stdin=b"\nfirst\nsecond",
                files={"in/put.txt": b"content"},
                collect=["*.txt", "in/**", "missing.txt"],
                environment={"GIVEN": "a value\nof two lines"},
            )
            shown = "['a b', '$(id)', ''] \nfirst\nsecond a value\nof two lines content\n"
            assert result.stdout.decode() == shown
            assert (result.exit_status, result.stderr, result.limit) == (3, b"to stderr\n", None)
            assert result.files == {"out.txt": b"made", "in/put.txt": b"content!"}
            assert 0 < result.cpu_time < PATIENCE
            assert result.isolation == "podman"

    in_containers(work, base=tmp_path, reuse=reuse)


def test_how_a_program_ended_is_said_exactly() -> None:
    async def work(run: Run) -> None:
        endings = {"sys.exit(139)": 139, "os.kill(os.getpid(), 11)": -11, "os.abort()": -6}
        for code, status in endings.items():
            assert (await run([*PYTHON, f"import os, sys; {code}"])).exit_status == status
        missing = await run(["no-such-program"])
        assert missing.exit_status == 127
        assert b"no-such-program" in missing.stderr

    in_containers(work)


LIMITS = {
    "memory": "x = bytearray(200 << 20)",
    "work_size": "for name in 'fgh': open(name, 'wb').write(b'x' * (7 << 20))",
    "file_size": "import signal, resource; signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
    "open('f', 'wb').write(b'x' * (9 << 20))",
    "processes": "import os, time\nfor _ in range(40):\n    if os.fork() == 0: time.sleep(100)",
    "wall_time": "import time; print('begun', flush=True); time.sleep(100)",
}


def test_every_limit_is_named_and_the_next_program_is_not_touched_by_it() -> None:
    async def work(run: Run) -> None:
        for name, code in LIMITS.items():
            result = await run([*PYTHON, code], wall_time=1.0 if name == "wall_time" else None)
            assert result.limit == name, (name, result)
            assert result.exit_status != 0
            after = await run(["python3", "-c", "print(1)"])
            assert (after.stdout, after.limit) == (b"1\n", None)

    in_containers(work)


def test_output_is_bounded_and_says_what_is_missing() -> None:
    async def work(run: Run) -> None:
        result = await run([*PYTHON, "import sys; sys.stdout.write('y' * 100_000)"])
        assert result.cut == {"stdout": 100_000 - 4 * KIB}
        assert len(result.stdout) < 5 * KIB

    in_containers(work)


IS_CONFINED = """
import os, socket
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(*(status[name].strip() for name in ("CapEff", "CapPrm", "CapBnd", "NoNewPrivs", "Seccomp")))
print(os.getuid(), os.getgid(), os.getgroups(), os.getcwd(), os.environ["PATH"].count("/usr/bin"))
def attempt(action):
    try:
        action()
    except OSError as error:
        return "refused"
    return "ALLOWED"
print(
    attempt(lambda: open("/made", "w")), attempt(lambda: open("/etc/made", "w")),
    attempt(lambda: os.mknod("device", 0o20666, os.makedev(1, 1))),
    attempt(lambda: os.setuid(0)), attempt(lambda: os.kill(1, 9)),
    attempt(lambda: open("/proc/1/mem", "rb")), attempt(lambda: os.listdir("/proc/1/root")),
    attempt(lambda: socket.create_connection(("192.0.2.1", 80), 1)),
)
print([one for one in os.listdir("/proc") if one.isdigit()])
print([name for name in os.listdir("/sys/class/net")])
"""


def test_a_program_is_nobody_with_no_rights_and_no_network() -> None:
    async def work(run: Run) -> None:
        result = await run([*PYTHON, IS_CONFINED])
        lines = result.stdout.decode().splitlines()
        assert lines[0].split()[:3] == ["0" * 16] * 3, result
        assert lines[0].split()[3:] == ["1", "2"]
        assert lines[1] == "65534 65534 [] /workspace 1" or lines[1].startswith(
            "65534 65534 [65534]"
        )
        assert set(lines[2].split()) == {"refused"}, lines[2]
        assert "'1'" in lines[3]
        assert lines[4] == "['lo']"

    in_containers(work)


LEAVES_THINGS = """
import os, time, pathlib
if os.fork() == 0:
    os.setsid()
    for descriptor in (0, 1, 2): os.close(descriptor)
    while True: time.sleep(1)
for folder in ("/workspace", "/tmp", "/dev/shm", "/dev/mqueue"):
    try: pathlib.Path(folder, "left").write_text("x")
    except OSError: pathlib.Path(folder, "left").touch()
os.mkdir("deep"); os.mkdir("deep/er"); open("deep/er/file", "w").close(); os.chmod("deep", 0)
open("main.txt", "w").write("changed")
os.chmod(".", 0)
"""
LOOKS = """
import os
print([sorted(os.listdir(folder)) for folder in ("/workspace", "/tmp", "/dev/shm", "/dev/mqueue")])
print(open("main.txt").read(), [one for one in os.listdir("/proc") if one.isdigit()])
"""


def test_the_next_program_in_a_container_finds_nothing_of_the_last(tmp_path: Path) -> None:
    (tmp_path / "main.txt").write_text("original")

    async def work(run: Run) -> None:
        first = await run([*PYTHON, LEAVES_THINGS])
        assert first.exit_status == 0, first
        second = await run([*PYTHON, LOOKS])
        lines = second.stdout.decode().splitlines()
        assert lines[0] == "[['main.txt'], [], [], []]", second
        assert lines[1].startswith("original ")
        # The container's first two processes, and this one: no orphan either.
        assert len(ast.literal_eval(lines[1].partition(" ")[2])) == 3

    in_containers(work, base=tmp_path)


def test_a_kept_folder_lasts_until_a_reset(tmp_path: Path) -> None:
    async def work_in(programs: ContainerPrograms) -> None:
        count: Sequence[str] = [*PYTHON, "open('n', 'a').write('x'); print(open('n').read())"]
        assert (await programs.run(count)).stdout == b"x\n"
        assert (await programs.run(count)).stdout == b"xx\n"
        await programs.reset()
        assert (await programs.run(count)).stdout == b"x\n"

    async def scenario() -> None:
        engine = await find_engine("podman")
        settings = await find_settings(engine, NAME)
        spec = ContainerSpec(NAME, limits=SMALL)
        async with ContainerPrograms(engine, settings, spec, tmp_path, keeps=True) as programs:
            await work_in(programs)

    asyncio.run(asyncio.wait_for(scenario(), PATIENCE))


HOSTILE = {
    "fork bomb": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "ends all": "import os; os.kill(-1, 9)",
    "daemon": "import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n"
    "        os.setsid()\n        while True: time.sleep(1)",
    "endless output": "import sys\nwhile True: sys.stdout.write('x' * 65536)",
    "ignores signals": "import signal, time\nfor n in range(1, 65):\n"
    "    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
    "while True: time.sleep(1)",
    "links": "import os\nfor name in ('/etc/passwd', '/proc/1/environ'):\n"
    "    os.symlink(name, name.replace('/', '_') + '.txt')\n"
    "os.symlink('/', 'root'); os.mkfifo('pipe.txt')",
    "deep folders": "import os\nfor _ in range(3000):\n    os.mkdir('d'); os.chdir('d')",
    "many files": "for n in range(20_000): open(f'{n}.txt', 'w').close()",
}


@pytest.mark.parametrize("reuse", [True, False])
def test_hostile_programs_harm_nobody(reuse: bool) -> None:
    async def work(run: Run) -> None:
        for name, code in HOSTILE.items():
            result = await run([*PYTHON, code], wall_time=1.0, collect=["*.txt"])
            assert not any(b"root:" in content for content in result.files.values()), name
            if reuse:
                assert (await run([*PYTHON, "print('well')"])).stdout == b"well\n", name

    in_containers(work, reuse=reuse, limits=SMALL)
