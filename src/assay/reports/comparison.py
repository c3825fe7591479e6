"""A comparison of two runs, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.reports.text import one_line
from assay.runs import Change, Comparison, Row

_SECTIONS = (
    ("newly_failing", "newly failing"),
    ("newly_errored", "newly in error"),
    ("newly_passing", "newly passing"),
    ("score_changes", "score changed"),
)


def comparison_lines(comparison: Comparison) -> Iterator[str]:
    """What changed, a line per case, the worst first; then how much did not."""
    for attribute, title in _SECTIONS:
        changes: list[Change] = getattr(comparison, attribute)
        if changes:
            yield f"{title}: {len(changes)}"
            yield from (f"  {_change_text(change)}" for change in changes)
    for title, rows in (("added", comparison.added), ("removed", comparison.removed)):
        if rows:
            yield f"{title}: {len(rows)}"
            yield from (f"  {one_line(row.id)} ({row.outcome})" for row in rows)
    yield f"unchanged: {comparison.unchanged}"
    if not comparison.is_complete:
        yield "not finished: one of the runs has cases that are yet to run"


def _change_text(change: Change) -> str:
    before, after = change.before, change.after
    if before is None:
        return f"{one_line(change.id)}  new, {after.outcome}"
    outcome = f"{before.outcome} → {after.outcome}" if before.outcome != after.outcome else ""
    score = f"score {before.score:.3g} → {after.score:.3g}" if before.score != after.score else ""
    return f"{one_line(change.id)}  " + ", ".join(filter(None, (outcome, score)))


def comparison_values(comparison: Comparison) -> dict[str, Any]:
    """The same as values for JSON."""
    changed = {
        attribute: [_change_values(change) for change in getattr(comparison, attribute)]
        for attribute, _ in _SECTIONS
    }
    return {
        **changed,
        "added": [_row_values(row) for row in comparison.added],
        "removed": [_row_values(row) for row in comparison.removed],
        "unchanged": comparison.unchanged,
        "is_complete": comparison.is_complete,
        "exit_code": comparison.exit_code(),
    }


def _change_values(change: Change) -> dict[str, Any]:
    return {
        "case": change.id,
        "before": None if change.before is None else _row_values(change.before),
        "after": _row_values(change.after),
    }


def _row_values(row: Row) -> dict[str, Any]:
    return {"case": row.id, "outcome": row.outcome.value, "score": row.score}
