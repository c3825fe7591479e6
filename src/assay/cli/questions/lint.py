"""`assay questions lint` and `schema`: what needs no execution."""

from __future__ import annotations

from typing import Any

import click

from assay.cli.lint import LintOptions, lint_options, print_findings


@click.command()
@click.argument("suites", metavar="SUITE…", nargs=-1, required=True)
@lint_options
@click.pass_context
def lint(ctx: click.Context, /, suites: tuple[str, ...], **given: Any) -> None:
    """Find defects that need no execution: each with a code, a place and advice."""
    from assay import questions

    options = LintOptions(**given)
    print_findings(ctx, questions.lint(*suites, ignore=options.ignore), options)


@click.command()
def schema() -> None:
    """Print the JSON Schema of a suite file."""
    from assay.questions import schema_text

    click.echo(schema_text(), nl=False)
