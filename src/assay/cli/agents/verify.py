"""`assay agents verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.agents.options import (
    FILE,
    agent_options,
    agent_run_options,
    take_reach,
    take_sampling,
    take_trust,
)
from assay.cli.common import RunOptions, print_run, start
from assay.cli.model_options import take_choice
from assay.config import load_config

if TYPE_CHECKING:
    from assay.agents.plan import AgentsPlan


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
    files: tuple[str, ...],
    given: dict[str, Any],
    *,
    takes_all: bool,
    assesses: bool = False,
    judge_error_rate: float | None = None,
) -> tuple[AgentsPlan, RunOptions]:
    """Make the plan of what click collected; name the files that are no tests."""
    from assay.agents.plan import AgentsPlan, AgentsRequest

    config = load_config()
    choice, reach = take_choice(given), take_reach(given)
    sampling = take_sampling(given, config, takes_all=takes_all)
    trust = take_trust(given, config)
    if judge_error_rate is None:
        judge_error_rate = config.models.judge_error_rate
    folder = str(Path.cwd())
    asked = AgentsRequest(files, folder, reach, sampling, choice, assesses, judge_error_rate)
    plan = AgentsPlan(asked, trust=trust)
    print_skipped(plan)
    return plan, RunOptions.of(given)


def print_skipped(plan: AgentsPlan) -> None:
    """Name the files that are no tests."""
    for note in plan.skipped:
        click.echo(note, err=True)
