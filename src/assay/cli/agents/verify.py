"""`assay agents verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from assay.cli.agents.options import FILE, agent_options, agent_run_options
from assay.cli.common import RunOptions, print_run, start

if TYPE_CHECKING:
    from assay.agents import AgentsOptions, AgentsPlan


@click.command()
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@agent_options
@click.option("--all-samples", is_flag=True, help="Take all samples, also when it is decided.")
@click.option("--out", type=FILE, help="Keep the run in this folder.")
@agent_run_options
@click.pass_context
def verify(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    all_samples: bool,
    out: Path | None,
    **given: Any,
) -> None:
    """Hold the conversations of test files and say whether the agent is right often enough.

    Samples stop as soon as the ratio of a test is decided; --all-samples takes all and says how
    sure the rate is.
    """
    plan, options = make_plan(files, given, takes_all=all_samples)
    ctx.exit(print_run(start(plan, out, options), options))


def make_plan(
    files: tuple[str, ...], given: dict[str, Any], **more: Any
) -> tuple[AgentsPlan, RunOptions]:
    """Make the plan of what click collected; name the files that are no tests."""
    from assay import agents

    options = RunOptions.of({name: given.pop(name) for name in RunOptions.__annotations__})
    plan = agents.make_plan(files, cast("AgentsOptions", {**given, "jobs": options.jobs}), **more)
    print_skipped(plan)
    return plan, options


def print_skipped(plan: AgentsPlan) -> None:
    """Name the files that are no tests."""
    for note in plan.skipped:
        click.echo(note, err=True)
