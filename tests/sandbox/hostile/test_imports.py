"""Code of a target that runs while it is imported, in the warm worker: what it may not do."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from assay.sandbox.isolation import available_levels, probe
from tests.sandbox.hostile.support import (
    ORDINARY_USER,
    PRELUDE,
    SOURCE,
    Outcome,
    python_folders,
    reachable_python,
)
from tests.waiting import PATIENCE

# Enters a jail as a runner does; what follows in the worker is what an import could do.
ENTER = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
import start
start.load()
jail = importlib.import_module("assay_inside.jail")
limits = {"cpu_time": 5, "memory": 1 << 28, "processes": 8, "open_files": 64,
          "file_size": 1 << 20, "work_size": 1 << 20}
target, folders = sys.argv[2], sys.argv[3:]
binds = [[path, path, False] for path in (target, *folders)]
jail.enter({"level": "namespaces", "binds": binds, "limits": limits})
"""
REMOUNT = """
import struct
MACHINE = os.uname().machine
MOUNT, UMOUNT, UNSHARE, CLONE, PIVOT = {
    "x86_64": (165, 166, 272, 56, 155), "aarch64": (40, 39, 97, 220, 41),
}[MACHINE]
path = ctypes.c_char_p(target.encode())
none = ctypes.c_char_p(None)
def write(): open(target + "/mark", "w").close()
def set_attributes():
    wanted = struct.pack("=QQQQ", 0, 1, 0, 0)
    call(442, -100, path, 0x8000, ctypes.c_char_p(wanted), len(wanted))
def clone():
    if call(CLONE, 0x10020000 | 17, 0, 0, 0, 0) == 0: os._exit(0)
attempt("write", write)
attempt("remount", lambda: call(MOUNT, none, path, none, 4096 | 32, none))
attempt("write again", write)
attempt("set attributes", set_attributes)
attempt("write again", write)
attempt("bind", lambda: call(MOUNT, path, ctypes.c_char_p(b"/tmp"), none, 4096, none))
attempt("unmount", lambda: call(UMOUNT, path, 2))
attempt("unshare", lambda: call(UNSHARE, 0x10020000))
attempt("clone", clone)
attempt("pivot", lambda: call(PIVOT, path, path))
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.parametrize("user", ["root", "user"])
def test_an_import_cannot_make_writable_what_is_bound_read_only(tmp_path: Path, user: str) -> None:
    if "namespaces" not in available_levels(probe()):
        pytest.skip("this machine has no namespaces")
    if user == "root" and os.geteuid() != 0:
        pytest.skip("these tests do not run as root")
    inside = tmp_path / "inside"
    shutil.copytree(SOURCE / "sandbox" / "inside", inside)
    target = tmp_path / "target"
    target.mkdir()
    for path in (*tmp_path.parents, tmp_path, target, *inside.rglob("*"), inside):
        if path.stat().st_uid == os.geteuid() and path != Path("/"):
            path.chmod(path.stat().st_mode | (0o055 if path.is_dir() else 0o044))
    options: dict[str, Any] = {}
    if user == "user" and os.geteuid() == 0:
        os.chown(target, ORDINARY_USER, ORDINARY_USER)
        options = {"user": ORDINARY_USER, "group": ORDINARY_USER, "extra_groups": []}
    script = ENTER + PRELUDE + REMOUNT
    arguments = [str(inside), str(target), *python_folders()]
    answer = subprocess.run(
        [reachable_python(), "-B", "-I", "-S", "-c", script, *arguments],
        capture_output=True, timeout=PATIENCE, env={}, **options,
    )  # fmt: skip
    assert list(target.iterdir()) == []
    Outcome(stdout=answer.stdout, stderr=answer.stderr).refused()
    assert len(answer.stdout.splitlines()) == 10
