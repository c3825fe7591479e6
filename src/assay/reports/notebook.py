"""A run as a notebook shows it: the verdict, and a table of its cases."""

from __future__ import annotations

import html
from collections.abc import Iterator
from itertools import islice

from assay.model import Outcome
from assay.reports.summary import not_passed_rows, summarize
from assay.reports.text import one_line
from assay.runs import Row, Run

_ROWS = 50
_COLUMNS = ("case", "outcome", "score", "reason")


def render(run: Run) -> str:
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
    reason = run.read_packed(row)["reason"]
    texts = (row.id, row.outcome.value, f"{row.score:.2f}", reason)
    return "<tr>" + "".join(f"<td>{html.escape(one_line(text))}</td>" for text in texts) + "</tr>"
