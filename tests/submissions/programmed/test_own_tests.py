"""`assay submissions test`: a problem's own tests, under the real command and the real pytest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Command
from tests.submissions import specification
from tests.submissions.programmed import examples

OURS = """
from unittest.mock import Mock

from slop_code.evaluation.adapters import cli
from verifier import Verifier


def result(output):
    return cli.CLIResult(
        id="test", group="core", group_type="Core", status_code=0, output=output
    )


def test_right():
    assert all(each.is_correct for each in judged("a", "a"))


def test_wrong():
    assert not all(each.is_correct for each in judged("a", "b"))


def judged(actual, expected):
    return Verifier(Mock())("core", "test", result(actual), result(expected)).values()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "problems" / "greeting"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("name: greeting\n")
    (folder / "loader.py").write_text("from slop_code.evaluation.loaders import BaseLoader\n")
    (folder / "verifier.py").write_text(examples.HEAD + examples.OUTPUT)
    solution = folder / "checkpoint_1" / "solution"
    solution.mkdir(parents=True)
    (solution / "test_of_the_solution.py").write_text("def test_it():\n    assert False\n")
    # A project the problem lies in, whose settings are none of the problem's.
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    return folder


@pytest.mark.parametrize("words", ["document", "ours"])
def test_a_problems_own_tests_run_by_name(folder: Path, assay: Command, words: str) -> None:
    text = OURS
    if words == "document":
        text = specification.section("Unit Testing (Supplementary)")
        verifier = specification.section("Simple Output Comparison")
        (folder / "verifier.py").write_text(verifier)
    (folder / "test_verifier.py").write_text(text)
    done = assay("submissions", "test", "-p", "greeting", "-q")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout
    left = {path.name for path in folder.rglob("*")}
    assert not left & {"__pycache__", ".pytest_cache"}


def test_a_failure_is_a_finding_and_tests_can_be_chosen(folder: Path, assay: Command) -> None:
    (folder / "test_verifier.py").write_text(OURS + "\n\ndef test_never():\n    assert False\n")
    done = assay("submissions", "test", "-p", folder, "-q")
    assert (done.returncode, "1 failed, 2 passed" in done.stdout) == (1, True), done.stdout
    done = assay("submissions", "test", "-p", folder, "-q", "-k", "right")
    assert (done.returncode, "1 passed, 2 deselected" in done.stdout) == (0, True), done.stdout
    done = assay("submissions", "test", "-p", folder, "-q", "test_verifier.py::test_wrong")
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout


def test_the_folder_is_a_package_and_no_secret_is_passed(
    folder: Path, assay: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "x")
    (folder / "tests").mkdir()
    (folder / "tests" / "test_both.py").write_text(
        "import os\nfrom greeting.verifier import Verifier\nfrom greeting import loader\n\n"
        "def test_environment():\n    assert 'SECRET_KEY' not in os.environ\n"
    )
    done = assay("submissions", "test", "-p", folder, "-q")
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout


def test_nothing_to_run_is_the_users_mistake(folder: Path, assay: Command) -> None:
    done = assay("submissions", "test", "-p", "greeting")
    assert (done.returncode, "no tests of its own" in done.stderr) == (2, True)
    (folder / "test_verifier.py").write_text(OURS)
    done = assay("submissions", "test", "-p", "greeting", "-k", "nothing_like_it")
    assert (done.returncode, "no test was selected" in done.stderr) == (2, True)
    done = assay("submissions", "test", "-p", "greetings")
    assert (done.returncode, "did you mean 'greeting'?" in done.stderr) == (2, True)
