"""The user's request, and the cases of a problem that it selects."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Self

from assay.config import load_config
from assay.errors import InputError, nearest
from assay.submissions.cases import BaseCase
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig
from assay.submissions.problems import find_problem

ALL = "all"


@dataclass(frozen=True)
class SubmissionsRequest:
    """The user's request as stored in a run; all paths are absolute."""

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
        """Return the request with absolute paths."""
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


@dataclass
class Filter:
    """Patterns for groups and cases, None for all; it records what it matched."""

    group: str | None = None
    case: str | None = None
    _cases: list[str] = field(default_factory=list)
    _has_met: bool = False

    def takes_group(self, group: GroupConfig) -> bool:
        return self.group is None or fnmatchcase(group.name, self.group)

    def takes_case(self, case: BaseCase) -> bool:
        is_taken = self.case is None or fnmatchcase(case.id, self.case)
        self._has_met |= is_taken
        if not is_taken and len(self._cases) < _REMEMBERED:
            self._cases.append(case.id)
        return is_taken

    def check_met(self, problem: ProblemConfig, checkpoints: list[CheckpointConfig]) -> None:
        """Raise an InputError with the nearest names if nothing matched."""
        groups = [group for one in checkpoints for group in one.groups.values()]
        if not any(self.takes_group(group) for group in groups):
            raise InputError(
                f"no group matches {self.group!r}" if self.group else "there are no groups",
                where=str(problem.path),
                advice=nearest(self.group or "", [group.name for group in groups]),
            )
        if self.case is not None and not self._has_met:
            raise InputError(
                f"no case matches {self.case!r}",
                where=str(problem.path),
                advice=nearest(self.case, self._cases),
            )


# Enough to name the nearest.
_REMEMBERED = 10_000


def find_checkpoint(problem: ProblemConfig, asked: str) -> CheckpointConfig:
    """Return a checkpoint by its name or its number."""
    for checkpoint in problem.checkpoints.values():
        if asked in (checkpoint.name, str(checkpoint.order)):
            return checkpoint
    raise InputError(
        f"no checkpoint {asked!r}",
        where=str(problem.path),
        advice=nearest(asked, list(problem.checkpoints)),
    )
