"""Code of a target that runs while it is imported, in the warm worker: what it may not do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sandbox.hostile.support import run_in_worker

REMOUNT = """
import struct
jail.enter(spec)
target = sys.argv[3]
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
def test_an_import_cannot_make_writable_what_is_bound_read_only(
    open_place: Path, user: str
) -> None:
    target = open_place / "target"
    target.mkdir()
    outcome = run_in_worker(REMOUNT, open_place, user, {target: target})
    assert list(target.iterdir()) == []
    outcome.refused()
    assert len(outcome.lines) == 10
