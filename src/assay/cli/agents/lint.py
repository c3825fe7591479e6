"""`assay agents lint` and `schema`: what needs no agent."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@click.option(
    "--format",
    "name",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How problems are printed.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write to this file.")
@click.pass_context
def lint(ctx: click.Context, /, files: tuple[str, ...], name: str, out: Path | None) -> None:
    """Find what is wrong with test files, without an agent: each with a place and advice."""
    from assay.agents.files import read_files
    from assay.agents.files.rendering import passed_over_text, problems_text

    reading = read_files(files)
    click.echo(passed_over_text(reading), nl=False, err=True)
    text = problems_text(reading, name)
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")
    # A test file that is wrong is wrong input, here as everywhere.
    ctx.exit(2 if reading.problems else 0)


@click.command()
def schema() -> None:
    """Print the JSON Schema of a test file."""
    from assay.agents.files.schema import schema_text

    click.echo(schema_text(), nl=False)
