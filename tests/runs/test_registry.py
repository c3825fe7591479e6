"""Runs are found wherever they were written."""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.runs import find_run, remember_run, run_folders
from tests.conftest import Command
from tests.runs.making import write_run

RUNS = Path(".assay/runs")
START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(path: Path | None, day: int) -> Path:
    folder = write_run(path, {"a": "P"}, started=START + timedelta(days=day), title="t")
    remember_run(folder, RUNS, creates=True)
    return folder


def test_latest_is_the_newest_run_wherever_it_was_written(tmp_path: Path) -> None:
    first = write(None, 1)
    elsewhere = write(tmp_path / "project" / "out", 3)
    named = write(RUNS / "a-name-that-sorts-first", 2)
    assert run_folders(RUNS) == [first, named, Path("project/out")]
    assert run_folders(RUNS, elsewhere=False) == [first, named]
    assert find_run("latest") == Path("project/out")
    assert find_run("out") == find_run("ou") == Path("project/out")
    newest = write(None, 4)
    assert find_run("latest") == newest
    # Asked from elsewhere, or after the folder is gone.
    shutil.rmtree(newest)
    assert find_run("latest", Path.cwd() / RUNS).absolute() == elsewhere
    shutil.rmtree(elsewhere)
    assert find_run("latest") == named


def test_a_run_is_listed_once_however_often_it_was_written() -> None:
    for _ in range(3):
        folder = write(Path("out"), 1)
        assert run_folders(RUNS) == [folder]
        shutil.rmtree(folder)
    write(RUNS / "inside", 2)
    assert (RUNS / "elsewhere.jsonl").read_text().count("\n") == 3


def test_lines_that_lead_nowhere_are_removed_when_there_are_many() -> None:
    kept = write(Path("kept"), 1)
    registry = RUNS / "elsewhere.jsonl"
    with registry.open("a") as file:
        file.writelines(f'"/gone/{number:09}"\n' for number in range(8_000))
        file.write(f'{json.dumps(str(kept.absolute()))}\n"/half')
    other = write(Path("other"), 2)
    assert [json.loads(line) for line in registry.read_text().splitlines()] == [
        str(kept.absolute()),
        str(other.absolute()),
    ]


def test_half_a_line_of_a_process_that_was_killed_costs_only_itself() -> None:
    first = write(Path("first"), 1)
    with (RUNS / "elsewhere.jsonl").open("a") as file:
        file.write('"/half')
    second = write(Path("second"), 2)
    assert run_folders(RUNS) == [first, second]


@pytest.mark.parametrize("content", [b"\xff\xfe\n", b"{}\n[1]\n", b'"a\\u0000b"\n"relative"\n'])
def test_a_registry_that_nobody_wrote_like_this_is_no_obstacle(content: bytes) -> None:
    run = write(None, 1)
    (RUNS / "elsewhere.jsonl").write_bytes(content)
    assert run_folders(RUNS) == [run]


def test_a_registry_is_not_written_through_a_link(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(None, 1)
    precious = tmp_path / "precious"
    precious.write_text("mine\n")
    (RUNS / "elsewhere.jsonl").symlink_to(precious)
    write(Path("out"), 2)
    assert precious.read_text() == "mine\n"
    assert "`latest` will not find this run" in caplog.text
    (RUNS / "elsewhere.jsonl").unlink()
    os.mkfifo(RUNS / "elsewhere.jsonl")
    with pytest.raises(InputError, match="is not a file but a pipe"):
        run_folders(RUNS)


def test_a_damaged_run_keeps_its_place_and_is_not_passed_over() -> None:
    write(None, 1)
    damaged = write(Path("damaged"), 2)
    (damaged / "run.json").write_text("{")
    assert find_run("latest") == damaged


def test_two_runs_of_a_name_are_told_apart_by_their_paths() -> None:
    write(Path("one/out"), 1)
    write(Path("two/out"), 2)
    with pytest.raises(InputError, match="'out' means 2 runs: one/out, two/out"):
        find_run("out")


def test_without_a_runs_folder_python_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "out", {"a": "P"})
    remember_run(folder, RUNS)
    assert not Path(".assay").exists()


def test_a_command_finds_the_run_that_the_last_one_wrote(assay: Command, tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text(
        "import assay\nfirst = assay.Evaluation([('a', 'a')], str, check='exact')\n"
    )
    assay("run", "first.py", "--quiet", check=True)
    assay("run", "first.py", "--quiet", "--out", "results/mine", check=True)
    shown = assay("runs", "show", "latest", check=True).stdout
    assert "first.py, run mine" in shown
    listed = assay("runs", "list", check=True).stdout.splitlines()
    assert listed[-1].startswith("results/mine  ")
    assert len(listed) == 2
