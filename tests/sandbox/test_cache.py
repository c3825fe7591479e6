"""A folder of the cache is built once, by one process, whole or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assay.errors import InfrastructureError
from assay.sandbox.cache import (
    MARKER,
    build_once,
    cache_folder,
    check_unchanged,
    find_changes,
    list_keys,
    read_facts,
    remove,
    size,
    write_whole,
)
from tests.waiting import PATIENCE

# Builds slowly, and leaves a line for every time it really built.
BUILDER = """
import sys, time
from pathlib import Path
from assay.sandbox.cache import build_once

def build(folder):
    with open(sys.argv[1], "a") as log:
        log.write("built\\n")
    (folder / "half").write_text("x")
    print("half", flush=True)
    time.sleep(float(sys.argv[2]))
    (folder / "whole").write_text("y")
    return {"who": "me"}

folder, facts = build_once("things", "key", build, lambda: print("waiting", flush=True))
assert (folder / "whole").read_text() == "y", "half a build was taken for a whole one"
print("done", facts["who"], flush=True)
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def start(log: Path, seconds: float) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", BUILDER, str(log), str(seconds)], stdout=subprocess.PIPE, text=True
    )


def test_two_processes_build_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    outputs = [
        process.communicate(timeout=PATIENCE)[0] for process in [start(log, 0.5), start(log, 0.5)]
    ]
    assert log.read_text() == "built\n"
    assert all(output.endswith("done me\n") for output in outputs)
    assert sorted("waiting" in output for output in outputs) == [False, True]


def test_a_killed_build_is_not_taken_for_a_finished_one(tmp_path: Path, own_cache: Path) -> None:
    log = tmp_path / "log"
    first = start(log, 60)
    assert first.stdout is not None
    assert first.stdout.readline() == "half\n"
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    assert list_keys("things") == []
    assert read_facts("things", "key") is None
    output, _ = start(log, 0).communicate(timeout=PATIENCE)
    assert output.endswith("done me\n")
    assert log.read_text() == "built\nbuilt\n"
    assert [entry.name for entry in (own_cache / "things").iterdir()] == ["key"]


def test_a_build_that_fails_leaves_nothing(own_cache: Path) -> None:
    def build(folder: Path) -> dict[str, object]:
        (folder / "half").touch()
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        build_once("things", "key", build)
    assert list((own_cache / "things").iterdir()) == []


def test_a_folder_without_its_marker_is_built_again(own_cache: Path) -> None:
    (own_cache / "things" / "key").mkdir(parents=True)
    (own_cache / "things" / "key" / "half").touch()
    folder, facts = build_once("things", "key", lambda folder: {"new": True})
    assert facts["new"]
    assert not (folder / "half").exists()


def test_the_second_time_nothing_is_built() -> None:
    def never(folder: Path) -> dict[str, object]:
        raise AssertionError("built again")

    first = build_once("things", "key", lambda folder: {"n": 1})
    assert build_once("things", "key", never) == first


def test_remove_says_how_much_it_freed() -> None:
    def build(folder: Path) -> dict[str, object]:
        (folder / "data").write_bytes(b"x" * 5000)
        os.link(folder / "data", folder / "again")
        return {}

    folder, facts = build_once("things", "key", build)
    marker = (folder / MARKER).stat().st_size
    assert facts["bytes"] == 5000
    assert remove("things", "key") == 5000 + marker
    assert list_keys("things") == []
    assert not folder.exists()


def test_size_does_not_follow_links(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "large").write_bytes(b"x" * 9000)
    (folder / "link").symlink_to(tmp_path / "large")
    assert size(folder) < 1000


def test_a_cache_that_cannot_be_written_is_the_machines_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(InfrastructureError, match="ASSAY_CACHE"):
        build_once("things", "key", lambda folder: {})


def test_the_cache_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ASSAY_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "assay"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "assay"


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    write_whole(path, "old")
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]


def test_what_is_changed_added_or_removed_after_a_build_is_found() -> None:
    def build(folder: Path) -> dict[str, object]:
        for name in ("same", "edited", "removed"):
            (folder / name).write_text(name)
        (folder / "link").symlink_to("same")
        return {}

    folder, _ = build_once("things", "key", build)
    assert find_changes("things", "key") == []
    check_unchanged("things", "key", sample=2)
    (folder / "edited").write_text("EDITED")
    (folder / "removed").unlink()
    (folder / "added").write_text("x")
    (folder / "link").unlink()
    (folder / "link").symlink_to("added")
    assert find_changes("things", "key") == ["added", "edited", "link", "removed"]
    with pytest.raises(InfrastructureError, match="were changed after this folder was built"):
        check_unchanged("things", "key", sample=4)
    remove("things", "key")
    assert find_changes("things", "key") is None
