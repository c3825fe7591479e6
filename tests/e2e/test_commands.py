"""The other commands, through the real command line."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Command

SUITE = Path(__file__).with_name("suite.py")


@pytest.mark.real_start
def test_init_writes_a_project_that_works(assay: Command, tmp_path: Path) -> None:
    first = assay("init")
    assert first.returncode == 0
    assert {"assay.toml", "evaluations/first.py", ".github/workflows/assay.yml"} <= {
        str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()
    }
    ran = assay("run", "evaluations/first.py")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "3 of 3 cases passed" in ran.stdout
    (tmp_path / "assay.toml").write_text("jobs = 1\n")
    again = assay("init")
    assert again.stdout.count("it exists") == 3
    assert (tmp_path / "assay.toml").read_text() == "jobs = 1\n"


def test_init_leaves_a_configured_project_configured_once(assay: Command, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.assay]\njobs = 1\n")
    assert "pyproject.toml has [tool.assay]" in assay("init").stdout
    assert assay("run", "evaluations/first.py").returncode == 0


@pytest.mark.real_start
def test_runs_are_listed_and_shown(assay: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAD", "case-1=raise")
    assay("run", SUITE)
    listed = json.loads(assay("runs", "list", "--json").stdout)["runs"]
    assert [run["outcomes"]["error"] for run in listed] == [1]
    assert listed[0]["run"] in assay("runs", "list").stdout
    assert listed[0]["title"] == str(SUITE)
    assert "-suite-" in listed[0]["run"]
    passed = assay("runs", "show", "latest", "case-0").stdout
    assert 'actual:   "text 0"' in passed
    shown = assay("runs", "show", "latest", "case-1")
    assert "the task raised RuntimeError" in shown.stdout
    assert "\x1b" not in shown.stdout
    unknown = assay("runs", "show", "latest", "case-11")
    assert unknown.returncode == 2
    assert "did you mean 'case-1'?" in unknown.stderr


def test_a_run_of_python_says_how_it_is_resumed(assay: Command, tmp_path: Path) -> None:
    script = "import assay; assay.evaluate([], lambda case: 0, lambda *four: 0, out='run')"
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    result = assay("runs", "resume", "run")
    assert result.returncode == 2
    assert "resume=True" in result.stderr


def test_the_configuration_is_obeyed(
    assay: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAD", "case-1=fail")
    (tmp_path / "assay.toml").write_text('runs = "kept"\nbaseline = "known.json"\n')
    missing = assay("run", SUITE)
    assert missing.returncode == 2
    assert "--write-baseline" in missing.stderr
    (tmp_path / "assay.toml").write_text('runs = "kept"\n')
    assay("run", SUITE, "--write-baseline", "known.json")
    (tmp_path / "assay.toml").write_text('runs = "kept"\nbaseline = "known.json"\n')
    assert assay("run", SUITE).returncode == 0
    assert len(list((tmp_path / "kept").iterdir())) == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(assay: Command, shell: str) -> None:
    result = assay("completion", shell)
    assert result.returncode == 0
    assert "_ASSAY_COMPLETE" in result.stdout


def test_completion_completes(assay: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_ASSAY_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "assay ru")
    monkeypatch.setenv("COMP_CWORD", "1")
    command = [str(Path(sys.executable).with_name("assay"))]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.stdout.split() == ["plain,run", "plain,runs"]


@pytest.mark.real_start
def test_version_and_help(assay: Command) -> None:
    from assay import __version__

    assert assay("--version").stdout == f"assay {__version__}\n"
    helped = assay("--help").stdout
    assert "Exit codes: 0 everything passed" in helped
    assert assay("run", "-h").returncode == 0


def test_a_reader_that_leaves_is_no_error(tmp_path: Path, assay: Command) -> None:
    assay("run", SUITE, "--out", "run")
    command = f"{sys.executable} -m assay report run --format json | head -c 10"
    result = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert result.stderr == ""


@pytest.mark.real_start
def test_checks_are_listed(assay: Command) -> None:
    listed = assay("checks").stdout
    assert "exact" in listed
    assert "absolute = " in assay("checks", "number").stdout


def test_progress_is_for_terminals_only(
    assay: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert assay("run", SUITE).stderr == ""
    ours, theirs = pty.openpty()
    for words, expected in (([], True), (["--quiet"], False)):
        result = subprocess.run(
            [sys.executable, "-m", "assay", "run", str(SUITE), *words],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, text=True,
        )  # fmt: skip
        assert result.returncode == 0
        os.set_blocking(ours, False)
        try:
            shown = os.read(ours, 65536).decode()
        except BlockingIOError:
            shown = ""
        assert ("cases" in shown) == expected
    os.close(ours)
    os.close(theirs)
