"""`assay runs compare` and its neighbours on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.runs.making import write_run


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    cases = {f"{number}": "P" for number in range(10)}
    write_run(tmp_path / "first", cases, title="suite.yaml")
    write_run(tmp_path / "second", cases | {"3": "F"}, title="suite.yaml")
    write_run(tmp_path / "out", cases | {"3": "E"}, title="suite.yaml")
    write_run(tmp_path / "other", cases, subject="agents")
    return tmp_path


def test_a_regression_fails_unless_told_otherwise(assay: Command, runs: Path) -> None:
    found = assay("runs", "compare", "first", "second")
    assert (found.returncode, found.stderr) == (1, "")
    assert "newly failing: 1\n  3  passed → failed, score 1 → 0.5\n" in found.stdout
    modes = {"regression": 1, "significant": 0, "none": 0}
    for mode, code in modes.items():
        assert assay("runs", "compare", "first", "second", "--fail-on", mode).returncode == code
    # An error is neither a regression nor a pass.
    assert assay("runs", "compare", "first", "out").returncode == 3
    assert assay("runs", "compare", "first", "out", "--fail-on", "none").returncode == 0


def test_what_cannot_be_compared_says_what_to_do(assay: Command, runs: Path) -> None:
    refused = assay("runs", "compare", "first", "other")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        "assay: error: first is a run of test and other is one of agents\n"
        "  compare two runs of the same command; see: assay runs list\n"
    )
    unknown = assay("runs", "compare", "first", "second", "--report", "junit=x.xml")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "one of html, markdown, github, json" in unknown.stderr
    both = assay("runs", "compare", "first", "second", "--report", "json", "--report", "html")
    assert (both.returncode, both.stdout) == (2, "")


def test_reports_go_to_files_or_take_the_place_of_the_text(assay: Command, runs: Path) -> None:
    files = ["--report", "html=page.html", "--report", "markdown=new/page.md"]
    found = assay("runs", "compare", "first", "second", *files)
    assert found.stdout.endswith("Regression: 1 case newly fails.\n")
    assert (runs / "page.html").read_text().startswith("<!doctype html>")
    assert "### Newly failing: 1" in (runs / "new" / "page.md").read_text()
    for words in (["--json"], ["--report", "json"]):
        found = assay("runs", "compare", "first", "second", *words)
        assert json.loads(found.stdout)["counts"]["newly_failing"] == 1


def test_a_step_summary_is_added_to_its_file(
    assay: Command, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = runs / "summary.md"
    summary.write_text("what another tool wrote")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assay("runs", "compare", "first", "second", "--report", "github")
    assay("runs", "compare", "first", "out", "--report", f"github={summary}")
    assay("report", "second", "--format", "github", "--out", summary, check=True)
    text = summary.read_text()
    assert text.startswith("what another tool wrote\n## ❌ Assay: `first` and `second` compared\n")
    assert "\n## 💥 Assay: `first` and `out` compared\n" in text
    assert "\n## ❌ Assay: `second`\n" in text
    # GitHub takes nothing of a file that is too large.
    summary.write_text("x" * 1024 * 1024)
    refused = assay("report", "second", "--format", "github", "--out", summary)
    assert refused.returncode == 2
    assert "GitHub takes no more than 1,048,576" in refused.stderr
    assert summary.stat().st_size == 1024 * 1024
