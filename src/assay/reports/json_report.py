"""The JSON report: one versioned object, its cases one per line; docs/reports.md describes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from assay.reports.packed import full_record
from assay.reports.summary import Summary, summarize
from assay.runs import Row, Run

VERSION = 1

# ASCII, because a lone surrogate has no other form that every reader accepts.
_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":"), check_circular=False).encode


def render(run: Run) -> Iterator[str]:
    """The object piece by piece: the head, a line for every case, the end."""
    summary = summarize(run)
    yield _head(run, summary)
    separator = "\n"
    for row in run.rows():
        yield separator + _encode(_case(run, row))
        separator = ",\n"
    yield "\n]}\n"


def _head(run: Run, summary: Summary) -> str:
    head = {
        "version": VERSION,
        "run": {"name": run.name, **run.manifest.model_dump(mode="json")},
        "totals": summary.to_values(),
        "outdated": [entry.model_dump() for entry in summary.outdated],
    }
    return _encode(head)[:-1] + ',"cases":['


def _case(run: Run, row: Row) -> dict[str, Any]:
    return {**full_record(run.read_packed(row)), "known": run.is_known(row)}
