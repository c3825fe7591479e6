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
