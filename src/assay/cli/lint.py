"""`lint` of every subject: the same options, the same output, the same exit codes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from assay.cli.common import Command

if TYPE_CHECKING:
    from assay.findings import Findings


_FILE = click.Path(path_type=Path)
# Those of assay.findings, which takes longer to import than this command to print its help.
FORMATS = ("text", "json", "sarif", "github")


@dataclass(frozen=True)
class LintOptions:
    """The options of `lint`, as `lint_options` adds them."""

    ignore: tuple[str, ...]
    format: str
    as_json: bool
    out: Path | None
    baseline: Path | None
    write_baseline: Path | None


def lint_options(command: Command) -> Command:
    """Add the options of `LintOptions` to a command."""
    options = [
        click.option("--ignore", multiple=True, metavar="CODE", help="Leave these findings out."),
        click.option(
            "--format",
            type=click.Choice(FORMATS),
            default="text",
            show_default=True,
            help="How findings are printed.",
        ),
        click.option(
            "--json", "as_json", is_flag=True, help="Print JSON; the same as --format json."
        ),
        click.option("--out", type=_FILE, help="Write to this file."),
        click.option("--baseline", type=_FILE, help="Accept the known findings of this file."),
        click.option(
            "--write-baseline", type=_FILE, help="Write what is found now as known, and accept it."
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def print_findings(ctx: click.Context, findings: Findings, options: LintOptions) -> NoReturn:
    """Print what lint found and leave with its exit code."""
    from assay.cli.ci_log import print_commands
    from assay.findings import Baseline

    if options.write_baseline is not None:
        baseline = Baseline.of(findings)
        baseline.write(options.write_baseline)
        findings = findings.accept(baseline)
    elif options.baseline is not None:
        findings = findings.accept(Baseline.read(options.baseline))
    for note in findings.skipped:
        click.echo(note, err=True)
    format_ = "json" if options.as_json else options.format
    text = findings.report(format_)
    if options.out is not None:
        options.out.write_text(text, encoding="utf-8")
    elif format_ == "github":
        print_commands(text)
    else:
        click.echo(text, nl=False)
    ctx.exit(findings.exit_code)
