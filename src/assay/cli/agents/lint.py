"""`assay agents lint` and `schema`: what needs no agent."""

from __future__ import annotations

from typing import Any

import click

from assay.cli.lint import LintOptions, lint_options, print_findings


@click.command()
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@lint_options
@click.pass_context
def lint(ctx: click.Context, /, files: tuple[str, ...], **given: Any) -> None:
    """Find what is wrong with test files, without an agent: each with a place and advice."""
    from assay import agents

    options = LintOptions(**given)
    print_findings(ctx, agents.lint(*files, ignore=options.ignore), options)


@click.command()
def schema() -> None:
    """Print the JSON Schema of a test file."""
    from assay import agents

    click.echo(agents.schema_text(), nl=False)
