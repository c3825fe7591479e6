"""Is the submission right? Runs a program on the cases of a problem and verifies what it did."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.findings import Findings

__all__ = ["lint"]


def lint(
    *problems: str | Path,
    problem_path: str | Path = "problems",
    ignore: Iterable[str] = (),
    allow_outside: bool = False,
) -> Findings:
    """Return what is wrong with problems: config, cases, signatures of their code.

    `problems` are folders, or names of folders in `problem_path`. Nothing of them is run. Codes in
    `ignore`, and those that the project's configuration ignores, are left out.
    """
    from assay.config import load_config
    from assay.submissions.lint_rules import lint_problems
    from assay.submissions.problems import find_problem

    ignored = [*load_config().submissions.ignore, *ignore]
    folders = [find_problem(str(problem), Path(problem_path)) for problem in problems]
    return lint_problems(folders, ignore=ignored, allow_outside=allow_outside)
