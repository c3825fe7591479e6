"""`assay questions calibrate`: how far the verdicts of the provers can be trusted."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from assay.cli.common import (
    RunOptions,
    conclude,
    executing,
    in_colour,
    run_options,
    start_run,
    use_baseline,
)
from assay.cli.model_options import model_options
from assay.cli.questions.modelled import model_procedure, recorded, take_modelled
from assay.cli.questions.options import CASE, FILE, ISOLATION, PROOFS, TARGET, prepared_run
from assay.config import load_config
from assay.errors import InputError
from assay.runs import Manifest, Run, check_resumable


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
    from assay.questions.selection import Selection

    modelled = take_modelled(shared)
    config, options = load_config(), RunOptions.of(shared)
    selection = Selection(
        suites=tuple(str(Path(one).absolute()) for one in suites),
        folder=str(Path.cwd()),
        targets=targets,
        proofs=str(proofs.absolute()) if proofs else None,
        cases=cases,
        types=("multiple_choice",),
    )
    asked: dict[str, Any] = {
        **asdict(selection),
        "isolation": isolation,
        "jobs": options.jobs or config.jobs_or_default(),
        "mutants": mutants,
        "seed": seed,
        **modelled,
    }
    prepared = _prepared(asked, options)
    manifest = Manifest(
        subject="calibration",
        title=f"calibration of {', '.join(suites)}",
        is_partial=bool(cases),
        asked=json.loads(json.dumps(asked)),
        # A question that is left out says nothing against the provers.
        unverified_fails=False,
    )
    folder = start_run(out, manifest, options, config)
    ctx.exit(_carry_out(prepared, folder, asked, options))


def resume(folder: Path, asked: dict[str, Any], options: RunOptions) -> int:
    """Continue a run of `assay questions calibrate`; `assay runs resume` calls it."""
    check_resumable(folder)
    if options.jobs is not None:
        asked = {**asked, "jobs": options.jobs}
    prepared = _prepared(recorded(asked), options)
    use_baseline(folder, options.baseline)
    return _carry_out(prepared, folder, asked, options)


def _prepared(asked: dict[str, Any], options: RunOptions) -> tuple[Any, Any]:
    procedure = model_procedure(asked)
    provers = procedure.provers if procedure else None
    return prepared_run(asked, options, remembers=True, provers=provers)


def _carry_out(
    prepared: tuple[Any, Any], folder: Path, asked: dict[str, Any], options: RunOptions
) -> int:
    from assay.questions.calibration.calibrating import Planting, calibrate, calibration_of
    from assay.questions.reporting.calibration_report import calibration_lines, calibration_values
    from assay.reports.plain import Paint

    work, laboratories = prepared
    planting = Planting(asked["mutants"], asked["seed"])
    with executing(folder, options, len(work)) as progress:
        calibrate(folder, work, laboratories, planting, jobs=asked["jobs"], progress=progress)
    with Run(folder) as run:
        found = calibration_of(run)
    code = conclude(folder, options, is_told=False)
    if not found.valid and not found.errors:
        raise InputError(
            "no question is Valid, so there is nothing to plant a defect in",
            where=", ".join(asked["suites"]),
            advice="`assay questions verify` says what keeps them from it",
        )
    if options.as_json:
        click.echo(json.dumps(calibration_values(found), indent=2, ensure_ascii=False))
    elif options.quiet:
        click.echo(f"recall {found.all.recall}, precision {found.all.precision}")
    else:
        click.echo("\n".join(calibration_lines(found, Paint(in_colour()))))
        click.echo(f"kept in {folder}; one question: assay runs show {folder} CASE")
    return code
