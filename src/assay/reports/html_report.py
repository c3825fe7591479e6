"""The HTML report: one self-contained page in which text from cases is never interpreted.

Three measures ensure this, each sufficient alone: hidden characters are made visible, the template
escapes everything, and the page's content security policy allows only its own script and style.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from assay._version import __version__
from assay.model import Outcome
from assay.reports.evidence import Evidence, EvidenceLimits, gather
from assay.reports.matrix import find_matrix
from assay.reports.summary import NOT_PASSED, Summary, not_passed_rows, percent, summarize
from assay.reports.text import one_line, seconds, show_command
from assay.runs import Row, Run

if TYPE_CHECKING:
    from jinja2 import Environment


PASSED_AT_MOST = 1_000


_LIMITS = EvidenceLimits(characters=4_000, lines=100, attributes=60, samples=50)


_PASSED_LIMITS = EvidenceLimits(characters=600, lines=20, attributes=30, samples=10)


_TEMPLATES = Path(__file__).parent / "templates"


_VERDICT_CLASSES = {0: "passed", 1: "failed", 2: "error", 3: "error"}


_DIFF_KINDS = {"+": "added", "-": "removed", "@": "place"}


_PIECES_AT_ONCE = 200


class _Section(NamedTuple):
    """The cases of one outcome, rendered lazily."""

    outcome: str
    number: int
    left_out: int
    cases: Iterator[Evidence]


def render(run: Run) -> Iterator[str]:
    """Return the page piece by piece."""
    summary = summarize(run)
    stream = _environment().get_template("report.html").stream(**_context(run, summary))
    stream.enable_buffering(_PIECES_AT_ONCE)
    return iter(stream)


def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    environment.filters |= {
        "diff_lines": _diff_lines,
        "first_line": lambda text: one_line(text.partition("\n")[0]),
        "number": lambda number: f"{number:,}",
        "one_line": one_line,
    }
    return environment


def _context(run: Run, summary: Summary) -> dict[str, Any]:
    return {
        **_assets(),
        "summary": summary,
        "name": one_line(run.name),
        "title": one_line(summary.title or summary.subject),
        "verdict_class": _VERDICT_CLASSES[summary.exit_code],
        "pass_rate": percent(summary.pass_rate),
        "duration": "not finished" if summary.duration is None else seconds(summary.duration),
        "bar": list(_bar(summary)),
        "matrix": find_matrix(run),
        "sections": [_section(run, summary, outcome) for outcome in (*NOT_PASSED, Outcome.PASSED)],
        "command": show_command(run),
        "version": __version__,
    }


def _assets() -> dict[str, Any]:
    """Return the style and the script, and their hashes for the page's policy."""
    from markupsafe import Markup

    assets: dict[str, Any] = {}
    for name, file in (("style", "report.css"), ("script", "report.js")):
        text = (_TEMPLATES / file).read_text("utf-8")
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assets[name] = Markup(text)  # noqa: S704 - our own file, never text from a case
        assets[f"{name}_hash"] = f"sha256-{digest}"
    return assets


def _bar(summary: Summary) -> Iterator[tuple[str, float, float]]:
    """Outcome, start and width of each part of the bar, in thousandths."""
    start = 0.0
    for outcome in (Outcome.PASSED, *NOT_PASSED):
        width = 1000 * summary.counts[outcome] / max(summary.total, 1)
        if width:
            yield outcome.value, round(start, 2), round(width, 2)
        start += width


def _section(run: Run, summary: Summary, outcome: Outcome) -> _Section:
    number = summary.counts[outcome]
    rows: Iterator[Row]
    if outcome is Outcome.PASSED:
        rows, limits = islice(run.rows(outcome), PASSED_AT_MOST), _PASSED_LIMITS
        left_out = max(0, number - PASSED_AT_MOST)
    else:
        rows, limits, left_out = _new_ones_first(run, outcome), _LIMITS, 0
    cases = (gather(run.read(row), is_known=run.is_known(row), limits=limits) for row in rows)
    return _Section(outcome.value, number, left_out, cases)


def _new_ones_first(run: Run, outcome: Outcome) -> Iterator[Row]:
    return chain(
        (row for row in run.rows(outcome) if not run.is_known(row)),
        (row for row in run.rows(outcome) if run.is_known(row)),
    )


def _diff_lines(text: str) -> list[tuple[str, str]]:
    return [(_DIFF_KINDS.get(line[:1], "same"), line) for line in text.split("\n")]


_ROWS = 50


# The columns of a table in a notebook: each title, and how the text of a row is made.
_COLUMNS: dict[str, Callable[[Run, Row], str]] = {
    "case": lambda run, row: row.id,
    "outcome": lambda run, row: row.outcome.value,
    "score": lambda run, row: f"{row.score:.2f}",
    "reason": lambda run, row: str(run.read_packed(row)["reason"]),
}


def render_table(run: Run) -> str:
    """Return HTML: what did not pass first, no more than 50 cases."""
    summary = summarize(run)
    rows = list(islice(_rows(run), _ROWS))
    head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
    body = "".join(_row(run, row) for row in rows)
    left_out = summary.total - len(rows)
    more = f"<p>… and {left_out:,} more</p>" if left_out else ""
    return (
        f"<p><strong>{html.escape(one_line(summary.verdict_line()))}</strong></p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
    )


def _rows(run: Run) -> Iterator[Row]:
    yield from not_passed_rows(run)
    yield from run.rows(Outcome.PASSED)


def _row(run: Run, row: Row) -> str:
    texts = (write(run, row) for write in _COLUMNS.values())
    return "<tr>" + "".join(f"<td>{html.escape(one_line(text))}</td>" for text in texts) + "</tr>"
