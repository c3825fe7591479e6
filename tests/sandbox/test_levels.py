"""Proofs come out the same at every level of isolation, as root and as an ordinary user."""

# ruff: noqa: E501 - a proof on one line is easier to compare with its neighbours

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.errors import InfrastructureError
from assay.sandbox.isolation import available_levels, probe
from assay.sandbox.proof_worker import check_readable
from tests.sandbox.support import SMALL, write_files
from tests.waiting import PATIENCE

ORDINARY_USER = 55_000 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
SYSTEM_PYTHON = Path("/usr/bin/python3")

PROOFS = {
    "passes": "import small_thing\ndef test_x(tmp_path):\n    assert small_thing.ANSWER == 42\n",
    "fails": "import small_thing\ndef test_x():\n    assert small_thing.ANSWER == 41\n",
    "crashes": "import ctypes\ndef test_x():\n    assert ctypes.string_at(0)\n",
    "exhausts": "def test_x():\n    x = []\n    while True:\n        x.append(bytearray(1 << 24))\n    assert x\n",
    "hangs": "import time\ndef test_x():\n    time.sleep(60)\n    assert f()\n",
    "leaves a process": (
        "import subprocess\ndef test_x():\n    assert subprocess.Popen(['/bin/sleep', '60']).pid\n"
    ),
    "kills itself": "import os\ndef test_x():\n    os.kill(os.getpid(), 9)\n    assert f()\n",
    "writes to the target": (
        "import os, pathlib, pytest, small_thing\ndef test_x():\n"
        "    with pytest.raises(OSError):\n"
        "        pathlib.Path(small_thing.__file__).write_text('ANSWER = 0')\n"
    ),
    "passes again": "import small_thing\ndef test_x():\n    assert small_thing.ANSWER == 42\n",
}  # fmt: skip
PROOFS["passes, fresh"] = PROOFS["passes"]
EXPECTED = {
    "passes": ["passed", True],
    "fails": ["failed", True],
    "crashes": ["error", False],
    "hangs": ["timed out", False],
    "leaves a process": ["passed", False],
    "kills itself": ["error", False],
    "writes to the target": ["passed", True],
    "passes again": ["passed", True],
    "passes, fresh": ["passed", True],
}
SCRIPT = """
import asyncio, json, sys
from pathlib import Path
from assay.sandbox.workers import MIB, Limits
from assay.sandbox.proofs import ProofRunner
from assay.sandbox.targets import Target, environment

async def main(folder, level, python, proofs):
    built = environment(Target(sources=(Path(folder),), python=python))
    limits = Limits(wall_time=5.0, cpu_time=5, memory=256 * MIB)
    options = dict(imports=["small_thing"], isolation=level, limits=limits, concurrency=1)
    found = {}
    async with ProofRunner(built, **options) as runner:
        for name, source in proofs.items():
            outcome = await runner.run(source, fresh=name.endswith("fresh"))
            assert outcome.isolation == level
            (test,) = outcome.tests
            found[name] = [test.status.value, test.evidence]
    print(json.dumps(found))

asyncio.run(main(*sys.argv[1:4], json.loads(sys.stdin.read())))
"""


def executable_of(user: str) -> Path:
    """A Python that this user can start and that can import what Assay needs."""
    own = Path(sys.executable)
    if user == "own" and os.geteuid() != 0:
        return own
    for python in (own, SYSTEM_PYTHON):
        try:
            check_readable([python.resolve(), Path(sys.prefix) if python == own else python])
        except (InfrastructureError, OSError):
            continue
        answer = subprocess.run(
            [python, "-c", "import sys; print(sys.version_info[:2] )"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        if answer.stdout.strip() == str(sys.version_info[:2]):
            return python
    pytest.skip("needs a Python outside of private folders, of the version the tests run on")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter: those of pytest are for the one who runs it."""
    with tempfile.TemporaryDirectory(prefix="assay-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.parametrize("user", ["own", "ordinary"])
@pytest.mark.parametrize("level", ["namespaces", "landlock"])
def test_outcomes_do_not_depend_on_the_level(level: str, user: str, open_folder: Path) -> None:
    if level not in available_levels(probe()):
        pytest.skip(f"this machine cannot give the level {level}")
    if user == "ordinary" and os.geteuid() != 0:
        pytest.skip("only root can become another user")
    python = executable_of(user)
    folder = write_files(open_folder / "small", SMALL)
    home = open_folder / "home"
    home.mkdir(mode=0o777)
    home.chmod(0o777)
    other = {"user": ORDINARY_USER, "group": ORDINARY_USER, "extra_groups": []}
    answer = subprocess.run(
        [python, "-B", "-c", SCRIPT, str(folder), level, str(python)],
        input=json.dumps(PROOFS),
        capture_output=True,
        text=True,
        cwd=home,
        env={
            **os.environ,
            "HOME": str(home),
            "ASSAY_CACHE": str(home / "cache"),
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        },
        check=False,
        timeout=PATIENCE,
        **(other if user == "ordinary" else {}),
    )  # type: ignore[call-overload]
    if "package registry" in answer.stderr or "network" in answer.stderr:
        pytest.skip("needs a package registry")
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    # A control group kills what exceeds it; where there is none, an allocation fails.
    assert found.pop("exhausts") in (["error", False], ["failed", False])
    assert found == EXPECTED


def test_a_private_folder_is_named(tmp_path: Path) -> None:
    private = tmp_path / "private"
    (private / "target").mkdir(parents=True)
    private.chmod(0o700)
    with pytest.raises(InfrastructureError, match="private is closed to other users"):
        check_readable([private / "target"])
