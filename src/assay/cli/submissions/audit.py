"""`assay submissions audit`: grades the grader."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import click

from assay.cli.common import in_colour, standard_output_reserved
from assay.cli.submissions.options import FILE, problem_options

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
    from assay.reports import Paint
    from assay.submissions import (
        SubmissionsRequest,
        audit_problem,
        print_warning,
        render_text,
    )

    # The snapshot is chosen for each checkpoint; until then the problem stands in its place.
    asked = SubmissionsRequest.of(snapshot or "", **given, jobs=jobs)
    progress = _Line() if sys.stderr.isatty() and not quiet else None
    with standard_output_reserved():
        try:
            found = audit_problem(
                asked,
                snapshot,
                min_score=min_score,
                ignore=ignore,
                progress=progress,
                on_warning=print_warning,
            )
        finally:
            if progress is not None:
                progress.close()
    if as_json:
        click.echo(found.report("json"), nl=False)
    else:
        lines = render_text(found.problem, found.groups, found.findings, Paint(in_colour()))
        click.echo("\n".join(lines))
    ctx.exit(found.exit_code)


class _Line:
    """One line on standard error that says how far the audit is."""

    def __init__(self) -> None:
        self._runs = self._cases = self._mutants = self._width = 0

    def count_run(self, group: str) -> None:
        self._runs += 1
        self._show(group)

    def count_case(self, group: str, mutants: int) -> None:
        self._cases += 1
        self._mutants += mutants
        self._show(group)

    def _show(self, group: str) -> None:
        self._write(
            f"{group}  {self._runs:,} runs of the reference  {self._cases:,} cases audited  "
            f"{self._mutants:,} mutants"
        )

    def _write(self, line: str) -> None:
        from assay.escaping import escape_hidden

        line = escape_hidden(line)[: shutil.get_terminal_size().columns - 1]
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def close(self) -> None:
        """Remove the line."""
        self._write("")
        sys.stderr.write("\r")
        sys.stderr.flush()
