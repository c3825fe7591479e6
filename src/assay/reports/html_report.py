"""The HTML report: one self-contained page in which text from cases is never interpreted.

Three measures ensure this, each sufficient alone: hidden characters are made visible, the template
escapes everything, and the page's content security policy allows only its own script and style.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from assay._version import __version__
from assay.model import CaseRecord, Outcome
from assay.reports.blocks_html import BlockLimits
from assay.reports.case_evidence import render_overview, render_record
from assay.reports.charts import draw_matrix, draw_outcomes
from assay.reports.highlight import render_inline
from assay.reports.markup import Html
from assay.reports.matrix import find_matrix
from assay.reports.page import hash_source, report_style
from assay.reports.summary import (
    NOT_PASSED,
    Summary,
    count_samples,
    not_passed_rows,
    percent,
    summarize,
)
from assay.reports.text import count, one_line, seconds, show_command
from assay.runs import Row, Run

if TYPE_CHECKING:
    from jinja2 import Environment


PASSED_AT_MOST = 1_000


_TEMPLATES = Path(__file__).parent / "templates"


_VERDICT_CLASSES = {0: "passed", 1: "failed", 2: "error", 3: "error"}


_PIECES_AT_ONCE = 200


# The page stays below 10 MB. So many characters of evidence are for all cases, of which each
# outcome is sure of a part; a section may be longer by one case.
_CHARACTERS = 8_000_000


_CHARACTERS_OF_OTHERS = 1_200_000


_LIMITS = BlockLimits(characters=4_000, lines=100, rows=100, total=250_000)


_PASSED_LIMITS = BlockLimits(characters=600, lines=20, rows=20, total=25_000)


class _Entry(NamedTuple):
    """A case of the page: its line, and what is below it."""

    id: str
    outcome: str
    is_known: bool
    reason: Html
    score: str
    evidence: Html


class _Section:
    """The cases of one outcome, rendered as they are asked for."""

    def __init__(self, run: Run, outcome: Outcome, number: int, characters: int) -> None:
        self._run, self._outcome, self._characters = run, outcome, characters
        self.outcome, self.number = outcome.value, number
        self.left_out = number

    @property
    def word(self) -> str:
        """What the cases that are left out did."""
        return {Outcome.ERROR: "ended in an error", Outcome.UNVERIFIED: "are unverified"}.get(
            self._outcome, self._outcome.value
        )

    @property
    def cases(self) -> Iterator[_Entry]:
        """Yield the cases until the section is full; `left_out` is right afterwards."""
        is_passed = self._outcome is Outcome.PASSED
        rows = self._run.rows(Outcome.PASSED) if is_passed else self._list_new_ones_first()
        left = self._characters
        for row in islice(rows, PASSED_AT_MOST if is_passed else None):
            if left <= 0:
                return
            entry = _make_entry(self._run, row, _PASSED_LIMITS if is_passed else _LIMITS)
            left -= len(entry.evidence) + len(entry.reason) + 2 * len(entry.id) + _LINE
            self.left_out -= 1
            yield entry

    def _list_new_ones_first(self) -> Iterator[Row]:
        rows, is_known = self._run.rows, self._run.is_known
        yield from (row for row in rows(self._outcome) if not is_known(row))
        if self._run.baseline is not None:
            yield from (row for row in rows(self._outcome) if is_known(row))


# About the length of the HTML around the texts of an entry.
_LINE = 300


def _make_entry(run: Run, row: Row, limits: BlockLimits) -> _Entry:
    record, is_known = run.read(row), run.is_known(row)
    return _Entry(
        id=one_line(row.id),
        outcome=row.outcome.value,
        is_known=is_known,
        reason=render_inline(one_line(record.reason.partition("\n")[0])),
        score=_describe_score(record),
        evidence=render_record(run, record, limits, is_known=is_known),
    )


def _describe_score(record: CaseRecord) -> str:
    """Return what a number beside the case counts; nothing where the outcome says it all."""
    if len(record.reports) > 1:
        passed = sum(report.did_pass() for report in record.reports)
        return f"{passed} of {count(len(record.reports), 'sample')}"
    score = record.calculate_score()
    return f"score {score:.2f}" if 0 < score < 1 else ""


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
    environment.filters |= {"number": lambda number: f"{number:,}", "one_line": one_line}
    return environment


def _context(run: Run, summary: Summary) -> dict[str, Any]:
    matrix = find_matrix(run)
    counts = {one.value: summary.counts[one] for one in (Outcome.PASSED, *NOT_PASSED)}
    return {
        **_assets(),
        "summary": summary,
        "name": one_line(run.name),
        "subject": one_line(summary.subject),
        "title": one_line(summary.title or run.name),
        "verdict_class": _VERDICT_CLASSES[summary.exit_code],
        "totals": list(_list_totals(run, summary)),
        "overview": render_overview(run, _LIMITS),
        "bar": draw_outcomes(counts, title=summary.verdict_line()),
        "matrix": None if matrix is None else draw_matrix(matrix),
        "sections": list(_make_sections(run, summary)),
        "command": show_command(run),
        "version": __version__,
    }


def _make_sections(run: Run, summary: Summary) -> Iterator[_Section]:
    """Yield a section per outcome; the first one that has cases gets what the others leave."""
    present = [one for one in (*NOT_PASSED, Outcome.PASSED) if summary.counts[one]]
    for outcome in (*NOT_PASSED, Outcome.PASSED):
        is_first = present[:1] == [outcome]
        rest = _CHARACTERS - _CHARACTERS_OF_OTHERS * (len(present) - 1)
        characters = rest if is_first else _CHARACTERS_OF_OTHERS
        yield _Section(run, outcome, summary.counts[outcome], characters)


def _list_totals(run: Run, summary: Summary) -> Iterator[tuple[str, str, str]]:
    """Yield what is counted, the number, and the share where there is one."""
    passed, total = summary.counts[Outcome.PASSED], summary.total
    share = percent(summary.pass_rate) if total > 1 else ""
    yield "cases passed", f"{passed:,} of {total:,}", share
    if (samples := count_samples(run)) is not None:
        yield "samples passed", f"{samples.hits:,} of {samples.trials:,}", str(samples)
    elif 0 < summary.mean_score < 1 and summary.mean_score != summary.pass_rate:
        yield "mean score of the cases", f"{summary.mean_score:.2f}", ""
    if summary.known:
        yield "known", f"{summary.known:,}", "accepted by the baseline"
    yield "time", "not finished" if summary.duration is None else seconds(summary.duration), ""


def _assets() -> dict[str, Any]:
    """Return the style and the script, and their hashes for the page's policy."""
    script = (_TEMPLATES / "report.js").read_text("utf-8")
    assets: dict[str, Any] = {}
    for name, text in (("style", report_style()), ("script", script)):
        assets[name] = Html(text)
        assets[f"{name}_hash"] = hash_source(text)
    return assets


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
