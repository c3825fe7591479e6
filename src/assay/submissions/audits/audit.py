"""An audit of a problem as a whole: its groups, its findings and its exit code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from assay import findings
from assay.errors import InputError, nearest
from assay.reports import Paint
from assay.runs import run_in_loop
from assay.submissions.audits.auditing import Auditor, AuditProgress
from assay.submissions.audits.findings import DEFAULT_MIN_SCORE, Finding, GroupAudit, findings_of
from assay.submissions.audits.showing import audit_lines, audit_values
from assay.submissions.audits.sorts import SORTS
from assay.submissions.config import CheckpointConfig, ProblemConfig
from assay.submissions.opening import ALL, Opened, SubmissionsRequest, open_checking
from assay.submissions.problems import read_problem
from assay.submissions.selection import Filter, find_checkpoint


@dataclass(frozen=True)
class Audit:
    """What was found out about the grader of a problem."""

    problem: str
    groups: list[GroupAudit]
    findings: list[Finding]
    min_score: float

    @property
    def passed(self) -> bool:
        """Return whether nothing was found."""
        return not self.findings

    @property
    def exit_code(self) -> int:
        """Return 1 if anything was found, else 0."""
        return int(bool(self.findings))

    def report(self, format: Literal["text", "json"] = "text") -> str:  # noqa: A002 - as `Run`
        """Return the numbers of every group, and the findings."""
        if format == "json":
            values = audit_values(self.problem, self.groups, self.findings, self.min_score)
            return json.dumps(values, indent=2) + "\n"
        lines = audit_lines(self.problem, self.groups, self.findings, Paint(False))
        return "\n".join(lines) + "\n"


def audit_problem(
    asked: SubmissionsRequest,
    snapshot: Path | None = None,
    *,
    min_score: float = DEFAULT_MIN_SCORE,
    ignore: Iterable[str] = (),
    progress: AuditProgress | None = None,
    on_warning: Callable[[findings.Finding], None] | None = None,
) -> Audit:
    """Try the verifier of a problem on right, empty and mutated results."""
    ignored = tuple(ignore)
    _check_ignored(ignored)
    problem = read_problem(Path(asked.problem), on_warning, allows_outside=asked.allow_outside)
    groups = run_in_loop(_audit_groups(problem, asked, snapshot, progress))
    found = findings_of(groups, min_score=min_score, ignored=ignored)
    return Audit(problem.name, groups, found, min_score)


def _check_ignored(ignored: Iterable[str]) -> None:
    for text in ignored:
        code = text.partition("=")[0]
        if code not in SORTS:
            raise InputError(f"there is no finding {code!r}", advice=nearest(code, SORTS))


async def _audit_groups(
    problem: ProblemConfig,
    asked: SubmissionsRequest,
    snapshot: Path | None,
    progress: AuditProgress | None,
) -> list[GroupAudit]:
    """Audit every group that was asked for, each checkpoint with its own reference."""
    every = list(problem.checkpoints.values())
    chosen = every if asked.checkpoint == ALL else [find_checkpoint(problem, asked.checkpoint)]
    opened = {one.name: _opened(problem, one, asked, snapshot) for one in chosen}
    # All have the same problem, so that the source of one serves them all.
    source = opened[chosen[0].name].source
    wanted = Filter(asked.group, asked.case)
    auditor = Auditor(problem, source, wanted, asked.jobs)
    if progress is not None:
        auditor.progress = progress
    groups = []
    async with AsyncExitStack() as held:
        if isinstance(source, AbstractAsyncContextManager):
            await held.enter_async_context(source)
        for checkpoint in chosen:
            groups += await auditor.audit(checkpoint, opened[checkpoint.name].prepare)
    wanted.check_met(problem, chosen)
    if not any(group.cases or group.broken for group in groups):
        raise InputError("there are no cases to audit", where=str(problem.path))
    return groups


def _opened(
    problem: ProblemConfig,
    checkpoint: CheckpointConfig,
    asked: SubmissionsRequest,
    snapshot: Path | None,
) -> Opened:
    """Open a checkpoint with the reference that is to be right about it."""
    reference = _reference(problem, checkpoint) if snapshot is None else snapshot.absolute()
    return open_checking(replace(asked, checkpoint=checkpoint.name, snapshot=str(reference)))


def _reference(problem: ProblemConfig, checkpoint: CheckpointConfig) -> Path:
    folder = checkpoint.path / "solution"
    problem.check_inside(folder)
    if not folder.is_dir():
        raise InputError(
            "the checkpoint has no reference solution",
            where=str(folder),
            advice="write one there, or name a submission that is right with -s",
        )
    return folder
