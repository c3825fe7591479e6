"""`assay agents assess`: take all samples and say in which ways they failed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.agents.options import FILE, agent_options, agent_run_options
from assay.cli.agents.verify import Work, start
from assay.cli.common import RunOptions, conclude
from assay.errors import BudgetExceeded, InfrastructureError
from assay.reports import summarize
from assay.runs import Run
from assay.visible import visible

if TYPE_CHECKING:
    from assay.agents.assessor.assessment import Assessment
    from assay.models import ModelClient


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
    work, options = start(
        files, out, given, takes_all=True, assesses=True, judge_error_rate=judge_error_rate
    )
    ctx.exit(tell_assessment(work, options, markdown))


def tell_assessment(work: Work, options: RunOptions, markdown: Path | None = None) -> int:
    """Print the modes of failure of a run that has all its samples, and give its exit code."""
    from assay.agents.assessor.assessment import assess as assess_record
    from assay.agents.assessor.assessment import assessment_values, markdown_lines

    code = conclude(work.folder, options, is_told=False)
    with Run(work.folder) as run:
        rate = work.judge_error_rate
        assessments = [assess_record(record, rate) for record in run.records()]
        verdict = summarize(run).verdict_line()
    assessments = _named(assessments, work.client)
    text = "\n".join(markdown_lines(assessments))
    if markdown is not None:
        markdown.write_text(text + "\n", encoding="utf-8")
    if options.as_json:
        tests = assessment_values(assessments)
        click.echo(
            json.dumps({"run": str(work.folder), "exit_code": code, "tests": tests}, indent=2)
        )
    elif not options.quiet:
        click.echo(f"{text}\nrun: {work.folder}")
    if not options.as_json:
        click.echo(verdict)
    return code


def _named(assessments: list[Assessment], client: ModelClient | None) -> list[Assessment]:
    """With the modes that a model finds, if there is one; without it words alone tell them."""
    from assay.agents.assessor.naming import name_modes

    if client is None or not any(one.modes for one in assessments):
        return assessments

    async def name_all() -> list[Assessment]:
        async with client:
            return list(await asyncio.gather(*(name_modes(one, client) for one in assessments)))

    try:
        return asyncio.run(name_all())
    except (BudgetExceeded, InfrastructureError) as error:
        click.echo(f"assay: the modes have no names: {visible(str(error))}", err=True)
        return assessments
