"""`assay submissions test`: a problem's own tests, under the real command and the real pytest."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command
from tests.submissions import specification
from tests.submissions.python_problems import examples
from tests.waiting import PATIENCE

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
    assert (done.returncode, "does not have its own tests" in done.stderr) == (2, True)
    (folder / "test_verifier.py").write_text(OURS)
    done = assay("submissions", "test", "-p", "greeting", "-k", "nothing_like_it")
    assert (done.returncode, "no test was selected" in done.stderr) == (2, True)
    done = assay("submissions", "test", "-p", "greetings")
    assert (done.returncode, "did you mean 'greeting'?" in done.stderr) == (2, True)


BARE = (
    OURS + "\n\nif __name__ == '__main__':\n    test_right()\n    test_wrong()\n    print('done')\n"
)


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with packages of its own, in which Assay and pytest can be imported too."""
    folder = tmp_path_factory.mktemp("other")
    venv.create(folder, with_pip=False, symlinks=True)
    return folder / "bin" / "python"


def bare(python: Path, *words: str | Path, cwd: Path, **variables: str) -> Any:
    path = os.pathsep.join([*variables.values(), *(entry for entry in sys.path if entry)])
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return subprocess.run(
        [python, *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**kept, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"},
    )


@pytest.mark.parametrize(
    "words", [("test_verifier.py",), ("-m", "pytest", "-q", "-c", os.devnull, "test_verifier.py")]
)
def test_a_problems_own_tests_run_without_the_command_once_that_was_asked_for(
    folder: Path, python: Path, words: tuple[str, ...]
) -> None:
    (folder / "test_verifier.py").write_text(BARE)
    before = bare(python, *words, cwd=folder)
    assert before.returncode != 0
    assert "No module named 'slop_code'" in before.stdout + before.stderr
    written = bare(python, "-m", "assay", "submissions", "alias", cwd=folder)
    assert written.returncode == 0, written.stderr
    assert str(python.parents[1]) in written.stdout
    try:
        done = bare(python, *words, cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "done" in done.stdout or "2 passed" in done.stdout
        # Asked for twice it is written again, and `assay submissions test` is none the worse.
        for more in ((), ("--remove",)):
            again = bare(python, "-m", "assay", "submissions", "alias", *more, cwd=folder)
            assert again.returncode == 0, again.stderr
    finally:
        for file in python.parents[1].rglob("slop_code.py"):
            file.unlink()
    gone = bare(python, "-c", "import slop_code", cwd=folder)
    assert "No module named 'slop_code'" in gone.stderr


def test_the_names_can_be_had_in_a_folder_of_ones_own(
    folder: Path, assay: Command, tmp_path: Path
) -> None:
    (folder / "test_verifier.py").write_text(BARE)
    place = tmp_path / "names"
    done = assay("submissions", "alias", "--to", place)
    assert (done.returncode, f"PYTHONPATH={place}" in done.stdout) == (0, True), done.stderr
    python = Path(sys.executable)
    done = bare(python, "test_verifier.py", cwd=folder, place=str(place))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    names = "import slop_code.execution.file_ops as f; print(f.InputFile)"
    done = bare(python, "-c", names, cwd=folder, place=str(place))
    assert (done.returncode, "assay.submissions" in done.stdout) == (0, True), done.stderr
    done = assay("submissions", "alias", "--to", place, "--remove")
    assert (done.returncode, list(place.iterdir())) == (0, [])
    done = assay("submissions", "alias", "--to", place, "--remove")
    assert (done.returncode, "no such file" in done.stderr) == (2, True)


@pytest.mark.parametrize("name", ["slop_code.py", "slop_code/__init__.py", "slop_code/part.py"])
def test_the_real_package_is_never_hidden_or_removed(
    folder: Path, python: Path, tmp_path: Path, name: str
) -> None:
    real = tmp_path / "real"
    (real / name).parent.mkdir(parents=True)
    (real / name).write_text("REAL = True\n")
    for more in ((), ("--to", str(tmp_path / "elsewhere"))):
        words = ("-m", "assay", "submissions", "alias", *more)
        done = bare(python, *words, cwd=folder, real=str(real))
        assert (done.returncode, "installed already" in done.stderr) == (2, True), done.stderr
    assert not list(python.parents[1].rglob("slop_code.py"))
    if name == "slop_code.py":
        for last in (["--remove"], []):
            words = ("-m", "assay", "submissions", "alias", "--to", str(real), *last)
            done = bare(python, *words, cwd=folder)
            assert (done.returncode, "was not made by Assay" in done.stderr) == (2, True)
    assert (real / name).read_text() == "REAL = True\n"
