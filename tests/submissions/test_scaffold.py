"""A new problem works: lint finds nothing, its solution is right and its broken one is not."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.submissions.canonical import CanonicalSource
from assay.submissions.cases import CLICase, CLIResult
from assay.submissions.lint import lint_problem
from assay.submissions.problems import read_problem
from assay.submissions.scaffold import write_problem


def passed(folder: Path, program: Path, work: Path) -> dict[str, bool]:
    """Whether each case passes, the program run as plainly as can be."""
    problem = read_problem(folder)
    source = CanonicalSource(problem)
    checkpoint = problem.checkpoints["checkpoint_1"]

    async def all_cases() -> dict[str, bool]:
        outcomes = {}
        for group in checkpoint.groups.values():
            async with source.open(checkpoint, group) as stream:
                while (drawn := await stream.draw()) is not None:
                    assert isinstance(drawn.case, CLICase)
                    actual = run(program, drawn.case, work / drawn.case.id)
                    found = await source.verify(checkpoint, group, drawn, actual)
                    outcomes[drawn.case.id] = all(one.is_correct for one in found.values())
        return outcomes

    return asyncio.run(all_cases())


def run(program: Path, case: CLICase, work: Path) -> CLIResult:
    work.mkdir(parents=True)
    for file in case.input_files:
        (work / file.path).write_bytes(file.to_bytes())
    done = subprocess.run(
        [sys.executable, program, *case.arguments], cwd=work, capture_output=True, text=True
    )
    files = {
        path.name: path.read_text() for path in work.iterdir() if path.name in case.tracked_files
    }
    return CLIResult(
        id=case.id, group=case.group, status_code=done.returncode,
        output=done.stdout, stderr=done.stderr, files=files,
    )  # fmt: skip


def test_a_new_command_problem_works(tmp_path: Path) -> None:
    folder = tmp_path / "word_count"
    write_problem(folder, is_api=False)
    assert lint_problem(folder) == []
    assert read_problem(folder).name == "word_count"
    stage = folder / "checkpoint_1"
    good = passed(folder, stage / "solution/main.py", tmp_path / "good")
    assert good == dict.fromkeys(good, True)
    assert len(good) == 4
    broken = passed(folder, stage / "broken/main.py", tmp_path / "broken")
    # Its traceback names the missing file too, and Python ends it with 1.
    assert [name for name, is_right in broken.items() if is_right] == ["no-such-file"]


def test_a_new_server_problem_is_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "counters"
    write_problem(folder, is_api=True)
    assert lint_problem(folder) == []
    for name in ("solution", "broken"):
        program = folder / "checkpoint_1" / name / "main.py"
        compile(program.read_text(), str(program), "exec")


def test_what_exists_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("keep")
    with pytest.raises(InputError, match="exists already"):
        write_problem(tmp_path / "mine", is_api=False)
    with pytest.raises(InputError, match="is no name"):
        write_problem(tmp_path / "no name", is_api=False)


def test_json_of_a_case_file_may_name_its_schema(tmp_path: Path) -> None:
    folder = tmp_path / "count"
    write_problem(folder, is_api=False)
    (folder / "checkpoint_1/errors.yaml").unlink()
    case = {"$schema": "case.schema.json", "expected": {"status_code": 1}}
    (folder / "checkpoint_1/errors").mkdir()
    (folder / "checkpoint_1/errors/one.json").write_text(json.dumps(case))
    assert lint_problem(folder) == []
