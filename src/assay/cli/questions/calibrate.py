"""`assay questions calibrate`: how far the verdicts of the provers can be trusted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from assay.cli.common import RunOptions, in_colour, run_options, start, write_reports
from assay.cli.model_options import model_options
from assay.cli.questions.modelled import take_model
from assay.cli.questions.options import CASE, FILE, ISOLATION, PROOFS, TARGET, be_silent, say
from assay.runs import Ended


@click.command()
@click.argument("suites", metavar="SUITE…", nargs=-1, required=True)
@click.option("--out", type=FILE, help="Keep the run in this folder.")
@TARGET
@PROOFS
@CASE
@click.option(
    "--mutants",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="At most so many mutants per question and kind of defect.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Chooses the mutants.")
@ISOLATION
@model_options
@run_options
@click.pass_context
def calibrate(
    ctx: click.Context,
    /,
    suites: tuple[str, ...],
    out: Path | None,
    targets: tuple[str, ...],
    proofs: Path | None,
    cases: tuple[str, ...],
    mutants: int,
    seed: int,
    isolation: str,
    **shared: Any,
) -> None:
    """Plant defects in the Valid questions of a suite and say how many of them are found.

    Exit code 1 if a mutant is called Valid or anything is accused wrongly.
    """
    from assay.questions import CalibratePlan, Planting, make_request

    model, _ = take_model(shared)
    options = RunOptions.of(shared)
    asked = make_request(
        suites,
        targets=targets,
        proofs=proofs,
        cases=cases,
        types=("multiple_choice",),
        isolation=isolation,
        jobs=options.jobs,
        model=model,
    )
    progress = be_silent if options.quiet else say
    plan = CalibratePlan(asked, Planting(mutants, seed), progress, title=", ".join(suites))
    ctx.exit(print_calibration(start(plan, out, options), options))


def print_calibration(ended: Ended, options: RunOptions) -> int:
    """Print how many defects were found and return the exit code of the run."""
    from assay.questions import calibration_lines, calibration_of, calibration_values
    from assay.reports import Paint

    code, folder = write_reports(ended.run, options), ended.run.path
    found = calibration_of(ended.run)
    if options.as_json:
        click.echo(json.dumps(calibration_values(found), indent=2, ensure_ascii=False))
    elif options.quiet:
        click.echo(f"recall {found.all.recall}, precision {found.all.precision}")
    else:
        click.echo("\n".join(calibration_lines(found, Paint(in_colour()))))
        click.echo(f"kept in {folder}; one question: assay runs show {folder} CASE")
    return code
