"""Code of a target in a worker that lives in a control group: it cannot give itself more."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from assay.sandbox.isolation import available_levels, probe
from assay.sandbox.jail.cgroups import KILLED_FOR_MEMORY
from tests.sandbox.hostile.support import PRELUDE, SOURCE, python_folders, reachable_python
from tests.waiting import PATIENCE

MIB = 1 << 20
# Enters a jail as a runner does; what follows in the worker is what an import could do.
ENTER = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
import start
start.load()
jail = importlib.import_module("assay_jail.jail")
limits = {"cpu_time": 20, "memory": 64 << 20, "processes": 8, "open_files": 64,
          "file_size": 1 << 20, "work_size": 1 << 20}
binds = [[path, path, False] for path in sys.argv[3:]]
jail.enter({"level": sys.argv[2], "binds": binds, "limits": limits})
"""
OPEN_FILES = """
for number in os.listdir("/proc/self/fd"):
    try:
        name = os.readlink(f"/proc/self/fd/{number}")
        flags = int(open(f"/proc/self/fdinfo/{number}").read().split("flags:")[1].split()[0], 8)
    except OSError:
        continue
    if flags & 3 and any(part in name for part in ("memory.", "cgroup.", "pids.", "tasks")):
        print(os.path.basename(name), flush=True)
print("seen", flush=True)
os._exit(0)
"""
ASK_FOR_MORE = """
group, held = jail._worker.group, []
for number in range(128):
    if hasattr(group, "_ask"):
        group._ask(b"worker" if number % 2 else b"child")
    else:
        group.allow_more()
    held.append(bytearray(8 << 20))
    print(8 * len(held), flush=True)
os._exit(0)
"""


def _run(level: str, place: Path, source: str) -> subprocess.CompletedProcess[str]:
    layers = {layer.name: layer for layer in probe()}
    if level not in available_levels(tuple(layers.values())):
        pytest.skip(f"this machine cannot give the level {level}")
    if not layers["control groups"].available:
        pytest.skip("this user can make no control groups")
    inside = place / "inside"
    shutil.copytree(SOURCE / "sandbox" / "jail", inside)
    for path in (*place.parents, place, *inside.rglob("*"), inside):
        if path.stat().st_uid == os.geteuid() and path != Path("/"):
            path.chmod(path.stat().st_mode | (0o055 if path.is_dir() else 0o044))
    script = ENTER + PRELUDE + source
    return subprocess.run(
        [reachable_python(), "-B", "-I", "-S", "-c", script, inside, level, *python_folders()],
        capture_output=True, text=True, timeout=PATIENCE, env={}, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("level", ["namespaces", "landlock"])
def test_a_worker_has_no_file_open_that_moves_a_limit_or_a_process(
    level: str, tmp_path: Path
) -> None:
    answer = _run(level, tmp_path, OPEN_FILES)
    assert answer.stderr == ""
    *writable, last = answer.stdout.split()
    assert last == "seen"
    # To write to these begins a statistic anew.
    assert set(writable) <= {"memory.max_usage_in_bytes", "memory.peak"}


@pytest.mark.parametrize("level", ["namespaces", "landlock"])
def test_a_worker_that_asks_for_more_and_more_is_ended(level: str, tmp_path: Path) -> None:
    answer = _run(level, tmp_path, ASK_FOR_MORE)
    assert answer.returncode == KILLED_FOR_MEMORY, answer
    used = int(answer.stdout.split()[-1]) * MIB
    assert 64 * MIB <= used <= 4 * 64 * MIB, answer
