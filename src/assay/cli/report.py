"""`assay report`: any run, in any format, at any time."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.common import in_colour
from assay.config import load_config
from assay.reports import format_names, write_report
from assay.runs import Run, find_run


@click.command()
@click.argument("run", metavar="RUN")
@click.option(
    "--format",
    "name",
    type=click.Choice(format_names()),
    default="terminal",
    show_default=True,
    help="What to write.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write to this file.")
def report(run: str, name: str, out: Path | None) -> None:
    """Write a report of a run in any format.

    RUN is a folder, a name, the beginning of a name, or `latest`.
    """
    with Run(find_run(run, load_config().runs)) as found:
        write_report(found, name, out, colour=out is None and in_colour())
