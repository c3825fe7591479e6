"""Compares two runs case by case; samples are evidence and are not compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from assay.model import Outcome
from assay.runs.folder import Run
from assay.runs.index import Row

SCORE_TOLERANCE = 1e-9


class CaseChange(NamedTuple):
    """A case that differs; `before` is None for a new one."""

    id: str
    before: Row | None
    after: Row


@dataclass
class RunComparison:
    """The cases that differ; all others are `unchanged`."""

    newly_failing: list[CaseChange] = field(default_factory=list)
    newly_passing: list[CaseChange] = field(default_factory=list)
    newly_errored: list[CaseChange] = field(default_factory=list)
    score_changes: list[CaseChange] = field(default_factory=list)
    added: list[Row] = field(default_factory=list)
    removed: list[Row] = field(default_factory=list)
    unchanged: int = 0
    is_complete: bool = True

    def exit_code(self) -> int:
        """1 if a case newly fails, 3 if one newly ends in an error or has not run yet, else 0."""
        if self.newly_failing:
            return 1
        return 3 if self.newly_errored or not self.is_complete else 0


def compare_runs(before: Run, after: Run) -> RunComparison:
    """Compare by case id; a case that only one run has is added or removed."""
    finished = before.manifest.finished is not None and after.manifest.finished is not None
    comparison = RunComparison(is_complete=finished)
    for row in after.rows():
        earlier = before.find(row.id)
        if earlier is None:
            _classify_new_case(comparison, row, after)
        else:
            _classify_case(comparison, row, earlier, before.fails(earlier.outcome), after)
    comparison.removed = [row for row in before.rows() if after.find(row.id) is None]
    return comparison


def _classify_new_case(comparison: RunComparison, row: Row, after: Run) -> None:
    """Count a new case that does not pass as a change."""
    if after.fails(row.outcome):
        comparison.newly_failing.append(CaseChange(row.id, None, row))
    elif row.outcome is Outcome.ERROR:
        comparison.newly_errored.append(CaseChange(row.id, None, row))
    else:
        comparison.added.append(row)


def _classify_case(
    comparison: RunComparison, row: Row, earlier: Row, failed_before: bool, after: Run
) -> None:
    change, outcome = CaseChange(row.id, earlier, row), row.outcome
    newly_wrong = outcome is Outcome.FAILED and earlier.outcome is not Outcome.FAILED
    if newly_wrong or (after.fails(outcome) and not failed_before):
        comparison.newly_failing.append(change)
    elif outcome is Outcome.ERROR and earlier.outcome is not Outcome.ERROR:
        comparison.newly_errored.append(change)
    elif outcome is Outcome.PASSED and earlier.outcome is not Outcome.PASSED:
        comparison.newly_passing.append(change)
    elif abs(row.score - earlier.score) > SCORE_TOLERANCE:
        comparison.score_changes.append(change)
    else:
        comparison.unchanged += 1
