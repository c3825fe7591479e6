"""The JSON report: one versioned object with one case per line, described in docs/reports.md.

It is built from the compact form in the journal; building models would take most of the time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from assay.model import PackedResult, to_json, unpack_values
from assay.reports.summary import Summary, summarize
from assay.runs import Row, Run


def full_record(packed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record as strict JSON with nothing abbreviated; bytes and such are tagged."""
    return {
        **packed,
        "detail": to_json(packed["detail"]),
        "reports": [_full_report(report) for report in packed["reports"]],
    }


def _full_report(report: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **report,
        "results": {name: _full_result(name, r, report) for name, r in report["results"].items()},
        "case": {name: to_json(value) for name, value in report["case"].items()},
    }


def _full_result(name: str, result: PackedResult, report: Mapping[str, Any]) -> dict[str, Any]:
    actual, expected = unpack_values(name, result, report)
    found = (
        result if isinstance(result, dict) else {"diff": None, "is_correct": None, "weight": 0.0}
    )
    return {
        "attribute": name,
        **found,
        "actual": to_json(actual),
        "expected": to_json(expected),
        "diff": to_json(found["diff"]),
    }


VERSION = 1


# ASCII, because a lone surrogate has no other form that every reader accepts.
_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":"), check_circular=False).encode


def render(run: Run) -> Iterator[str]:
    """Yield the object piece by piece: the head, a line for every case, the end."""
    summary = summarize(run)
    yield _head(run, summary)
    separator = "\n"
    has_conversations = run.has_conversations
    for row in run.rows():
        case = _case(run, row)
        if has_conversations and (kept := dict(run.conversations(row))):
            case["conversations"] = to_json({str(number): one for number, one in kept.items()})
        yield separator + _encode(case)
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
