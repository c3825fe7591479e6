"""Old runs are deleted, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError
from assay.runs import prune_runs, remember_run, run_folders
from assay.runs.writer import RunWriter
from tests.runs.making import write_run

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def write(runs: Path, name: str, day: int, title: str = "one", **more: Any) -> Path:
    started = START + timedelta(days=day)
    return write_run(runs / name, {"a": "P"}, started=started, title=title, **more)


def names(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


def test_the_newest_of_each_title_and_subject_are_kept(runs: Path) -> None:
    for day in range(4):
        write(runs, f"one-{9 - day}", day)
    write(runs, "two", 0, "two")
    write(runs, "agents", 0, "one", subject="agents")
    write(runs, "part", 9, is_partial=True)
    tried = prune_runs(2, runs, dry_run=True)
    assert len(run_folders(runs)) == 7
    done = prune_runs(2, runs)
    assert names(done.deleted) == names(tried.deleted) == ["one-9", "one-8"]
    assert (done.kept, done.left) == (5, [])
    assert set(names(run_folders(runs))) == {"one-7", "one-6", "two", "agents", "part"}
    assert prune_runs(2, runs).deleted == []


def test_only_one_title_where_one_is_named(runs: Path) -> None:
    for day in range(2):
        write(runs, f"one-{day}", day)
        write(runs, f"two-{day}", day, "two")
    assert names(prune_runs(1, runs, title="two").deleted) == ["two-0"]


def test_what_is_unfinished_running_damaged_or_a_link_is_left_and_named(
    runs: Path, tmp_path: Path
) -> None:
    write(runs, "unfinished", 0, is_finished=False)
    write(runs, "damaged", 1)
    (runs / "damaged" / "run.json").write_text("{}")
    running = write(runs, "running", 2)
    outside = write(tmp_path, "outside", 3)
    (runs / "link").symlink_to(outside)
    write(runs, "old", 4)
    write(runs, "new", 5)
    with RunWriter(running):
        found = prune_runs(1, runs)
        again = prune_runs(1, runs, unfinished=True)
    assert names(found.deleted) == ["old"]
    reasons = {one.path.name: one.reason for one in found.left}
    assert reasons.pop("damaged").startswith("run.json is not one Assay wrote")
    assert reasons == {
        "unfinished": "is not finished; delete it with --unfinished",
        "running": "is being written",
        "link": "is a symbolic link",
    }
    # With consent, unfinished runs are as old as others; the running one never is.
    assert names(again.deleted) == ["unfinished"]
    assert {one.path.name for one in again.left} == {"damaged", "running", "link"}
    assert (outside / "run.json").exists()


def test_runs_elsewhere_and_other_folders_are_never_deleted(runs: Path, tmp_path: Path) -> None:
    for day in range(3):
        path = write(tmp_path, f"elsewhere-{day}", day)
        remember_run(path, runs, creates=True)
    write(runs, "inside", 9)
    (runs / "notes").mkdir()
    (runs / "notes" / "mine.txt").write_text("mine")
    assert prune_runs(1, runs).deleted == []
    assert len(run_folders(runs)) == 4
    assert (runs / "notes" / "mine.txt").exists()


def test_links_in_a_run_are_not_followed(runs: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("mine")
    old = write(runs, "old", 0)
    (old / "link").symlink_to(precious)
    write(runs, "new", 1)
    assert names(prune_runs(1, runs).deleted) == ["old"]
    assert (precious / "file").read_text() == "mine"


def test_what_an_interrupted_deletion_left_is_no_run_and_is_deleted(runs: Path) -> None:
    write(runs, "new", 1)
    write(runs, ".deleting-0123", 0)
    assert names(run_folders(runs)) == ["new"]
    assert prune_runs(1, runs, dry_run=True).deleted == []
    assert (runs / ".deleting-0123").exists()
    prune_runs(1, runs)
    assert not (runs / ".deleting-0123").exists()


def test_none_cannot_be_kept(runs: Path) -> None:
    with pytest.raises(InputError, match="keep must be at least 1"):
        prune_runs(0, runs)
