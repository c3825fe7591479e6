"""`assay run FILE.py:NAME`: an evaluation written in Python, from the command line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from assay.cli.common import RunOptions, print_run, run_options, standard_output_reserved, start
from assay.config import load_config


@click.command()
@click.argument("evaluation", metavar="FILE.py[:NAME]", type=click.Path())
@click.option("--out", type=click.Path(path_type=Path), help="Keep the run in this folder.")
@click.option("--time-limit", type=float, help="Seconds a task may take; overrides the file's.")
@click.option("--ratio", metavar="N/M", help="Take M samples, N must pass; overrides the file's.")
@run_options
@click.pass_context
def run(
    ctx: click.Context,
    /,
    evaluation: str,
    out: Path | None,
    time_limit: float | None,
    ratio: str | None,
    **shared: Any,
) -> None:
    """Run an evaluation written in Python and report what it found.

    FILE.py defines NAME as an assay.Evaluation, or as a function that returns one; NAME may be
    left out if there is only one. `assay init` writes a first example.
    """
    from assay.evaluation_file import plan_file

    options = RunOptions.of(shared)
    asked: dict[str, Any] = {
        "evaluation": _absolute(evaluation),
        "time_limit": time_limit,
        "ratio": ratio,
        "jobs": options.jobs or load_config().jobs_or_default(),
    }
    with standard_output_reserved():
        plan = plan_file(asked, title=evaluation)
    ctx.exit(print_run(start(plan, out, options), options))


def _absolute(text: str) -> str:
    """A run is resumed from any folder, so it keeps where the file really is."""
    file, colon, name = text.partition(":")
    return f"{os.path.abspath(file)}{colon}{name}"  # noqa: PTH100 - links stay as they are
