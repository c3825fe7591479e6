"""`assay submissions run-case`: run some cases and print their reports as JSON, nothing else."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import click

from assay.cli.common import standard_output_reserved
from assay.cli.submissions.options import submission_options


@click.command("run-case")
@submission_options
@click.option("--checkpoint", "-c", required=True, help="A checkpoint's number or name.")
@click.option("--full", is_flag=True, help="Everything about every case.")
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="How many cases run at a time.")
@click.pass_context
def run_case(ctx: click.Context, /, full: bool, jobs: int | None, **given: Any) -> None:
    """Run cases of one checkpoint and print their reports as a JSON array.

    Without --full, results are printed only for cases that did not pass, and only what was judged.
    Earlier cases of a group with state run even if they are filtered out, and are not printed.
    """
    from assay.runs import Run, create_folder, run_cases
    from assay.submissions import (
        SubmissionsPlan,
        SubmissionsRequest,
        print_warning,
        to_case_values,
    )

    asked = SubmissionsRequest.of(**given, jobs=jobs)
    plan = SubmissionsPlan(asked, on_warning=print_warning)
    with tempfile.TemporaryDirectory(prefix="assay-") as temporary:
        # The same engine as `verify`, in a run that nobody keeps.
        folder = create_folder(Path(temporary) / "run", plan.manifest)
        with standard_output_reserved():
            run_cases(plan, folder)
        plan.check_met()
        with Run(folder) as run:
            printed = [to_case_values(record, is_full=full) for record in run.records()]
            code = run.exit_code
    click.echo(json.dumps(printed, indent=2))
    ctx.exit(code)
