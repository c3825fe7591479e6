"""Verification of submissions: runs a program on the cases of a problem and checks the results.

Names beyond the three verbs, which only the commands need, are imported on first use.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

if TYPE_CHECKING:
    from assay.findings import Findings
    from assay.runs import Run
    from assay.submissions.audits import Audit, audit_problem, render_text
    from assay.submissions.environments import load_environment, pull_environment
    from assay.submissions.plan import SubmissionsPlan, print_warning
    from assay.submissions.problems import find_problem
    from assay.submissions.problems.authoring import schema_text, write_problem
    from assay.submissions.python_problems.own_tests import remove_shim, run_own_tests, write_shim
    from assay.submissions.records import to_case_values
    from assay.submissions.request import SubmissionsRequest

_HOMES = {
    "audits": (
        "Audit",
        "audit_problem",
        "render_text",
    ),
    "environments": ("load_environment", "pull_environment"),
    "plan": (
        "SubmissionsPlan",
        "print_warning",
    ),
    "problems": ("find_problem",),
    "problems.authoring": (
        "schema_text",
        "write_problem",
    ),
    "python_problems.own_tests": ("remove_shim", "run_own_tests", "write_shim"),
    "records": ("to_case_values",),
    "request": ("SubmissionsRequest",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Audit",
    "SubmissionsPlan",
    "SubmissionsRequest",
    "audit",
    "audit_problem",
    "find_problem",
    "lint",
    "load_environment",
    "print_warning",
    "pull_environment",
    "remove_shim",
    "render_text",
    "run_own_tests",
    "schema_text",
    "to_case_values",
    "verify",
    "write_problem",
    "write_shim",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


class SubmissionOptions(TypedDict, total=False):
    """Which cases are run and how, as on the command line."""

    problem_path: str | Path
    checkpoint: str | int
    environment: str | Path | None
    group: str | None
    case: str | None
    isolation: str
    allow_outside: bool
    jobs: int | None


def verify(
    snapshot: str | Path,
    problem: str | Path,
    *,
    policy: str = "all-cases",
    out: str | Path | None = None,
    baseline: str | Path | None = None,
    **options: Unpack[SubmissionOptions],
) -> Run:
    """Run a submission on the cases of a problem and report whether it is correct.

    `snapshot` is the folder of the submission, `problem` a folder or a name in `problem_path`. The
    options are those of `assay submissions verify`; so is the exit code of the run.
    """
    from assay.runs import start_configured
    from assay.submissions.plan import SubmissionsPlan
    from assay.submissions.request import SubmissionsRequest

    plan = SubmissionsPlan(SubmissionsRequest.of(snapshot, problem, **options), policy)
    return start_configured(plan, out=out, baseline=baseline)


def audit(
    problem: str | Path,
    snapshot: str | Path | None = None,
    *,
    min_score: float = 0.5,
    ignore: Iterable[str] = (),
    **options: Unpack[SubmissionOptions],
) -> Audit:
    """Audit a grader: run a problem's verifier on correct, empty and mutated results.

    `snapshot` is the reference solution; without one it is `solution` in the folder of each
    checkpoint. The options are those of `assay submissions audit`; so is the exit code.
    """
    from assay.submissions.audits import audit_problem
    from assay.submissions.request import SubmissionsRequest

    asked = SubmissionsRequest.of(snapshot or "", problem, **options)
    reference = None if snapshot is None else Path(snapshot)
    return audit_problem(asked, reference, min_score=min_score, ignore=ignore)


def lint(
    *problems: str | Path,
    problem_path: str | Path = "problems",
    ignore: Iterable[str] = (),
    allow_outside: bool = False,
) -> Findings:
    """Return the defects of problems: config, cases, signatures of their code.

    `problems` are folders, or names of folders in `problem_path`. Nothing of them is run. Codes in
    `ignore`, and those that the project's configuration ignores, are left out.
    """
    from assay.config import load_config
    from assay.submissions.lint_rules import lint_problems
    from assay.submissions.problems import find_problem

    ignored = [*load_config().submissions.ignore, *ignore]
    folders = [find_problem(str(problem), Path(problem_path)) for problem in problems]
    return lint_problems(folders, ignore=ignored, allow_outside=allow_outside)
