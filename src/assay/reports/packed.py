"""What the short form of a record in the journal says, told without building its models.

Reports that go through every case read this form: the models would take most of their time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.model import PackedResult, packed_values, values


def full_record(packed: Mapping[str, Any]) -> dict[str, Any]:
    """The record as strict JSON with nothing abbreviated; bytes and such are tagged."""
    return {
        **packed,
        "detail": values.to_json(packed["detail"]),
        "reports": [_full_report(report) for report in packed["reports"]],
    }


def _full_report(report: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **report,
        "results": {name: _full_result(name, r, report) for name, r in report["results"].items()},
        "case": {name: values.to_json(value) for name, value in report["case"].items()},
    }


def _full_result(name: str, result: PackedResult, report: Mapping[str, Any]) -> dict[str, Any]:
    actual, expected = packed_values(name, result, report)
    found = (
        result if isinstance(result, dict) else {"diff": None, "is_correct": None, "weight": 0.0}
    )
    return {
        "attribute": name,
        **found,
        "actual": values.to_json(actual),
        "expected": values.to_json(expected),
        "diff": values.to_json(found["diff"]),
    }
