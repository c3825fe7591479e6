"""The JSON report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from assay.findings import BaselineEntry
from assay.model import CaseRecord
from assay.reports import render_report
from assay.runs import Baseline, Run

if TYPE_CHECKING:
    from tests.reports.conftest import Make


def rendered(run: Run) -> dict[str, Any]:
    text = b"".join(render_report(run, "json"))
    loaded: dict[str, Any] = json.loads(text.decode("ascii"))
    return loaded


def as_record(case: dict[str, Any]) -> CaseRecord:
    """A case of the report as the record it is, by the recipe of docs/reports.md."""
    case = {name: value for name, value in case.items() if name not in ("score", "known")}
    for report in case["reports"]:
        del report["outcome"], report["score"]
    return CaseRecord.model_validate_json(json.dumps(case))


def test_the_head_has_the_run_and_the_totals(make: Make) -> None:
    records = [make.record("a"), make.record("b", "failed"), make.record("c", "error")]
    first = make.run(records, name="first")
    gone = BaselineEntry(case="gone", code="failed", fingerprint="")
    baseline = Baseline(accepted=[*Baseline.of(first.rows()).accepted, gone])
    report = rendered(make.run(records, name="second", baseline=baseline))
    assert list(report) == ["version", "run", "totals", "outdated", "cases"]
    assert report["version"] == 1
    assert report["run"]["name"] == "second"
    assert report["run"]["subject"] == "tests"
    assert report["totals"] == {
        "cases": 3,
        "passed": 1,
        "failed": 1,
        "unverified": 0,
        "error": 1,
        "mistakes": 0,
        "known": 1,
        "failing": 0,
        "wrong_inputs": 0,
        "pass_rate": 1 / 3,
        "pass_rate_interval": pytest.approx([0.0615, 0.7923], abs=1e-4),
        "samples": 3,
        "samples_passed": 1,
        "samples_failed": 1,
        "repeated_requests": 0,
        "tried_again": 0,
        "seconds": report["run"]["worked"],
        "mean_score": 1 / 3,
        "gate": None,
        "exit_code": 3,
        "verdict": "Error: 1 of 3 cases passed (33.3%), 1 failed, 1 error, "
        "1 of them accepted by the baseline.",
    }
    assert [entry["case"] for entry in report["outdated"]] == ["gone"]
    assert [(case["id"], case["known"]) for case in report["cases"]] == [
        ("a", False),
        ("b", True),
        ("c", False),
    ]


def test_every_record_is_there_in_full_and_in_order(make: Make) -> None:
    values = ["42", 42, None, True, b"\x00\xff", float("inf"), {"$bytes": "x"}, [[]], {}, "é" * 9]
    reports = [make.report(make.result("output", False, value, value)) for value in values]
    records = [
        make.record("many", "failed", reports=reports, detail={"b": b"1"}, usage={"tokens": 1.5}),
        make.record("none", "error", reports=[]),
    ]
    report = rendered(make.run(records))
    assert [as_record(case) for case in report["cases"]] == records
    assert report["cases"][0]["score"] == 0.0


def test_each_case_is_on_a_line_of_its_own(make: Make) -> None:
    run = make.run(make.record(f"{n}") for n in range(3))
    lines = b"".join(render_report(run, "json")).decode().splitlines()
    assert [json.loads(line.rstrip(","))["id"] for line in lines[1:-1]] == ["0", "1", "2"]


def test_a_run_without_cases_is_an_object_too(make: Make) -> None:
    assert rendered(make.run([]))["cases"] == []


def test_hostile_text_comes_back_as_it_was(make: Make, hostile: str) -> None:
    case = rendered(make.hostile_run())["cases"][0]
    assert case["id"] == case["reason"] == hostile
    assert case["reports"][0]["results"][f"files-{hostile}"]["actual"] == hostile


def test_cases_are_drawn_one_at_a_time(make: Make) -> None:
    run = make.run(make.record(f"{n}") for n in range(20))
    read = 0
    read_packed = run.read_packed

    def counting(row: Any) -> dict[str, Any]:
        nonlocal read
        read += 1
        return read_packed(row)

    run.read_packed = counting  # type: ignore[method-assign]
    pieces = render_report(run, "json")
    next(pieces), next(pieces), next(pieces)
    assert read == 2
