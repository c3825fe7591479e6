"""`assay questions verify`, and how a run of it is resumed."""

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
    run_options,
    start_run,
    use_baseline,
)
from assay.cli.formats import register_formats
from assay.cli.model_options import model_options
from assay.cli.questions.modelled import fix_options, model_procedure, recorded, take_modelled
from assay.cli.questions.options import CASE, FILE, ISOLATION, PROOFS, TARGET, TYPE, prepared_run
from assay.config import load_config
from assay.runs import Manifest, Run, check_resumable


@click.command()
@click.argument("suites", metavar="SUITE…", nargs=-1, required=True)
@click.option("--out", type=FILE, help="Keep the run in this folder.")
@TARGET
@PROOFS
@CASE
@TYPE
@click.option(
    "--exception-match",
    type=click.Choice(["closest", "isinstance", "exact"]),
    help="Which of several fitting exception classes is right; overrides the suite's.",
)
@click.option(
    "--fail-on", type=click.Choice(["unproven"]), help="Fail also if a question stays unproven."
)
@ISOLATION
@model_options
@fix_options
@run_options
@click.pass_context
def verify(
    ctx: click.Context,
    /,
    suites: tuple[str, ...],
    out: Path | None,
    targets: tuple[str, ...],
    proofs: Path | None,
    cases: tuple[str, ...],
    types: tuple[str, ...],
    exception_match: str | None,
    fail_on: str | None,
    isolation: str,
    **shared: Any,
) -> None:
    """Say of every question whether it is Valid, Ambiguous, Incorrect or Unproven.

    Stored proofs are run again; what has none is left to the provers that need no model, and with
    --model what they leave open to a model.
    """
    from assay.questions.selection import Selection

    register_formats()
    modelled = take_modelled(shared)
    config, options = load_config(), RunOptions.of(shared)
    selection = Selection(
        suites=tuple(str(Path(one).absolute()) for one in suites),
        folder=str(Path.cwd()),
        targets=targets,
        proofs=str(proofs.absolute()) if proofs else None,
        cases=cases,
        types=types,
        exception_match=exception_match,
    )
    asked: dict[str, Any] = {
        **asdict(selection),
        "isolation": isolation,
        "jobs": options.jobs or config.jobs_or_default(),
        **modelled,
    }
    prepared = _prepared(asked, options)
    asked["described"] = sorted({str(one.target) for one in prepared[0]})
    manifest = Manifest(
        subject="questions",
        title=f"{', '.join(suites)} on {'; '.join(asked['described'])}",
        is_partial=bool(cases or types),
        asked=json.loads(json.dumps(asked)),
        unverified_fails=fail_on == "unproven",
    )
    folder = start_run(out, manifest, options, config)
    ctx.exit(_carry_out(prepared, folder, asked, options))


def resume(folder: Path, asked: dict[str, Any], options: RunOptions) -> int:
    """Continue a run of `assay questions verify`; `assay runs resume` calls it."""
    register_formats()
    check_resumable(folder)
    if options.jobs is not None:
        asked = {**asked, "jobs": options.jobs}
    prepared = _prepared(recorded(asked), options)
    use_baseline(folder, options.baseline)
    return _carry_out(prepared, folder, asked, options)


def _prepared(asked: dict[str, Any], options: RunOptions) -> tuple[Any, Any, Any]:
    """The questions, the laboratories, and the procedure with a model where one is asked."""
    procedure = model_procedure(asked)
    work, laboratories = prepared_run(
        asked, options, provers=procedure.provers if procedure else None
    )
    if procedure is not None:
        procedure.check(work)
    return work, laboratories, procedure


def _carry_out(
    prepared: tuple[Any, Any, Any], folder: Path, asked: dict[str, Any], options: RunOptions
) -> int:
    from assay.questions.reporting.quality_report import summary_lines, write_quality_report
    from assay.questions.verifying import verify as verify_questions

    work, laboratories, procedure = prepared
    # Proofs made against another target would replace those of the suite's own.
    writes = not asked["targets"] or asked["proofs"] is not None
    with executing(folder, options, len(work)) as progress:
        verify_questions(
            folder,
            work,
            laboratories,
            jobs=asked["jobs"],
            writes=writes,
            progress=progress,
            procedure=procedure.started(folder) if procedure else None,
        )
    with Run(folder) as run:
        written = write_quality_report(run)
        told = [*summary_lines(run), *(procedure.concluded(run) if procedure else ())]
    code = conclude(folder, options)
    if not options.as_json and not options.quiet:
        click.echo("\n".join([*told, f"written: {written}"]))
    return code
