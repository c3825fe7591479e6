"""`assay submissions verify`, and how a run of it is resumed."""

from __future__ import annotations

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
from assay.cli.submissions.options import FILE, submission_options
from assay.config import load_config
from assay.errors import InputError
from assay.projects import find_project
from assay.runs import Manifest, Run, check_resumable

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
    from assay.submissions.opening import Asked, open_checking, print_warning
    from assay.submissions.records import SUBJECT

    config = load_config()
    names = RunOptions.__dataclass_fields__
    options = RunOptions.of({name: given.pop(name) for name in names})
    asked = Asked.of(given, options.jobs or config.jobs_or_default())
    opened = open_checking(asked, on_warning=print_warning)
    manifest = Manifest(
        subject=SUBJECT,
        title=f"{opened.problem.name} by {asked.snapshot}",
        is_partial=asked.is_partial,
        asked={**asked.values(), "policy": policy},
    )
    folder = start_run(out, manifest, options, config)
    ctx.exit(_carry_out(opened, folder, policy, options))


def resume(
    folder: Path, asked: dict[str, Any], options: RunOptions, *, is_trusted: bool = False
) -> int:
    """Continue a run of `assay submissions verify`; `assay runs resume` calls it."""
    from assay.submissions.opening import Asked, check_recorded, open_checking, print_warning

    check_resumable(folder)
    try:
        policy = asked["policy"]
        # Runs that were made before there was such an option did without it.
        names, new = Asked.__dataclass_fields__, ("allow_outside",)
        before = Asked(**{name: asked[name] for name in names if name in asked or name not in new})
    except KeyError:
        raise InputError("run.json does not say what was asked", advice="start a new run") from None
    if not is_trusted:
        check_recorded(before, find_project(Path.cwd()))
    opened = open_checking(before, jobs=options.jobs, on_warning=print_warning)
    use_baseline(folder, options.baseline)
    return _carry_out(opened, folder, policy, options)


def _carry_out(opened: Any, folder: Path, policy: str, options: RunOptions) -> int:
    from assay.reports.writing import keep_report
    from assay.submissions.reporting import write_evaluation
    from assay.submissions.running import check

    with executing(folder, options, None) as progress:
        check(folder, opened.checking, opened.jobs, progress)
    with Run(folder) as run:
        written = write_evaluation(run, opened.problem.name, policy)
        keep_report(run, "parquet", "reports.parquet")
    code = conclude(folder, options)
    if not options.as_json and not options.quiet:
        click.echo(f"written: {written}")
    return code
