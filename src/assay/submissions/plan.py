"""The plan of `verify`: a problem, a submission, and the pass policy."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.config import check_named_code
from assay.errors import InputError
from assay.escaping import escape_hidden
from assay.extras import has_extra, how_to_install
from assay.findings import Finding
from assay.reports import keep_report
from assay.runs import Manifest, Progress, Run, Step
from assay.submissions.config import CheckpointConfig, ProblemConfig
from assay.submissions.declarative import DeclarativeSource
from assay.submissions.environments import (
    EnvironmentFile,
    find_environment,
    load_environment,
    prepare,
)
from assay.submissions.folders import digest_problem
from assay.submissions.problems import read_problem
from assay.submissions.protocols import CaseSource, Prepare, Site
from assay.submissions.python_problems.source import PythonSource
from assay.submissions.records import DEFAULT, POLICIES, SUBJECT, write_evaluation
from assay.submissions.request import ALL, Filter, SubmissionsRequest, find_checkpoint
from assay.submissions.verification import Verification

# Where the submission of a checkpoint may be, in a folder that has one for each.
_OF_CHECKPOINT = ("{name}/solution", "{name}/snapshot", "{name}")


class SubmissionsPlan:
    """Runs a submission on the cases of a problem."""

    total: int | None = None
    waits = True

    def __init__(
        self,
        asked: SubmissionsRequest,
        policy: str = DEFAULT,
        *,
        on_warning: Callable[[Finding], None] | None = None,
    ) -> None:
        if policy not in POLICIES:
            raise InputError(f"unknown policy {policy!r}", advice=f"valid: {', '.join(POLICIES)}")
        opened = open_request(asked, on_warning=on_warning)
        self._problem, self._checking, self._policy = opened.problem, opened.checking, policy
        self._asked, self.jobs = asked, asked.jobs
        self.manifest = Manifest(
            subject=SUBJECT,
            title=f"{opened.problem.name} by {asked.snapshot}",
            is_partial=asked.is_partial,
            asked={**asked.values(), "policy": policy},
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Another process rebuilds the plan and its own copy of the submission.
        return SubmissionsPlan, (self._asked, self._policy)

    @classmethod
    def from_run(
        cls,
        asked: dict[str, Any],
        *,
        jobs: int | None = None,
        project: Path | None = None,
        on_warning: Callable[[Finding], None] | None = None,
    ) -> SubmissionsPlan:
        """Rebuild the plan of a run from its run.json.

        Code that it names must belong to the `project`, if one is given.
        """
        try:
            # Runs that were made before there was such an option did without it.
            names, new = SubmissionsRequest.__dataclass_fields__, ("allow_outside",)
            known = {name: asked[name] for name in names if name in asked or name not in new}
            before, policy = SubmissionsRequest(**known), asked["policy"]
        except KeyError:
            raise InputError(
                "run.json does not contain the request", advice="start a new run"
            ) from None
        if project is not None:
            check_recorded(before, project)
        if jobs is not None:
            before = replace(before, jobs=jobs)
        return cls(before, policy, on_warning=on_warning)

    def cases(self) -> AsyncIterator[Step]:
        """List the cases as their groups are reached."""
        return self._checking.steps()

    def open_worker(
        self, folder: Path, progress: Progress | None
    ) -> AbstractAsyncContextManager[Verification]:
        """Return the worker that runs and verifies single cases."""
        return self._checking

    def check_met(self) -> None:
        """Raise an InputError if a filter or the whole run matched no case."""
        self._checking.check_met()

    def finish(self, run: Run) -> list[str]:
        """Judge the run by its policy; write `evaluation.json`, and all reports as parquet.

        Parquet takes an extra. Without it nothing is lost: the journal has every report.
        """
        self.check_met()
        written = write_evaluation(run, self._problem.name, self._policy)
        if has_extra("parquet"):
            keep_report(run, "parquet", "reports.parquet")
            return [f"written: {written}"]
        return [f"written: {written}", f"not written: reports.parquet; {how_to_install('parquet')}"]


@dataclass(frozen=True)
class OpenedRequest:
    """A problem and a submission, ready to be run."""

    problem: ProblemConfig
    checkpoints: list[CheckpointConfig]
    source: CaseSource
    prepare: Prepare
    jobs: int
    checking: Verification


def open_request(
    asked: SubmissionsRequest,
    jobs: int | None = None,
    *,
    on_warning: Callable[[Finding], None] | None = None,
) -> OpenedRequest:
    """Read everything that was requested; raise InputError before anything runs."""
    problem = read_problem(Path(asked.problem), on_warning, allows_outside=asked.allow_outside)
    checkpoints = _checkpoints(problem, asked.checkpoint)
    folders = {one.name: _snapshot(Path(asked.snapshot), one.name) for one in checkpoints}
    source: CaseSource = (
        PythonSource(problem, on_output=_print_output)
        if problem.is_programmed
        else DeclarativeSource(problem)
    )
    file = Path(asked.environment) if asked.environment else None
    environment = load_environment(file, on_warning)
    _check_supported(problem, environment)
    find_environment(environment.type).check(environment)

    def prepare_submission(checkpoint: CheckpointConfig) -> AbstractAsyncContextManager[Site]:
        folder = folders[checkpoint.name]
        return prepare(folder, environment, problem, checkpoint, isolation=asked.isolation)

    def prepare_reference(checkpoint: CheckpointConfig) -> AbstractAsyncContextManager[Site]:
        folder = checkpoint.path / "solution"
        problem.check_inside(folder)
        return prepare(folder, environment, problem, checkpoint, isolation=asked.isolation)

    wanted, digest = Filter(asked.group, asked.case), digest_problem(problem)
    checking = Verification(
        problem, checkpoints, source, prepare_submission, wanted, digest, prepare_reference
    )
    return OpenedRequest(
        problem, checkpoints, source, prepare_submission, jobs or asked.jobs, checking
    )


def _check_supported(problem: ProblemConfig, environment: EnvironmentFile) -> None:
    """Raise an InputError if a problem names environments and this is none of them."""
    names = problem.environments
    if names and not {environment.type, environment.name} & set(names):
        raise InputError(
            f"it cannot be run in the environment {environment.name!r} of type {environment.type}",
            where=str(problem.path),
            advice=f"its `environments` are {', '.join(names)}",
        )


def check_recorded(asked: SubmissionsRequest, project: Path) -> None:
    """Raise an InputError for choices that an untrusted run folder must not make.

    That is code of a problem, and an environment, which names variables and folders for programs:
    both must belong to the user's own project.
    """
    problem = read_problem(Path(asked.problem), allows_outside=asked.allow_outside)
    if problem.is_programmed:
        check_named_code(Path(asked.problem), project)
    if asked.environment is not None:
        check_named_code(Path(asked.environment), project)


def print_warning(finding: Finding) -> None:
    """Print a warning about a problem that does not prevent running it."""
    advice = f" ({finding.advice})" if finding.advice else ""
    sys.stderr.write(escape_hidden(f"warning: {finding.place}: {finding.message}{advice}") + "\n")


def _print_output(text: str) -> None:
    """Print the output of a problem's own code, for its author."""
    sys.stderr.write(escape_hidden(text))


def _checkpoints(problem: ProblemConfig, asked: str) -> list[CheckpointConfig]:
    if asked == ALL:
        return list(problem.checkpoints.values())
    return [find_checkpoint(problem, asked)]


def _snapshot(folder: Path, checkpoint: str) -> Path:
    """Return the submission of a checkpoint: its folder in the snapshot, or the snapshot."""
    if not folder.is_dir():
        raise InputError(
            "is a file" if folder.exists() else "there is no such folder",
            where=str(folder),
            advice="name the folder of the submission with -s",
        )
    for pattern in _OF_CHECKPOINT:
        own = folder / pattern.format(name=checkpoint)
        if own.is_dir():
            return own
    return folder
