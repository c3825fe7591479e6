"""The jail in every interpreter a target may have, seen from a child that starts no program."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assay.sandbox.isolation import available_levels, probe
from tests.waiting import PATIENCE

START = Path(__file__).parents[3] / "src" / "assay" / "sandbox" / "jail" / "start.py"
LEVELS = [*available_levels(probe()), "none"]
OLDEST, NEWEST = 9, 15
SCRIPT = """
import importlib, json, os, sys
sys.path.insert(0, os.path.dirname(sys.argv[1]))
import start
start.load()
jail = importlib.import_module("assay_jail.jail")
start._load("assay_jail.channel", start._CHANNEL)
limits = {"cpu_time": 5, "memory": 1 << 28, "processes": 8, "open_files": 64,
          "file_size": 1 << 20, "work_size": 1 << 20}
jail.enter({"level": sys.argv[2], "binds": [], "limits": limits})
endings = []
for number in range(3):
    child = jail.fork_child()
    if child is None:
        with open("own", "w") as file:
            file.write(str(os.listdir(".")))
        with open("/proc/self/status") as file:
            status = dict(line.split(":", 1) for line in file)
        rights = [int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")]
        free = sys.argv[2] == "none"
        confined = not any(rights) and status["NoNewPrivs"].strip() == "1" and os.getuid() != 0
        os._exit(number if free or confined else 99)
    endings.append(child.wait(300).status)
    child.close()
modules = [name for name in sys.modules if name.startswith("assay")]
print(json.dumps([endings, sorted(modules)[:2], jail.work_folder() != ""]), flush=True)
"""


@functools.cache
def _interpreters() -> list[str]:
    names = [f"python3.{minor}" for minor in range(OLDEST, NEWEST)]
    found = [path for name in names if (path := shutil.which(name)) and _starts(path)]
    return [sys.executable, *found]


def _starts(path: str) -> bool:
    # What is on the path may be a mere pointer to a version that is not installed.
    return subprocess.run([path, "-c", ""], capture_output=True).returncode == 0


@pytest.mark.parametrize("level", LEVELS)
def test_three_children_one_after_the_other(level: str) -> None:
    for interpreter in _interpreters():
        command = [interpreter, "-W", "error", "-I", "-S", "-c", SCRIPT, str(START), level]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env={})
        assert answer.stderr == "", interpreter
        assert answer.returncode == 0, interpreter
        seen = json.loads(answer.stdout)
        assert seen == [[0, 1, 2], ["assay_jail", "assay_jail.cgroups"], True], interpreter
