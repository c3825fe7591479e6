"""Runs that earlier versions wrote still open, report and say why they cannot go on.

`old_runs` has a run of every subject as the first version wrote it, and as the version
that links the lines of a journal did.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import assay
from assay.cli import cli

RUNS = Path(__file__).parent / "old_runs"
VERSIONS = ("first", "linked")
OUTCOMES = {
    "agents": {"failed": 1},
    "evaluation": {"failed": 2, "passed": 6},
    "questions": {"failed": 3, "passed": 1},
    "submissions": {"passed": 17},
}
FORMATS = ("terminal", "json", "markdown", "junit", "github", "html")


@pytest.fixture(params=[f"{version}/{subject}" for version in VERSIONS for subject in OUTCOMES])
def old_run(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copytree(RUNS / request.param, tmp_path / Path(request.param).name))


def test_a_run_of_an_earlier_version_opens_with_all_its_records(old_run: Path) -> None:
    run = assay.Run(old_run)
    expected = OUTCOMES[old_run.name]
    found = [str(record.outcome) for record in run.records()]
    assert {outcome: found.count(outcome) for outcome in sorted(set(found))} == expected
    assert run.exit_code == (1 if "failed" in expected else 0)
    assert all(run.record(record.id).id == record.id for record in run.records())


def test_a_run_of_an_earlier_version_is_reported_in_every_format(old_run: Path) -> None:
    for name in FORMATS:
        result = CliRunner().invoke(cli, ["report", str(old_run), "--format", name])
        assert result.exit_code == 0, result.output
        assert result.output.strip()


def test_a_run_of_an_earlier_version_is_equal_to_itself(old_run: Path, tmp_path: Path) -> None:
    twin = Path(shutil.copytree(old_run, tmp_path / "twin"))
    comparison = assay.Run(old_run).compare(twin)
    assert comparison.unchanged == sum(OUTCOMES[old_run.name].values())
    assert comparison.exit_code() == 0


def test_a_run_of_an_earlier_version_whose_project_is_gone_says_so_in_a_line(old_run: Path) -> None:
    journal = (old_run / "journal.jsonl").read_bytes()
    result = CliRunner().invoke(cli, ["runs", "resume", str(old_run)])
    assert isinstance(result.exception, assay.InputError)
    assert (result.exception.where or "").startswith("/project")
    assert "\n" not in result.exception.what
    assert (old_run / "journal.jsonl").read_bytes() == journal
