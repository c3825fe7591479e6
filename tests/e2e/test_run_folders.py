"""`assay runs merge`, `prune`, `export` and `import` on the command line."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.runs.making import write_run

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for day in range(3):
        name = Path(f".assay/runs/day-{day}")
        cases = {f"{day}": "F" if day == 1 else "P"}
        write_run(name, cases, title="suite.yaml", started=START + timedelta(days=day))
    return tmp_path


def test_merged_shards_are_reported_and_decide_the_exit_code(assay: Command, runs: Path) -> None:
    words = ("runs", "merge", "day-0", "day-1", "day-2", "--out", "all")
    merged = assay(*words, "--report", "junit=all.xml")
    assert (merged.returncode, merged.stderr) == (1, "")
    assert "Failed: 2 of 3 cases passed (66.6%), 1 failed." in merged.stdout
    assert merged.stdout.endswith("merged into: all\n")
    assert 'tests="3"' in (runs / "all.xml").read_text()
    again = assay("runs", "merge", "all", "day-1", "--json")
    assert json.loads(again.stdout)["totals"]["cases"] == 3
    assert again.stderr == "assay: in several runs, taken once: 1\n"
    refused = assay("runs", "resume", "all", "--trust")
    assert refused.returncode == 2


def test_conflicts_end_with_2(assay: Command, runs: Path) -> None:
    write_run(Path("other"), {"1": "P"}, title="suite.yaml")
    refused = assay("runs", "merge", "day-1", "other")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "different results for the same cases: 1 (failed, passed)" in refused.stderr


def test_shards_of_a_submission_are_judged_by_its_policy(assay: Command, tmp_path: Path) -> None:
    assay("submissions", "new", "demo", check=True)
    snapshot = tmp_path / "demo" / "checkpoint_1" / "broken"
    words = ("submissions", "verify", "-s", snapshot, "-p", "demo", "--policy", "any-case", "-q")
    assert assay(*words, "--out", "whole").returncode == 0
    whole = json.loads((tmp_path / "whole" / "evaluation.json").read_text())
    # One of them does not meet the policy, and all cases together do.
    codes = [assay(*words, "-g", name, "--out", name).returncode for name in ("core", "errors")]
    assert codes == [1, 0]
    merged = assay("runs", "merge", "core", "errors", "--out", "merged", "--quiet")
    assert (merged.returncode, merged.stderr) == (0, "")
    assert "any-case is met" in merged.stdout
    found = json.loads((tmp_path / "merged" / "evaluation.json").read_text())
    assert whole["totals"]["failed"] > 0
    assert {**found, "run": "whole"} == whole


def test_pruning_says_what_it_deletes_before_and_after(assay: Command, runs: Path) -> None:
    tried = assay("runs", "prune", "--keep", "1", "--dry-run", check=True).stdout
    assert tried == (
        "would delete  .assay/runs/day-0\nwould delete  .assay/runs/day-1\n"
        "would delete 2 runs, kept 1, left 0\n"
    )
    done = json.loads(assay("runs", "prune", "--keep", "1", "--json", check=True).stdout)
    assert done == {
        "dry_run": False, "deleted": [".assay/runs/day-0", ".assay/runs/day-1"], "left": [],
        "kept": 1,
    }  # fmt: skip
    assert assay("runs", "prune").returncode == 2


def test_a_run_goes_to_a_file_and_comes_back(assay: Command, runs: Path) -> None:
    out = assay("runs", "export", "latest", "day-2.zip", check=True).stdout
    assert out == "exported 2 files (0.0 MB) to day-2.zip\n"
    taken = assay("runs", "import", "day-2.zip")
    assert taken.returncode == 2
    assert "name another folder with --out" in taken.stderr
    told = assay("runs", "import", "day-2.zip", "--out", "mine/copy", "--json", check=True).stdout
    assert json.loads(told) == {"run": "copy", "path": "mine/copy"}
    assert "mine/copy  suite.yaml" in assay("runs", "list", check=True).stdout
    same = assay("runs", "compare", "day-2", "mine/copy", check=True)
    assert "unchanged: 1" in same.stdout
    small = assay("runs", "import", "day-2.zip", "--out", "small", "--max-size", "1", "--json")
    assert small.returncode == 0
