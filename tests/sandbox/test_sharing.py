"""Nothing goes from one proof to the next: not by memory of the target, not by samples."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from assay.sandbox.proofs import ProofRunner
from assay.sandbox.targets import Environment, Target
from tests.sandbox.support import build, write_files

LEAKY = {
    "pyproject.toml": '[project]\nname = "leaky"\nversion = "1"\ndependencies = []\n',
    "src/leaky/__init__.py": "",
    # All of these are made when they are imported, and are mapped into every fork.
    "src/leaky/anonymous.py": "import mmap\nPAGE = mmap.mmap(-1, 8192)\n",
    "src/leaky/named.py": (
        "import mmap, os\n"
        "descriptor = os.memfd_create('page')\n"
        "os.ftruncate(descriptor, 4096)\n"
        "PAGE = mmap.mmap(descriptor, 4096)\n"
    ),
    "src/leaky/read_only.py": (
        "import mmap, os\n"
        "descriptor = os.memfd_create('page')\n"
        "os.ftruncate(descriptor, 4096)\n"
        "os.write(descriptor, b'kept')\n"
        "PAGE = mmap.mmap(descriptor, 4096)\n"
        "VIEW = mmap.mmap(descriptor, 4096, prot=mmap.PROT_READ)\n"
    ),
    "src/leaky/in_a_file.py": (
        "import mmap, tempfile\n"
        "file = tempfile.TemporaryFile()\n"
        "file.truncate(4096)\n"
        "PAGE = mmap.mmap(file.fileno(), 4096)\n"
    ),
    "src/leaky/large.py": "import mmap\nPAGE = mmap.mmap(-1, 256 << 20)\n",
}


@pytest.fixture(scope="module")
def leaky(tmp_path_factory: pytest.TempPathFactory, shared_cache: Path) -> Environment:
    folder = write_files(tmp_path_factory.mktemp("leaky"), LEAKY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_CACHE", str(shared_cache))
        return build(Target(sources=(folder,)))


WRITE = """
from leaky.{name} import PAGE
def test_writes():
    assert PAGE[:7] == bytes(7)
    PAGE[:7] = b"written"
    assert PAGE[:7] == b"written"
"""


@pytest.mark.parametrize("name", ["anonymous", "named", "in_a_file", "large"])
def test_memory_that_the_target_shares_carries_nothing_from_proof_to_proof(
    leaky: Environment, name: str
) -> None:
    async def run_three() -> list[bool]:
        runner = ProofRunner(leaky, imports=(f"leaky.{name}",), modules=("leaky",), concurrency=1)
        async with runner:
            return [(await runner.run(WRITE.format(name=name))).passed for _ in range(3)]

    assert asyncio.run(run_three()) == [True, True, True]


def test_shared_memory_keeps_what_the_import_wrote_and_is_shared_with_own_children(
    leaky: Environment,
) -> None:
    proof = """
import os
from leaky.read_only import PAGE, VIEW
def test_both_show_what_was_there():
    assert PAGE[:4] == b"kept" == VIEW[:4]
def test_a_child_writes_for_its_parent():
    child = os.fork()
    if not child:
        PAGE[:4] = b"seen"
        while True:
            os.kill(os.getpid(), 9)
    os.waitpid(child, 0)
    assert PAGE[:4] == b"seen"
"""

    async def run() -> list[str]:
        async with ProofRunner(leaky, imports=("leaky.read_only",), concurrency=1) as runner:
            return [test.message or test.status for test in (await runner.run(proof)).tests]

    assert asyncio.run(run()) == ["passed", "passed"]


GOOD = """
import small_thing
def test_right():
    assert small_thing.ANSWER == 42
"""
SAMPLES = {
    "hangs": "import time, small_thing\ndef test_a():\n    time.sleep(600)\n",
    "hangs-while-imported": "import time, small_thing\ntime.sleep(600)\n",
    "says-nonsense": (
        "import os\ndef test_a():\n"
        "    for descriptor in range(3, 256):\n"
        "        try:\n"
        "            os.write(descriptor, b'sample not json\\n')\n"
        "        except OSError:\n"
        "            continue\n"
    ),
    "forges-a-lesson": (
        "import gc, os, json\ndef test_a():\n"
        "    (channel,) = [one for one in gc.get_objects() if type(one).__name__ == 'Channel'\n"
        "                  and one._token]\n"
        "    lesson = {'event': 'lesson', 'modules': ['small_thing.busy', 7]}\n"
        "    os.write(201, f'{channel._token} {json.dumps(lesson)}\\n'.encode())\n"
        "    os.write(201, f'sample {json.dumps(lesson)}\\n'.encode())\n"
    ),
    "answers-for-the-worker": (
        "import os, socket\ndef test_a():\n"
        "    for descriptor in range(3, 256):\n"
        "        try:\n"
        '            socket.socket(fileno=descriptor).send(b\'{"event": "ready"}\\n\')\n'
        "        except OSError:\n"
        "            continue\n"
    ),
    "ends-everybody": (
        "import os, signal\ndef test_a():\n"
        "    for process in (os.getppid(), -1):\n"
        "        try:\n"
        "            os.kill(process, signal.SIGKILL)\n"
        "        except OSError:\n"
        "            continue\n"
    ),
    "eats-memory": "def test_a():\n    assert len([bytes(1 << 20) for _ in range(1 << 20)]) == 1\n",
    "leaves-a-process": (
        "import subprocess, sys\ndef test_a():\n"
        "    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    ),
    "is-no-python": "def test_a(:\n",
}


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES.keys())
def test_a_sample_that_misbehaves_costs_itself_only(small: Environment, sample: str) -> None:
    async def run() -> tuple[bool, bool, int, float]:
        started = time.monotonic()
        async with ProofRunner(
            small, imports=("small_thing",), samples=(sample, GOOD), concurrency=1
        ) as runner:
            outcome = await runner.run(GOOD)
            return outcome.passed, outcome.fresh, runner.restarts, time.monotonic() - started

    passed, fresh, restarts, seconds = asyncio.run(run())
    assert passed
    # A module that a sample only claims to need is not imported: it would start a thread, and
    # every other proof would pay for that with an interpreter of its own.
    assert not fresh
    assert restarts == 0
    assert seconds < 90


def test_many_samples_that_hang_are_given_up(small: Environment) -> None:
    samples = tuple(f"{SAMPLES['hangs']}# {number}\n" for number in range(40))

    async def run() -> tuple[bool, float]:
        started = time.monotonic()
        async with ProofRunner(
            small, imports=("small_thing",), samples=samples, concurrency=1
        ) as runner:
            passed = (await runner.run(GOOD)).passed
            return passed, time.monotonic() - started

    passed, seconds = asyncio.run(run())
    assert passed
    assert seconds < 120
