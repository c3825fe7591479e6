"""`assay doctor`: what this machine offers to isolate programs, and whether it works."""

from __future__ import annotations

import click

from assay.sandbox import doctor_report


@click.command()
@click.pass_context
def doctor(ctx: click.Context) -> None:
    """Say how well programs can be isolated on this machine, and try it."""
    report = doctor_report()
    for line in report.lines:
        click.echo(line)
    ctx.exit(0 if report.healthy else 3)
