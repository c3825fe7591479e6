"""`assay runs compare` and `trend`: two runs side by side, and the history of a title."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from assay.cli.common import JSON, print_json, use_colour
from assay.config import load_config
from assay.errors import InputError
from assay.reports import (
    ComparisonReport,
    append_pieces,
    comparison_formats,
    render_comparison,
    trend_lines,
    write_pieces,
)
from assay.runs import (
    LAST,
    FailOn,
    Run,
    compare_runs,
    find_run,
    read_manifest,
    read_trends,
)

SUMMARY = "GITHUB_STEP_SUMMARY"


def parse_report(text: str, names: Iterable[str]) -> tuple[str, Path | None]:
    """Return the format and the file of `FORMAT[=FILE]`; github has a file of its own in CI."""
    name, equals, file = text.partition("=")
    if name not in names:
        known = ", ".join(names)
        raise InputError(f"--report {text}: there is no such report here", advice=f"one of {known}")
    if equals and not file:
        raise InputError(f"--report {text}: no file is named", advice=f"write --report {name}=FILE")
    if name == "github" and not equals and (summary := os.environ.get(SUMMARY)):
        return name, Path(summary)
    return name, Path(file) if equals else None


@click.command()
@click.argument("before", metavar="BEFORE")
@click.argument("after", metavar="AFTER")
@click.option(
    "--fail-on",
    type=click.Choice(["regression", "significant", "none"]),
    default="regression",
    show_default=True,
    help="What ends with exit code 1: a case that newly fails, or a rate that fell by more than "
    "chance explains.",
)
@click.option(
    "--report",
    "reports",
    multiple=True,
    metavar="FORMAT[=FILE]",
    help="Write a report: html, markdown, github or json; to standard output without a file.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON; the same as --report json.")
@click.pass_context
def compare(
    ctx: click.Context,
    /,
    before: str,
    after: str,
    fail_on: FailOn,
    reports: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compare two runs of a subject: rates, cases that changed, tests with samples, time.

    Exit code 1 for a regression (see --fail-on), 3 if a case newly ended in an error or a run is
    not finished, 2 if the runs cannot be compared.
    """
    wanted = [parse_report(text, comparison_formats()) for text in reports]
    if as_json:
        wanted.append(("json", None))
    if sum(file is None for _, file in wanted) > 1:
        raise InputError("only one report can go to standard output", advice="name a file: json=…")
    runs = load_config().runs
    with Run(find_run(before, runs)) as first, Run(find_run(after, runs)) as second:
        comparison = compare_runs(first, second)
        report = ComparisonReport(first, second, comparison, fail_on)
        if all(file is not None for _, file in wanted):
            write_pieces(render_comparison(report, "terminal", colour=use_colour()))
        for name, file in wanted:
            write_text_report(name, file, render_comparison(report, name))
    ctx.exit(comparison.exit_code(fail_on))


def write_text_report(name: str, file: Path | None, pieces: Iterator[str]) -> None:
    """Write a report to its file or to standard output; a step summary is added to its file."""
    if name == "github" and file is not None:
        append_pieces(file, lambda _: (piece.encode("utf-8", "replace") for piece in pieces))
    else:
        write_pieces(pieces, file)


@click.command()
@click.argument("title", required=False)
@click.option(
    "--last",
    type=click.IntRange(min=1),
    default=LAST,
    show_default=True,
    help="How many runs to show, the newest.",
)
@JSON
def trend(title: str | None, last: int, as_json: bool) -> None:
    """Show how the rate of a TITLE developed from run to run.

    The title of a run is what it is about, as `assay runs list` shows it: a file or a suite. The
    default is that of the latest run.
    """
    runs = load_config().runs
    if title is None:
        title = read_manifest(find_run("latest", runs)).title
    trends = read_trends(title, runs, last=last)
    if as_json:
        print_json({"title": title, "trends": [one.to_values() for one in trends]})
        return
    click.echo("\n\n".join("\n".join(trend_lines(one)) for one in trends))
