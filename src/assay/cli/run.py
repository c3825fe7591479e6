"""`assay run` and `assay init`: evaluations in Python, and the first files of a project."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from typing import Any

import click

from assay.cli.common import RunOptions, print_run, reserve_standard_output, run_options, start_plan
from assay.config import FILE, is_configured, load_config


@click.command()
@click.argument("evaluation", metavar="FILE.py[:NAME]", type=click.Path())
@click.option("--out", type=click.Path(path_type=Path), help="Keep the run in this folder.")
@click.option("--time-limit", type=float, help="Seconds a task may take; overrides the file's.")
@click.option("--ratio", metavar="N/M", help="Take M samples, N must pass; overrides the file's.")
@click.option("--threads", is_flag=True, help="Run plain functions in threads, not in processes.")
@run_options
@click.pass_context
def run(
    ctx: click.Context,
    /,
    evaluation: str,
    out: Path | None,
    time_limit: float | None,
    ratio: str | None,
    threads: bool,
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
        "threads": threads,
        "jobs": options.jobs or load_config().jobs_or_default(),
    }
    with reserve_standard_output():
        plan = plan_file(asked, title=evaluation)
    ctx.exit(print_run(start_plan(plan, out, options), options))


def _absolute(text: str) -> str:
    """Return a run is resumed from any folder, so it keeps where the file really is."""
    file, colon, name = text.partition(":")
    return f"{os.path.abspath(file)}{colon}{name}"  # noqa: PTH100 - links stay as they are


# Where each file goes, and which template it is.
FILES = {
    "assay.toml": "assay.toml",
    "evaluations/first.py": "first.py",
    ".github/workflows/assay.yml": "workflow.yml",
}


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=".")
def init(folder: Path) -> None:
    """Write a commented configuration, a CI workflow and a first example.

    Files that exist are left alone.
    """
    templates = resources.files("assay.cli") / "templates"
    for name, template in FILES.items():
        path = folder / name
        if path.exists():
            click.echo(f"left   {path} (it exists)")
            continue
        if name == FILE and is_configured(folder):
            click.echo(f"left   {path} (pyproject.toml has [tool.assay])")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((templates / template).read_text(encoding="utf-8"), encoding="utf-8")
        click.echo(f"wrote  {path}")
    place = "" if folder == Path() else f"cd {folder} && "
    click.echo(f"\nnext: {place}assay run evaluations/first.py")
