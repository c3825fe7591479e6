"""What the short form of a record in the journal says, told without building its models.

Reports that go through every case read this form: the models would take most of their time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from assay import values


def judge(report: Mapping[str, Any]) -> tuple[str, float]:
    """Outcome and score of a packed report, as `VerifierReport` has them."""
    verified = undecided = wrong = False
    weights: list[tuple[float, bool]] = []
    for result in report["results"].values():
        if type(result) is list:
            continue
        is_correct, weight = result["is_correct"], result["weight"]
        if is_correct is None:
            undecided = undecided or weight > 0
        else:
            verified = True
            wrong = wrong or not is_correct
            weights.append((weight, is_correct))
    score = (1.0 if weights[0][1] else 0.0) if _is_simple(weights) else _score(weights)
    if report["error"] is not None:
        return "error", score
    if wrong:
        return "failed", score
    return ("passed" if verified and not undecided else "unverified"), score


def _is_simple(weights: list[tuple[float, bool]]) -> bool:
    return len(weights) == 1 and weights[0][0] > 0


def _score(weights: list[tuple[float, bool]]) -> float:
    heaviest = max((weight for weight, _ in weights), default=0.0)
    if heaviest == 0.0:
        return 0.0
    total = math.fsum(weight / heaviest for weight, _ in weights)
    return math.fsum(weight / heaviest for weight, right in weights if right) / total


def full_record(packed: Mapping[str, Any]) -> dict[str, Any]:
    """The record as strict JSON with nothing abbreviated; bytes and such are tagged."""
    return {
        **packed,
        "detail": values.to_json(packed["detail"]),
        "reports": [_full_report(report) for report in packed["reports"]],
    }


def _full_report(report: Mapping[str, Any]) -> dict[str, Any]:
    outcome, score = judge(report)
    return {
        **report,
        "results": {name: _full_result(name, r) for name, r in report["results"].items()},
        "case": {name: values.to_json(value) for name, value in report["case"].items()},
        "outcome": outcome,
        "score": score,
    }


def _full_result(name: str, result: dict[str, Any] | list[Any]) -> dict[str, Any]:
    if isinstance(result, dict):
        plain = {field: values.to_json(result[field]) for field in ("actual", "expected", "diff")}
        return {**result, **plain}
    return {
        "attribute": name,
        "actual": values.to_json(result[0]),
        "expected": values.to_json(result[1]),
        "diff": None,
        "is_correct": None,
        "weight": 0.0,
    }
