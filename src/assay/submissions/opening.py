"""From what was asked for to something that runs: problem, source of cases, submission."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from assay.config import load_config
from assay.errors import InputError
from assay.findings import Finding
from assay.projects import check_named_code
from assay.submissions.config import CheckpointConfig, ProblemConfig
from assay.submissions.declarative import CanonicalSource
from assay.submissions.digests import problem_digest
from assay.submissions.environments import find_environment, load_environment, prepare
from assay.submissions.problems import find_problem, read_problem
from assay.submissions.python_problems.source import ProgrammedSource
from assay.submissions.running import Checking, Prepare, Site
from assay.submissions.seams import Source
from assay.submissions.selection import Filter, find_checkpoint
from assay.visible import visible

ALL = "all"
# Where the submission of a checkpoint may be, in a folder that has one for each.
_OF_CHECKPOINT = ("{name}/solution", "{name}/snapshot", "{name}")


@dataclass(frozen=True)
class SubmissionsRequest:
    """What the user asked for, as a run keeps it; all paths are absolute."""

    snapshot: str
    problem: str
    checkpoint: str
    environment: str | None
    group: str | None
    case: str | None
    isolation: str
    jobs: int
    allow_outside: bool = False

    @classmethod
    def of(
        cls,
        snapshot: str | Path,
        problem: str | Path,
        *,
        problem_path: str | Path = "problems",
        checkpoint: str | int = ALL,
        environment: str | Path | None = None,
        group: str | None = None,
        case: str | None = None,
        isolation: str = "auto",
        allow_outside: bool = False,
        jobs: int | None = None,
    ) -> Self:
        """Return what was asked with paths that mean the same in every folder."""
        return cls(
            snapshot=str(Path(snapshot).absolute()),
            problem=str(find_problem(str(problem), Path(problem_path)).absolute()),
            checkpoint=str(checkpoint),
            environment=None if environment is None else str(Path(environment).absolute()),
            group=group,
            case=case,
            isolation=isolation,
            jobs=jobs or load_config().jobs_or_default(),
            allow_outside=allow_outside,
        )

    @property
    def is_partial(self) -> bool:
        return self.group is not None or self.case is not None

    def values(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Opened:
    """A problem and a submission, ready to be run."""

    problem: ProblemConfig
    checkpoints: list[CheckpointConfig]
    source: Source
    prepare: Prepare
    jobs: int
    checking: Checking


def open_checking(
    asked: SubmissionsRequest,
    jobs: int | None = None,
    *,
    on_warning: Callable[[Finding], None] | None = None,
) -> Opened:
    """Read everything that was asked for; raises InputError before anything is run."""
    problem = read_problem(Path(asked.problem), on_warning, allows_outside=asked.allow_outside)
    checkpoints = _checkpoints(problem, asked.checkpoint)
    folders = {one.name: _snapshot(Path(asked.snapshot), one.name) for one in checkpoints}
    source: Source = (
        ProgrammedSource(problem, on_output=_shown)
        if problem.is_programmed
        else CanonicalSource(problem)
    )
    file = Path(asked.environment) if asked.environment else None
    environment = load_environment(file, on_warning)
    find_environment(environment.type).check(environment)

    def prepared(checkpoint: CheckpointConfig) -> AbstractAsyncContextManager[Site]:
        folder = folders[checkpoint.name]
        return prepare(folder, environment, problem, checkpoint, isolation=asked.isolation)

    def prepared_reference(checkpoint: CheckpointConfig) -> AbstractAsyncContextManager[Site]:
        folder = checkpoint.path / "solution"
        problem.check_inside(folder)
        return prepare(folder, environment, problem, checkpoint, isolation=asked.isolation)

    wanted, digest = Filter(asked.group, asked.case), problem_digest(problem)
    checking = Checking(problem, checkpoints, source, prepared, wanted, digest, prepared_reference)
    return Opened(problem, checkpoints, source, prepared, jobs or asked.jobs, checking)


def check_recorded(asked: SubmissionsRequest, project: Path) -> None:
    """Raise an InputError for what a run folder, which may be somebody else's, must not choose.

    That is code of a problem, and an environment, which names variables and folders for programs:
    both must be of the user's own project.
    """
    problem = read_problem(Path(asked.problem), allows_outside=asked.allow_outside)
    if problem.is_programmed:
        check_named_code(Path(asked.problem), project)
    if asked.environment is not None:
        check_named_code(Path(asked.environment), project)


def print_warning(finding: Finding) -> None:
    """Print what is doubtful about a problem and no reason not to run it."""
    advice = f" ({finding.advice})" if finding.advice else ""
    sys.stderr.write(visible(f"warning: {finding.place}: {finding.message}{advice}") + "\n")


def _shown(text: str) -> None:
    """What a problem's own code prints is for its author, and never part of the result."""
    sys.stderr.write(visible(text))


def _checkpoints(problem: ProblemConfig, asked: str) -> list[CheckpointConfig]:
    if asked == ALL:
        return list(problem.checkpoints.values())
    return [find_checkpoint(problem, asked)]


def _snapshot(folder: Path, checkpoint: str) -> Path:
    """The submission of a checkpoint: a folder of its own in the snapshot, or the snapshot."""
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
