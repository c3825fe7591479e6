"""`assay submissions lint`, `new` and `schema`: writing problems, with nothing run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.cli.lint import LintOptions, lint_options, print_findings
from assay.cli.submissions.options import ALLOW_OUTSIDE, PROBLEM_PATH


@click.command()
@click.argument("problems", metavar="PROBLEM…", nargs=-1, required=True)
@PROBLEM_PATH
@ALLOW_OUTSIDE
@lint_options
@click.pass_context
def lint(
    ctx: click.Context,
    /,
    problems: tuple[str, ...],
    problem_path: Path,
    allow_outside: bool,
    **given: Any,
) -> None:
    """Find what is wrong with problems: config, cases, signatures. Nothing is run."""
    from assay import submissions

    options = LintOptions(**given)
    findings = submissions.lint(
        *problems,
        problem_path=problem_path,
        ignore=options.ignore,
        allow_outside=allow_outside,
    )
    print_findings(ctx, findings, options)


@click.command()
@click.argument("name")
@click.option("--api", is_flag=True, help="A server with state instead of a command.")
def new(name: str, api: bool) -> None:
    """Write a small working problem, with a solution and a broken one."""
    from assay.submissions import write_problem

    folder = Path(name)
    for path in write_problem(folder, is_api=api):
        click.echo(f"wrote  {path}")
    click.echo(f"\nnext: assay submissions lint {folder}")


@click.command()
@click.argument("kind", type=click.Choice(["config", "group", "case"]), required=False)
def schema(kind: str | None) -> None:
    """Print the JSON Schema of problem files, of all kinds or of one."""
    from assay.submissions import schema_text

    click.echo(schema_text(kind), nl=False)
