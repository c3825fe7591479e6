"""Which cases of a problem were asked for, by glob; asking for what is not there is a mistake."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from assay.errors import InputError, nearest
from assay.submissions.cases import BaseCase
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig


@dataclass
class Filter:
    """Patterns for groups and cases, None for all; it notes what it met."""

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
        """An InputError with the nearest names if there was nothing to take."""
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
    """A checkpoint by its name or its number."""
    for checkpoint in problem.checkpoints.values():
        if asked in (checkpoint.name, str(checkpoint.order)):
            return checkpoint
    raise InputError(
        f"no checkpoint {asked!r}",
        where=str(problem.path),
        advice=nearest(asked, list(problem.checkpoints)),
    )
