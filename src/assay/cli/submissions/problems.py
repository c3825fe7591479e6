"""`assay submissions lint`, `new` and `schema`: writing problems, with nothing run."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.submissions.options import ALLOW_OUTSIDE, FILE, PROBLEM_PATH


@click.command()
@click.argument("problems", metavar="PROBLEM…", nargs=-1, required=True)
@PROBLEM_PATH
@ALLOW_OUTSIDE
@click.option("--ignore", multiple=True, metavar="CODE", help="Leave these findings out.")
@click.option(
    "--format",
    "name",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="How findings are printed.",
)
@click.option("--out", type=FILE, help="Write to this file.")
@click.pass_context
def lint(
    ctx: click.Context,
    /,
    problems: tuple[str, ...],
    problem_path: Path,
    allow_outside: bool,
    ignore: tuple[str, ...],
    name: str,
    out: Path | None,
) -> None:
    """Find what is wrong with problems: config, cases, signatures. Nothing is run."""
    from assay.submissions.lint import findings_text, lint_problem
    from assay.submissions.problems import find_problem

    folders = [find_problem(problem, problem_path) for problem in problems]
    findings = [
        one
        for folder in folders
        for one in lint_problem(folder, ignored=ignore, allows_outside=allow_outside)
    ]
    text = findings_text(findings, name)
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")
    ctx.exit(1 if findings else 0)


@click.command()
@click.argument("name")
@click.option("--api", is_flag=True, help="A server with state instead of a command.")
def new(name: str, api: bool) -> None:
    """Write a small working problem, with a solution and a broken one."""
    from assay.submissions.scaffold import write_problem

    folder = Path(name)
    for path in write_problem(folder, is_api=api):
        click.echo(f"wrote  {path}")
    click.echo(f"\nnext: assay submissions lint {folder}")


@click.command()
@click.argument("kind", type=click.Choice(["config", "group", "case"]), required=False)
def schema(kind: str | None) -> None:
    """Print the JSON Schema of problem files, of all kinds or of one."""
    from typing import cast

    from assay.submissions.problems.schema import Kind, schema_text

    click.echo(schema_text(cast("Kind | None", kind)), nl=False)
