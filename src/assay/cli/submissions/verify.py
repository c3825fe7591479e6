"""`assay submissions verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.cli.common import RunOptions, print_run, run_options, start
from assay.cli.submissions.options import FILE, submission_options

# Told here and not read from the policies, so that help needs none of the subject.
_POLICIES = [
    "any-case",
    "all-cases",
    "all-non-error-cases",
    "core-cases",
    "any-core-cases",
    "all-core-cases",
]


@click.command()
@submission_options
@click.option(
    "--checkpoint",
    "-c",
    default="all",
    show_default=True,
    help="A checkpoint's number or name, or `all`.",
)
@click.option(
    "--policy",
    type=click.Choice(_POLICIES),
    default="all-cases",
    show_default=True,
    help="When the submission as a whole has passed.",
)
@click.option("--out", type=FILE, help="Keep the run in this folder.")
@run_options
@click.pass_context
def verify(ctx: click.Context, /, policy: str, out: Path | None, **given: Any) -> None:
    """Run a submission on the cases of a problem and say whether it is right.

    The run has every report as parquet and `evaluation.json`; the policy decides the exit code.
    Where the snapshot has a folder for each checkpoint, each is tried on its own.
    """
    from assay.submissions import SubmissionsPlan, SubmissionsRequest, print_warning

    names = RunOptions.__dataclass_fields__
    options = RunOptions.of({name: given.pop(name) for name in names})
    asked = SubmissionsRequest.of(**given, jobs=options.jobs)
    plan = SubmissionsPlan(asked, policy, on_warning=print_warning)
    ctx.exit(print_run(start(plan, out, options), options))
