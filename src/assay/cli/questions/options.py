"""The options that the commands of questions share."""

from __future__ import annotations

from pathlib import Path

import click

FILE = click.Path(path_type=Path)
TARGET = click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="TARGET",
    help="Prove against this: a requirement, `current` or a folder; may be given several times.",
)
PROOFS = click.option(
    "--proofs", type=FILE, help="Keep proofs in this folder, not beside the suite."
)
ISOLATION = click.option(
    "--isolation",
    type=click.Choice(["auto", "namespaces", "landlock", "none"]),
    default="auto",
    show_default=True,
    help="How proofs are kept apart from this machine.",
)
CASE = click.option(
    "--case", "cases", multiple=True, metavar="GLOB", help="Only questions with such an id."
)
TYPE = click.option(
    "--type",
    "types",
    multiple=True,
    type=click.Choice(["multiple_choice", "api_understanding", "fix_error"]),
    help="Only questions of this type.",
)


def say(text: str) -> None:
    click.echo(f"assay: {text}", err=True)


def be_silent(text: str) -> None:
    pass
