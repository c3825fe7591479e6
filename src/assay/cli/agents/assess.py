"""`assay agents assess`: take all samples and say in which ways they failed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.agents.options import FILE, agent_options, agent_run_options
from assay.cli.agents.verify import make_plan
from assay.cli.common import RunOptions, start, write_reports
from assay.escaping import escape_hidden
from assay.runs import Ended

if TYPE_CHECKING:
    from assay.agents import AgentsPlan


@click.command()
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@agent_options
@click.option("--out", type=FILE, help="Keep the run in this folder.")
@click.option(
    "--judge-error-rate",
    type=click.FloatRange(min=0, max=1, max_open=True),
    help="How often the judge's decisions are wrong, as a fraction, if you have measured it.",
)
@click.option("--markdown", type=FILE, help="Also write the assessment to this file, as Markdown.")
@agent_run_options
@click.pass_context
def assess(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    out: Path | None,
    markdown: Path | None,
    judge_error_rate: float | None,
    **given: Any,
) -> None:
    """Take all samples of test files and group their failures into modes.

    Each mode comes with its share, an interval and examples, and says whether the agent or the
    test is the likelier culprit. With a model, it proposes the modes and places each failure.
    """
    # The report of the run is not asked for: its place is taken by the assessment.
    plan, options = make_plan(
        files, given, takes_all=True, assesses=True, judge_error_rate=judge_error_rate
    )
    ctx.exit(print_assessment(plan, start(plan, out, options), options, markdown))


def print_assessment(
    plan: AgentsPlan, ended: Ended, options: RunOptions, markdown: Path | None = None
) -> int:
    """Print the modes of failure of a run that has all its samples; return its exit code."""
    from assay.agents import assess_run

    code = write_reports(ended.run, options)
    found = assess_run(ended.run, plan, _say)
    if markdown is not None:
        markdown.write_text(found.report(), encoding="utf-8")
    if options.as_json:
        click.echo(found.report("json"), nl=False)
    elif not options.quiet:
        click.echo(f"{found.report()}run: {found.run.path}")
    if not options.as_json:
        click.echo(found.run.summary.verdict_line())
    return code


def _say(text: str) -> None:
    click.echo(f"assay: {escape_hidden(text)}", err=True)
