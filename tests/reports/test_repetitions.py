"""What was tried more than once shows in every report."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.model import VerifierReport
from assay.reports import render_report, summarize
from assay.runs import Run, Unit
from assay.runs.writer import RunWriter
from tests.runs.making import make_record, make_report, write_run


def repeated(count: int) -> VerifierReport:
    return make_report("P").model_copy(update={"case": {"requests": 4, "repeated": count}})


@pytest.fixture
def run(tmp_path: Path) -> Run:
    tried = [make_record("restless", "P", reports=[repeated(2), repeated(1)])]
    path = write_run(tmp_path / "run", [make_record("flaky", "E"), *tried])
    with RunWriter(path) as writer:
        for place, name in enumerate(("flaky", "restless")):
            unit = Unit(name, place, "f", None)
            if writer.wants(unit):
                writer.add(unit, make_record(name, "P"))
        writer.finish()
    return Run(path)


def test_the_totals_count_them(run: Run) -> None:
    totals = summarize(run).to_values()
    assert (totals["repeated_requests"], totals["tried_again"]) == (3, 1)
    assert (totals["samples"], totals["samples_passed"]) == (3, 3)


@pytest.mark.parametrize("name", ["terminal", "markdown", "github", "junit"])
def test_reports_name_the_cases(run: Run, name: str) -> None:
    text = b"".join(render_report(run, name)).decode()
    assert "ran 2 times, because it ended in an error before" in text
    assert "3 requests repeated" in text
    if name == "junit":
        assert 'name="assay.repeated_requests" value="3"' in text
        assert 'name="assay.tried_again" value="1"' in text


def test_a_run_without_any_says_nothing(tmp_path: Path) -> None:
    run = Run(write_run(tmp_path / "run", {"a": "P"}))
    for name in ("terminal", "markdown", "github", "junit"):
        text = b"".join(render_report(run, name)).decode()
        assert "repe" not in text.lower()
        assert "ran " not in text
