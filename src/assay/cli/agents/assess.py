"""`assay agents assess`: take all samples and say in which ways they failed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.agents.options import FILE, agent_options
from assay.cli.agents.verify import start
from assay.cli.common import run_options
from assay.cli.model_options import take_choice
from assay.config import load_config
from assay.runs import Run

if TYPE_CHECKING:
    from assay.agents.assessor.assessment import Assessment
    from assay.models import ModelChoice


@click.command()
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@agent_options
@click.option("--out", type=FILE, help="Keep the run in this folder.")
@click.option("--markdown", type=FILE, help="Also write the assessment to this file, as Markdown.")
@run_options
@click.pass_context
def assess(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    out: Path | None,
    markdown: Path | None,
    **given: Any,
) -> None:
    """Take all samples of test files and group their failures into modes.

    Each mode comes with its share, an interval and examples, and says whether the agent or the
    test is the likelier culprit. With a model, modes are named and described too.
    """
    from assay.agents.assessor.assessment import assess as assess_record
    from assay.agents.assessor.assessment import assessment_values, markdown_lines

    choice, as_json = take_choice(dict(given)), given["as_json"]
    # The report of the run is not asked for: its place is taken by the assessment.
    code, folder = start(files, out, {**given, "as_json": False}, takes_all=True, is_told=False)
    with Run(folder) as run:
        assessments = [assess_record(record) for record in run.records()]
    assessments = _named(assessments, choice)
    text = "\n".join(markdown_lines(assessments))
    if markdown is not None:
        markdown.write_text(text + "\n", encoding="utf-8")
    if as_json:
        told = {"run": str(folder), "exit_code": code, "tests": assessment_values(assessments)}
        click.echo(json.dumps(told, indent=2))
    else:
        click.echo(text)
        click.echo(f"run: {folder}")
    ctx.exit(code)


def _named(assessments: list[Assessment], choice: ModelChoice) -> list[Assessment]:
    from assay.agents.assessor.naming import name_modes
    from assay.models import ModelClient, ResponseCache, resolve

    settings = resolve(choice, load_config().models)
    if settings is None or not any(one.modes for one in assessments):
        return assessments

    async def name_all() -> list[Assessment]:
        async with ModelClient(settings, cache=ResponseCache()) as client:
            return list(await asyncio.gather(*(name_modes(one, client) for one in assessments)))

    return asyncio.run(name_all())
