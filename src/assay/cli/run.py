"""`assay run FILE.py:NAME`: an evaluation written in Python, from the command line."""

from __future__ import annotations

import os
from collections.abc import Sized
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from assay.cli.common import (
    RunOptions,
    conclude,
    executing,
    run_options,
    standard_output_reserved,
    start_run,
    use_baseline,
)
from assay.config import load_config
from assay.errors import InputError
from assay.evaluation import SUBJECT, Evaluation, run_evaluation
from assay.evaluation_file import load_evaluation
from assay.projects import check_named_code, find_project
from assay.runs import Manifest, check_resumable


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
    config, options = load_config(), RunOptions.of(shared)
    asked: dict[str, Any] = {
        "evaluation": _absolute(evaluation),
        "time_limit": time_limit,
        "ratio": ratio,
        "jobs": options.jobs or config.jobs_or_default(),
    }
    with standard_output_reserved():
        loaded = _loaded(asked)
    folder = start_run(
        out, Manifest(subject=SUBJECT, title=evaluation, asked=asked), options, config
    )
    ctx.exit(_carry_out(loaded, folder, asked["jobs"], options))


def resume(
    folder: Path, asked: dict[str, Any], options: RunOptions, *, is_trusted: bool = False
) -> int:
    """Continue a run of this command; `assay runs resume` calls it.

    The run folder may be somebody else's: code that it names runs only if it is of the project in
    which the user stands.
    """
    file, _, _ = str(asked.get("evaluation")).partition(":")
    if not is_trusted:
        check_named_code(Path(file), find_project(Path.cwd()))
    with standard_output_reserved():
        loaded = _loaded(asked)
    # Before anything in the folder is changed that the other one relies on.
    check_resumable(folder)
    use_baseline(folder, options.baseline)
    return _carry_out(loaded, folder, options.jobs or asked["jobs"], options)


def _carry_out(evaluation: Evaluation, folder: Path, jobs: int, options: RunOptions) -> int:
    total = len(evaluation.cases) if isinstance(evaluation.cases, Sized) else None
    # Where the run is, whatever folder the user's code changes to.
    place = folder.absolute()
    with executing(folder, options, total) as progress:
        run_evaluation(evaluation, place, jobs=jobs, progress=progress)
    return conclude(place, options)


def _loaded(asked: dict[str, Any]) -> Evaluation:
    known = {"evaluation", "time_limit", "ratio", "jobs"}
    if not known <= asked.keys() or not isinstance(asked["evaluation"], str):
        raise InputError("run.json does not say what was asked", advice="start a new run")
    evaluation = load_evaluation(asked["evaluation"])
    overrides = {name: asked[name] for name in ("time_limit", "ratio") if asked[name] is not None}
    return replace(evaluation, **overrides)


def _absolute(text: str) -> str:
    """A run is resumed from any folder, so it keeps where the file really is."""
    file, colon, name = text.partition(":")
    return f"{os.path.abspath(file)}{colon}{name}"  # noqa: PTH100 - links stay as they are
