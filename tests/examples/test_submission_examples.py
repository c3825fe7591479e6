"""The example problems: in order, and their solutions right where their broken ones are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.submissions.lint_rules import lint_problems
from assay.submissions.problems import read_problem
from tests.submissions.plainly import outcomes

EXAMPLES = Path(__file__).parents[2] / "examples" / "submissions"


@pytest.mark.parametrize("name", ["ledger", "todo_api", "weak"])
def test_lint_finds_nothing(name: str) -> None:
    assert not lint_problems([EXAMPLES / name])


@pytest.mark.parametrize(
    ("name", "stage", "count", "wrong"),
    [
        (
            "ledger",
            "checkpoint_1",
            7,
            {"core/two-categories", "errors/not-a-number", "errors/no-such-file"},
        ),
        (
            "ledger",
            "checkpoint_2",
            12,
            {
                "conversion/two-currencies",
                "conversion/unknown-currency",
                "checkpoint_1_core/written-to-a-file",
            },
        ),
        (
            "todo_api",
            "checkpoint_1",
            17,
            {
                "core/still-finished",
                "listing/only-finished",
                "listing/only-open",
                "errors/no-title",
                "errors/title-is-a-number",
            },
        ),
    ],
)
def test_a_solution_is_right_where_the_broken_one_is_not(
    name: str, stage: str, count: int, wrong: set[str], tmp_path: Path
) -> None:
    problem = read_problem(EXAMPLES / name)
    checkpoint = problem.checkpoints[stage]
    program = f"{problem.entry_file}.py"
    good = outcomes(problem, checkpoint, checkpoint.path / "solution" / program, tmp_path / "good")
    assert good == dict.fromkeys(good, True)
    assert len(good) == count
    bad = outcomes(problem, checkpoint, checkpoint.path / "broken" / program, tmp_path / "bad")
    assert {case for case, is_right in bad.items() if not is_right} == wrong


def test_the_weak_problem_has_a_group_for_every_defect() -> None:
    problem = read_problem(EXAMPLES / "weak")
    assert problem.is_programmed
    readme = (EXAMPLES / "weak" / "README.md").read_text(encoding="utf-8")
    for name in problem.checkpoints["checkpoint_1"].groups:
        assert f"| `{name}` |" in readme
        assert json.loads((EXAMPLES / "weak" / "checkpoint_1" / f"{name}.json").read_text())
