"""`assay submissions audit`: grades the grader."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.common import in_colour, standard_output_reserved
from assay.cli.submissions.options import FILE, problem_options
from assay.config import load_config
from assay.errors import InputError, nearest

if TYPE_CHECKING:
    from assay.submissions.audits import AuditProgress, GroupAudit
    from assay.submissions.config import CheckpointConfig, ProblemConfig
    from assay.submissions.opening import Asked, Opened

# Told here and not read from the audit, so that help needs none of the subject.
_MIN_SCORE = 0.5


@click.command()
@problem_options
@click.option(
    "--snapshot",
    "-s",
    type=FILE,
    help="The reference solution; default: `solution` in the folder of each checkpoint.",
)
@click.option(
    "--checkpoint",
    "-c",
    default="all",
    show_default=True,
    help="A checkpoint's number or name, or `all`.",
)
@click.option(
    "--min-score",
    type=click.FloatRange(0, 1),
    default=_MIN_SCORE,
    show_default=True,
    help="The mutation score that every group must reach.",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="CODE[=GLOB]",
    help="Leave these findings out: all, or those of such a case, check or value.",
)
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="How many cases run at a time.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@click.pass_context
def audit(
    ctx: click.Context,
    /,
    snapshot: Path | None,
    min_score: float,
    ignore: tuple[str, ...],
    jobs: int | None,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Grade the grader: try a problem's verifier on right, empty and mutated results.

    The reference solution must pass every case, twice; a submission that does nothing must fail
    every case; every mutant of the right result must be rejected. Exit code 1 if anything is found.
    """
    from assay.reports.plain import Paint
    from assay.submissions.audits import audit_lines, audit_values, findings_of
    from assay.submissions.opening import Asked, print_warning
    from assay.submissions.problems import read_problem

    _check_ignored(ignore)
    # The snapshot is chosen for each checkpoint; until then the problem stands in its place.
    asked = Asked.of(
        {**given, "snapshot": snapshot or Path()}, jobs or load_config().jobs_or_default()
    )
    problem = read_problem(Path(asked.problem), print_warning, allows_outside=asked.allow_outside)
    progress = _Line() if sys.stderr.isatty() and not quiet else None
    with standard_output_reserved():
        try:
            groups = asyncio.run(_audited(problem, asked, snapshot, progress))
        finally:
            if progress is not None:
                progress.close()
    found = findings_of(groups, min_score=min_score, ignored=ignore)
    if as_json:
        click.echo(json.dumps(audit_values(problem.name, groups, found, min_score), indent=2))
    else:
        lines = audit_lines(problem.name, groups, found, Paint(in_colour()))
        click.echo("\n".join(lines))
    ctx.exit(1 if found else 0)


def _check_ignored(ignored: tuple[str, ...]) -> None:
    from assay.submissions.audits import SORTS

    for text in ignored:
        code = text.partition("=")[0]
        if code not in SORTS:
            raise InputError(f"there is no finding {code!r}", advice=nearest(code, SORTS))


async def _audited(
    problem: ProblemConfig, asked: Asked, snapshot: Path | None, progress: AuditProgress | None
) -> list[GroupAudit]:
    """Every group that was asked for, checkpoint by checkpoint, each with its own reference."""
    from assay.submissions.audits import Auditor
    from assay.submissions.opening import ALL
    from assay.submissions.selection import Filter, find_checkpoint

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
    problem: ProblemConfig, checkpoint: CheckpointConfig, asked: Asked, snapshot: Path | None
) -> Opened:
    """A checkpoint with the reference that is to be right about it."""
    from assay.submissions.opening import open_checking

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


class _Line:
    """One line on standard error that says how far the audit is."""

    def __init__(self) -> None:
        self._runs = self._cases = self._mutants = self._width = 0

    def ran(self, group: str) -> None:
        self._runs += 1
        self._show(group)

    def tried(self, group: str, mutants: int) -> None:
        self._cases += 1
        self._mutants += mutants
        self._show(group)

    def _show(self, group: str) -> None:
        self._write(
            f"{group}  {self._runs:,} runs of the reference  {self._cases:,} cases audited  "
            f"{self._mutants:,} mutants"
        )

    def _write(self, line: str) -> None:
        from assay.visible import visible

        line = visible(line)[: shutil.get_terminal_size().columns - 1]
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def close(self) -> None:
        """Remove the line."""
        self._write("")
        sys.stderr.write("\r")
        sys.stderr.flush()
