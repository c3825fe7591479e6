"""A new problem works: lint finds nothing, its solution is right and its broken one is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.submissions.lint_rules import lint_problems
from assay.submissions.problems import read_problem
from assay.submissions.problems.authoring import write_problem
from tests.submissions.plainly import outcomes


def test_a_new_command_problem_works(tmp_path: Path) -> None:
    folder = tmp_path / "word_count"
    write_problem(folder, is_api=False)
    assert not lint_problems([folder])
    assert read_problem(folder).name == "word_count"
    good, broken = both(folder, tmp_path)
    assert good == dict.fromkeys(good, True)
    assert len(good) == 4
    # A traceback names the missing file too, and Python ends with 1.
    assert [name for name, is_right in broken.items() if is_right] == ["errors/no-such-file"]


def test_a_new_server_problem_works(tmp_path: Path) -> None:
    folder = tmp_path / "counters"
    write_problem(folder, is_api=True)
    assert not lint_problems([folder])
    good, broken = both(folder, tmp_path)
    assert good == dict.fromkeys(good, True)
    assert len(good) == 6
    wrong = {name for name, is_right in broken.items() if not is_right}
    assert wrong == {"core/add-again", "core/read", "errors/no-name"}


def both(folder: Path, work: Path) -> tuple[dict[str, bool], dict[str, bool]]:
    """How the solution and the broken one fare."""
    problem = read_problem(folder)
    checkpoint = problem.checkpoints["checkpoint_1"]
    good = outcomes(problem, checkpoint, checkpoint.path / "solution/main.py", work / "good")
    return good, outcomes(problem, checkpoint, checkpoint.path / "broken/main.py", work / "broken")


def test_what_exists_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("keep")
    with pytest.raises(InputError, match="exists already"):
        write_problem(tmp_path / "mine", is_api=False)
    with pytest.raises(InputError, match="is not a valid name"):
        write_problem(tmp_path / "no name", is_api=False)


def test_json_of_a_case_file_may_name_its_schema(tmp_path: Path) -> None:
    folder = tmp_path / "count"
    write_problem(folder, is_api=False)
    (folder / "checkpoint_1/errors.yaml").unlink()
    case = {"$schema": "case.schema.json", "expected": {"status_code": 1}}
    (folder / "checkpoint_1/errors").mkdir()
    (folder / "checkpoint_1/errors/one.json").write_text(json.dumps(case))
    assert not lint_problems([folder])
