"""`assay questions lint` and `schema`: what needs no execution."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.questions.options import FILE
from assay.config import load_config


@click.command()
@click.argument("suites", metavar="SUITE…", nargs=-1, required=True)
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
    suites: tuple[str, ...],
    ignore: tuple[str, ...],
    name: str,
    out: Path | None,
) -> None:
    """Find defects that need no execution: each with a code, a place and advice."""
    from assay.questions.lint import StaticResolver, findings_text
    from assay.questions.lint import lint as lint_suites
    from assay.questions.suites.suite import read_suites

    ignored = [*load_config().questions.ignore, *ignore]
    findings = lint_suites(read_suites(suites), ignored=ignored, resolve=StaticResolver())
    text = findings_text(findings, name)
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")
    ctx.exit(1 if findings else 0)


@click.command()
def schema() -> None:
    """Print the JSON Schema of a suite file."""
    from assay.questions.suites.schema import schema_text

    click.echo(schema_text(), nl=False)
