"""What the real command makes of verifiers that break."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.submissions.programmed.support import VERIFIER, problem

CONFIG = """
name: small_problem
entry_file: main.py
adapter: cli
checkpoints:
  checkpoint_1:
    groups: {core: {type: Core}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = problem(tmp_path).path
    (folder / "config.yaml").write_text(CONFIG)
    (tmp_path / "main.py").write_text("import sys\nprint(sys.argv[1], end='')\n")
    return folder


def break_verifier(folder: Path, action: str) -> None:
    text = (folder / "verifier.py").read_text()
    changed = text.replace("diff =", f"if case_name == 'case_1': {action}\n        diff =")
    (folder / "verifier.py").write_text(changed)


@pytest.mark.parametrize("action", ["raise KeyError('gone')", "import os; os._exit(1)"])
def test_a_verifier_that_breaks_spoils_its_case_only(
    folder: Path, assay: Command, action: str
) -> None:
    assert "diff =" in VERIFIER
    break_verifier(folder, action)
    done = assay("submissions", "run-case", "-s", folder.parent, "-p", folder, "-c", "1")
    reports = json.loads(done.stdout)
    assert [(each["id"], each["passed"]) for each in reports] == [
        ("case_0", True),
        ("case_1", False),
        ("case_2", True),
    ]
    assert done.returncode == 3


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("import not_there_at_all", "it imports 'not_there_at_all'"),
        ("return None", "the verifier returned NoneType, not a mapping"),
    ],
)
def test_a_verifier_that_cannot_be_right_is_the_users_mistake(
    folder: Path, assay: Command, action: str, said: str
) -> None:
    break_verifier(folder, action)
    done = assay("submissions", "run-case", "-s", folder.parent, "-p", folder, "-c", "1")
    assert (done.returncode, said in done.stderr, done.stdout) == (2, True, ""), done.stderr
    assert "verifier.py" in done.stderr


def test_a_config_with_a_key_twice_runs_with_the_last_one_and_a_warning(
    folder: Path, assay: Command
) -> None:
    (folder / "config.yaml").write_text(
        CONFIG.replace("adapter: cli", "adapter: api\nadapter: cli")
    )
    for words in (("run-case", "-c", "1"), ("verify", "-q", "--out", folder.parent / "run")):
        done = assay("submissions", *words, "-s", folder.parent, "-p", folder)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("warning: ") == 1
        assert "config.yaml:5: the key `adapter` stands twice" in done.stderr
        assert "the last one is used" in done.stderr


def test_a_verifier_without_a_loader_is_refused_by_the_command(
    folder: Path, assay: Command
) -> None:
    (folder / "loader.py").unlink()
    (folder / "verifier.py").write_text("raise RuntimeError('never ignored')\n")
    case = "cases: {a: {arguments: [x], expected: {status_code: 0}}}\n"
    (folder / "checkpoint_1" / "core.yaml").write_text(case)
    for words in (("run-case", "-c", "1"), ("verify", "-q"), ("audit",)):
        more = () if words == ("audit",) else ("-s", folder.parent)
        done = assay("submissions", *words, *more, "-p", folder)
        assert (done.returncode, done.stdout) == (2, ""), done.stdout
        assert "verifier.py:1: nobody calls this file" in done.stderr


def test_a_regression_group_without_an_origin_is_run_from_its_own_checkpoint(
    folder: Path, assay: Command
) -> None:
    found = "helpers.get_group_path(group, self.problem, self.checkpoint).iterdir()"
    text = (folder / "loader.py").read_text()
    text = text.replace("import BaseLoader", "import BaseLoader, helpers")
    text = text.replace("number in range(3)", f"number in (file.read_text() for file in {found})")
    (folder / "loader.py").write_text(text)
    (folder / "config.yaml").write_text(CONFIG.replace("type: Core", "type: Regression"))
    (folder / "checkpoint_1" / "core").mkdir()
    (folder / "checkpoint_1" / "core" / "a.txt").write_text("7")
    done = assay("submissions", "run-case", "-s", folder.parent, "-p", folder, "-c", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [each["id"] for each in json.loads(done.stdout)] == ["case_7"]
