"""`assay questions verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.cli.common import RunOptions, print_run, run_options, start
from assay.cli.model_options import model_options
from assay.cli.questions.modelled import fix_options, take_model
from assay.cli.questions.options import CASE, FILE, ISOLATION, PROOFS, TARGET, TYPE, be_silent, say


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
    from assay.questions import QuestionsPlan, make_request

    model, fixing = take_model(shared)
    options = RunOptions.of(shared)
    asked = make_request(
        suites,
        targets=targets,
        proofs=proofs,
        cases=cases,
        types=types,
        exception_match=exception_match,
        isolation=isolation,
        jobs=options.jobs,
        model=model,
        fixing=fixing,
    )
    plan = QuestionsPlan(
        asked,
        be_silent if options.quiet else say,
        fail_on_unproven=fail_on == "unproven",
        title=", ".join(suites),
    )
    ctx.exit(print_run(start(plan, out, options), options))
