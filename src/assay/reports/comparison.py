"""Reports of comparisons: of two runs in every format, and of the runs of a title."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from assay.errors import InputError, nearest
from assay.model import SIGNIFICANT, Difference, Share
from assay.reports.evidence import Paint
from assay.reports.markdown import cell, code_span
from assay.reports.summary import percent
from assay.reports.text import count, one_line, seconds
from assay.runs import (
    LISTED,
    CaseChange,
    ChangeKind,
    ComparedRun,
    DurationChange,
    FailOn,
    Row,
    Run,
    RunComparison,
    SampledTest,
    Trend,
    TrendPoint,
    draw_sparkline,
    list_changes,
    name_finding,
)

_TITLES = {
    ChangeKind.NEWLY_FAILING: "newly failing",
    ChangeKind.NEWLY_ERRORED: "newly in error",
    ChangeKind.FINDING_CHANGED: "other finding",
    ChangeKind.NEWLY_PASSING: "newly passing",
    ChangeKind.SCORE_CHANGED: "score changed",
    ChangeKind.ADDED: "added",
    ChangeKind.REMOVED: "removed",
}
_STYLES = {
    ChangeKind.NEWLY_FAILING: "failed",
    ChangeKind.NEWLY_ERRORED: "error",
    ChangeKind.FINDING_CHANGED: "unverified",
    ChangeKind.NEWLY_PASSING: "passed",
}
_TEMPLATES = Path(__file__).parent / "templates"
_TERMINAL_ROWS = 50
_DOCUMENT_ROWS = 200
# With lines of at most 300 characters, all sections together stay below GitHub's limit of 1 MiB.
_GITHUB_ROWS = 60
VERSION = 1


class Section(NamedTuple):
    """A table of a report: its title, the names of its columns, and rows of text."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    left_out: int = 0
    style: str = ""
    numbers: int = 0
    """How many of the last columns are made of our own words and numbers only."""


@dataclass(frozen=True)
class ComparisonReport:
    """A comparison, and the two runs that a report may read again."""

    before: Run
    after: Run
    comparison: RunComparison
    fail_on: FailOn = "regression"


def comparison_lines(comparison: RunComparison, fail_on: FailOn = "regression") -> Iterator[str]:
    """Yield a comparison for the terminal, without colour."""
    return _terminal_lines(comparison, fail_on, Paint())


def _terminal_lines(comparison: RunComparison, fail_on: FailOn, paint: Paint) -> Iterator[str]:
    for label, run in (("before", comparison.before), ("after", comparison.after)):
        yield f"{label}: {_name_run(run)}"
    yield from (f"{label}: {text}" for label, text in _rate_lines(comparison))
    for section in _sections(comparison, _TERMINAL_ROWS):
        yield paint(section.title, section.style) if section.style else section.title
        for first, *rest in section.rows:
            yield f"  {first}  {', '.join(filter(None, rest))}".rstrip()
        if section.left_out:
            yield f"  … {section.left_out:,} more; see all with: --report json"
    yield from list_notes(comparison)
    yield paint(describe_verdict(comparison, fail_on), _verdict_style(comparison, fail_on))


def _name_run(run: ComparedRun) -> str:
    name = one_line(run.name)
    titled = f"{name} ({one_line(run.title)})" if run.title and run.title != run.name else name
    return f"{titled}, {count(run.cases, 'case')}, {run.started[:16].replace('T', ' ')}"


def _rate_lines(comparison: RunComparison) -> Iterator[tuple[str, str]]:
    table = comparison.table
    if not sum(table):
        yield "rates", "no case was judged in both runs"
        return
    yield "rate before", describe_share(table.before)
    yield "rate after", describe_share(table.after)
    yield "change of the rate", describe_change(comparison)


def describe_share(share: Share, noun: str = "case") -> str:
    """Return a rate with its counts and its interval."""
    if share.value is None:
        return f"no {noun}s judged"
    low, high = share.interval
    counts = f"{share.hits:,} of {count(share.trials, noun)} passed"
    return f"{percent(share.value)}, {counts} (95% interval {low:.1%} to {high:.1%})"


def describe_change(comparison: RunComparison) -> str:
    """Return how much the rate changed, and whether chance may explain it."""
    table, chance = comparison.table, comparison.chance
    difference = describe_difference(comparison.difference)
    if table.lost + table.gained == 0:
        return f"{difference}; no case changed sides"
    meaning = "more than chance explains" if chance < SIGNIFICANT else "chance may explain it"
    return (
        f"{difference}; {table.lost:,} lost, {table.gained:,} gained, "
        f"{describe_chance(chance)} (McNemar's exact test): {meaning}"
    )


def describe_difference(difference: Difference) -> str:
    """Return a difference of rates in percentage points, with its interval."""
    if difference.value is None:
        return "–"
    low, high = (_points(each) for each in difference.interval)
    return f"{_points(difference.value)} points ({low} to {high})"


def _points(share: float) -> str:
    text = f"{100 * share:+.1f}".replace("-", "−")
    return text.lstrip("+−") if text in ("+0.0", "−0.0") else text


def describe_chance(chance: float) -> str:
    """Return the probability of a test in few digits."""
    return "p < 0.0001" if chance < 0.0001 else f"p = {chance:.2g}"


def describe_verdict(comparison: RunComparison, fail_on: FailOn = "regression") -> str:
    """Return the whole comparison in one line."""
    code = comparison.exit_code("regression" if fail_on == "none" else fail_on)
    if code == 1:
        if fail_on == "significant":
            return "Regression: a rate fell by more than chance explains."
        number = comparison.counts[ChangeKind.NEWLY_FAILING]
        return f"Regression: {count(number, 'case')} newly {'fails' if number == 1 else 'fail'}."
    if code == 3:
        return f"Unclear: {_name_gap(comparison)}."
    return "No regression."


def _name_gap(comparison: RunComparison) -> str:
    if not comparison.is_complete:
        return "one of the runs is not finished"
    if number := comparison.counts[ChangeKind.NEWLY_ERRORED]:
        return f"{count(number, 'case')} newly ended in an error, which is no failure and no pass"
    return "every case ended in an error in one of the runs"


def _verdict_style(comparison: RunComparison, fail_on: FailOn) -> str:
    return {0: "passed", 1: "failed"}.get(comparison.exit_code(fail_on), "error")


def _sections(comparison: RunComparison, limit: int) -> Iterator[Section]:
    for kind, title in _TITLES.items():
        if number := comparison.counts[kind]:
            changes = comparison.changes[kind][:limit]
            rows = [_change_cells(comparison.subject, change) for change in changes]
            yield Section(
                f"{title}: {number:,}",
                ("case", "change", "details"),
                rows,
                number - len(rows),
                _STYLES.get(kind, ""),
                numbers=1,
            )
    yield Section(f"unchanged: {comparison.unchanged:,}", (), [])
    if flips := comparison.flips:
        shown = flips[: min(limit, 20)]
        rows = [(f"{one_line(a)} → {one_line(b)}", f"{number:,}") for a, b, number in shown]
        more = sum(flip.cases for flip in flips[len(shown) :]) + comparison.other_flips
        yield Section("by finding", ("from → to", "cases"), rows, more, numbers=1)
    if comparison.tested or comparison.early:
        yield _test_section(comparison, min(limit, 20))
    yield from _duration_sections(comparison)


def _change_cells(subject: str, change: CaseChange) -> tuple[str, ...]:
    before, after = change.before, change.after
    if before is None or after is None:
        only = after or before
        assert only is not None
        word = "new, " if before is None else "was "
        return one_line(change.id), f"{word}{one_line(name_finding(subject, only))}", ""
    return one_line(change.id), describe_flip(subject, before, after), _score_text(before, after)


def describe_flip(subject: str, before: Row, after: Row) -> str:
    """Return what a case ended with before and after, in words."""
    names = [one_line(name_finding(subject, row)) for row in (before, after)]
    again = f", after {after.tries} tries" if after.tries > 1 else ""
    return (" → ".join(names) if names[0] != names[1] else names[0]) + again


def _score_text(before: Row, after: Row) -> str:
    if before.score == after.score:
        return ""
    return f"score {before.score:.3g} → {after.score:.3g}"


def _test_section(comparison: RunComparison, limit: int) -> Section:
    worse = sum(test.is_worse for test in comparison.tests)
    title = f"tests with samples: {comparison.tested:,} compared"
    if comparison.tested:
        title += f", {worse:,} with a rate that fell by more than chance explains"
    if comparison.early:
        title += f"; {comparison.early:,} stopped early and have no rate (--all-samples)"
    shown = comparison.tests[:limit]
    columns = ("test", "before", "after", "change", "Fisher's exact test")
    rows = [_test_cells(test) for test in shown]
    left_out = comparison.tested - len(shown)
    return Section(title, columns, rows, left_out, "failed" if worse else "", numbers=4)


def _test_cells(test: SampledTest) -> tuple[str, ...]:
    return (
        one_line(test.id),
        describe_share(test.before, "sample"),
        describe_share(test.after, "sample"),
        describe_difference(test.difference),
        f"{describe_chance(test.chance)}, {describe_chance(test.adjusted)} for all tests (Holm)",
    )


def _duration_sections(comparison: RunComparison) -> Iterator[Section]:
    times = comparison.durations
    if not times.cases:
        return
    title = f"time of {count(times.cases, 'case')}: {_change_of_time(times.before, times.after)}"
    if times.ratio is not None:
        title += f"; the typical case took {times.ratio:.2f} times as long"
    yield Section(title, (), [])
    for word, changes in (("slower", times.slower), ("faster", times.faster)):
        if changes:
            rows: list[tuple[str, ...]] = [_time_cells(change) for change in changes]
            yield Section(f"{word} most", ("case", "time"), rows, numbers=1)


def _time_cells(change: DurationChange) -> tuple[str, str]:
    return one_line(change.id), _change_of_time(change.before, change.after)


def _change_of_time(before: float, after: float) -> str:
    text = f"{seconds(max(before, 0.0))} → {seconds(max(after, 0.0))}"
    return f"{text} ({(after - before) / before:+.0%})".replace("-", "−") if before > 0 else text


def list_notes(comparison: RunComparison) -> Iterator[str]:
    """Yield what a reader of the rates has to know: what they leave out."""
    for number, why in (
        (comparison.errors, "ended in an error in one of the runs"),
        (comparison.undecided, "could not be decided in one of the runs"),
    ):
        if number:
            yield f"not in the rates: {count(number, 'case')} that {why}"
    if comparison.changed_inputs:
        yield (
            f"{count(comparison.changed_inputs, 'case')} with another fingerprint: the case, its "
            "settings or the subject changed"
        )
    if not comparison.is_complete:
        yield "not finished: one of the runs has cases that are yet to run"


def _render_terminal(report: ComparisonReport, *, colour: bool = False) -> Iterator[str]:
    for line in _terminal_lines(report.comparison, report.fail_on, Paint(colour)):
        yield f"{line}\n"


def _render_markdown(report: ComparisonReport) -> Iterator[str]:
    return _document(report, _DOCUMENT_ROWS, "# Assay: ")


def _render_github(report: ComparisonReport) -> Iterator[str]:
    marks = {0: "✅", 1: "❌", 3: "💥"}
    mark = marks[report.comparison.exit_code(report.fail_on)]
    return _document(report, _GITHUB_ROWS, f"## {mark} Assay: ")


def _document(report: ComparisonReport, limit: int, head: str) -> Iterator[str]:
    comparison = report.comparison
    names = (code_span(one_line(run.name)) for run in (comparison.before, comparison.after))
    yield f"{head}{' and '.join(names)} compared\n\n"
    yield f"**{describe_verdict(comparison, report.fail_on)}**\n\n"
    yield "| | |\n|---|---|\n"
    for label, run in (("before", comparison.before), ("after", comparison.after)):
        yield f"| {label} | {cell(_name_run(run))} |\n"
    yield from (f"| {label} | {text} |\n" for label, text in _rate_lines(comparison))
    for section in _sections(comparison, limit):
        yield f"\n### {section.title.capitalize()}\n" if section.rows else f"\n{section.title}\n"
        if section.rows:
            yield from _markdown_table(section)
    yield from (f"\n{note}\n" for note in list_notes(comparison))


def _markdown_table(section: Section) -> Iterator[str]:
    untrusted = len(section.columns) - section.numbers
    yield f"\n| {' | '.join(section.columns)} |\n|{'---|' * len(section.columns)}\n"
    for row in section.rows:
        cells = [cell(text) if place < untrusted else text for place, text in enumerate(row)]
        yield f"| {' | '.join(cells)} |\n"
    if section.left_out:
        yield f"\n… {section.left_out:,} more\n"


def _render_html(report: ComparisonReport) -> Iterator[str]:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    style = (_TEMPLATES / "comparison.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    comparison = report.comparison
    yield environment.get_template("comparison.html").render(
        names=[one_line(run.name) for run in (comparison.before, comparison.after)],
        runs=[_name_run(run) for run in (comparison.before, comparison.after)],
        verdict=describe_verdict(comparison, report.fail_on),
        verdict_class=_verdict_style(comparison, report.fail_on),
        rates=list(_rate_lines(comparison)),
        sections=list(_sections(comparison, LISTED)),
        notes=list(list_notes(comparison)),
        # Our own file, never text from a case.
        style=Markup(style),  # noqa: S704
        style_hash=f"sha256-{digest}",
    )


def _render_json(report: ComparisonReport) -> Iterator[str]:
    """Yield one object: the comparison, and every case that changed on a line of its own."""
    encode = json.JSONEncoder(allow_nan=False).encode
    head = {"version": VERSION, **report.comparison.to_values(report.fail_on)}
    yield encode(head)[:-1] + ', "changes": ['
    separator = "\n"
    for change in list_changes(report.before, report.after):
        yield separator + encode(change.to_values())
        separator = ",\n"
    yield "\n]}\n"


_RENDERERS: dict[str, Callable[[ComparisonReport], Iterator[str]]] = {
    "html": _render_html,
    "markdown": _render_markdown,
    "github": _render_github,
    "json": _render_json,
}


def comparison_formats() -> list[str]:
    """Return the names of the reports of a comparison that are not for the terminal."""
    return list(_RENDERERS)


def render_comparison(
    report: ComparisonReport, name: str, *, colour: bool = False
) -> Iterator[str]:
    """Yield the report of a comparison in a format, piece by piece."""
    if name == "terminal":
        return _render_terminal(report, colour=colour)
    if name not in _RENDERERS:
        raise InputError(f"a comparison has no report {name!r}", advice=nearest(name, _RENDERERS))
    return _RENDERERS[name](report)


def trend_lines(trend: Trend) -> Iterator[str]:
    """Yield the history of a title for the terminal: a line per run, and the rates as a line."""
    yield f"{one_line(trend.title or '(no title)')}, {trend.subject}"
    if trend.left_out:
        yield f"  … {count(trend.left_out, 'older run')}; see them with: --last"
    for point in trend.points:
        yield f"  {point.started[:16].replace('T', ' ')}  {_point_text(point)}"
    rates = [one.share.value for one in trend.points if one.is_whole]
    known = [rate for rate in rates if rate is not None]
    if known:
        limits = f"{percent(min(known))} to {percent(max(known))}"
        yield f"{draw_sparkline(known)}  {limits}"


def _point_text(point: TrendPoint) -> str:
    parts = [describe_share(point.share)]
    if point.samples.taken > sum((point.share.trials, point.errors, point.undecided)):
        parts.append(f"{point.samples.passed:,} of {count(point.samples.taken, 'sample')}")
    if point.errors:
        parts.append(count(point.errors, "error"))
    if point.undecided:
        parts.append(f"{point.undecided:,} unverified")
    if not point.is_finished:
        parts.append("not finished")
    elif point.is_partial:
        parts.append("only some cases")
    return f"{', '.join(parts)}  {one_line(point.name)}"
