"""Whatever a case carries, its record can be read again and says how the case ended."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model import AttributeResult, CaseRecord, Outcome, VerifierReport
from assay.reports import render_report
from assay.runs import Manifest, Parts, Run, Unit, create_folder, execute
from assay.runs import journal as shortening_module
from assay.runs.journal import LONGEST_LINE, is_too_large, read_entries, shorten_record

# Made when they are needed: millions of objects that stay would slow down all other tests.
_HUGE: dict[str, Callable[[], Any]] = {
    "one long text": lambda: "x" * 40_000_000,
    "a text of control characters": lambda: "\x01" * 8_000_000,
    "bytes": lambda: b"\xff" * 40_000_000,
    "many parts": lambda: [[] for _ in range(510_000)],
    "many keys": lambda: {str(number): number for number in range(510_000)},
    "objects in objects": lambda: [{"a": {"a": {"a": {"$bytes": 1}}}}] * 110_000,
}


def _report(value: Any, *, is_correct: bool) -> VerifierReport:
    found = AttributeResult(
        attribute="output", actual=value, expected="y", is_correct=is_correct, weight=1.0
    )
    return VerifierReport(
        id="a",
        group="g",
        type="Core",
        duration=0.5,
        results={"output": found},
        case={"id": "a", "input": value},
    )


def _run(folder: Path, reports: list[VerifierReport], **fields: Any) -> CaseRecord:
    path = create_folder(folder / "run", Manifest(subject="test"))

    async def work(unit: Unit, parts: Parts) -> CaseRecord:
        if unit.id == "b":
            # A case after it is kept as well.
            return CaseRecord(id="b", subject="test", outcome=Outcome.PASSED, code="wrong")
        for number, report in enumerate(reports[:2]):
            parts.keep(f"sample {number}", report.pack())
        outcome = Outcome.FAILED if reports else Outcome.PASSED
        about = {"id": unit.id, "subject": "test", "outcome": outcome, "code": "wrong"}
        return CaseRecord(**about, reports=reports, fingerprint="f", **fields)

    execute(path, [Unit("a", 0, "f", None), Unit("b", 1, "f", None)], work)
    for span, _ in read_entries(path / "journal.jsonl"):
        assert span.length <= LONGEST_LINE
    with Run(path) as run:
        assert sum(map(len, render_report(run, "json"))) > 0
        assert sum(map(len, render_report(run, "junit"))) > 0
        assert [one.code for one in run.records()] == ["wrong", "wrong"]
        return run.record("a")


@pytest.mark.parametrize("what", _HUGE)
def test_a_run_of_huge_evidence_can_be_read_and_keeps_its_verdict(
    tmp_path: Path, what: str
) -> None:
    record = _run(tmp_path, [_report(_HUGE[what](), is_correct=False)])
    assert (record.outcome, record.fingerprint) == (Outcome.FAILED, "f")
    (report,) = record.reports
    found = report.results["output"]
    assert (found.is_correct, found.expected) == (False, "y")
    shown = (
        found.actual.decode(errors="replace") if isinstance(found.actual, bytes) else found.actual
    )
    assert "left out of the record)" in shown[-100:]


def test_many_reports_that_are_large_together_keep_a_part_of_each(tmp_path: Path) -> None:
    reports = [_report("x" * 1_000_000, is_correct=False) for _ in range(20)]
    record = _run(tmp_path, reports)
    assert len(record.reports) == 20
    assert all(
        one.results["output"].actual.endswith("900,000 more characters left out of the record)")
        for one in record.reports
    )


def test_a_huge_detail_keeps_its_shape(tmp_path: Path) -> None:
    detail = {"verdict": "valid", "options": [{"said": "x" * 20_000_000}, {"said": "short"}]}
    record = _run(tmp_path, [], detail=detail, reason="r" * 5_000)
    said = record.detail
    assert (said["verdict"], said["options"][1]) == ("valid", {"said": "short"})
    assert "left out" in said["options"][0]["said"]
    assert record.reason == "r" * 5_000


def test_more_results_than_a_record_can_have_leave_the_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shortening_module, "MOST_PARTS", 5_000)
    results = {
        str(number): AttributeResult(attribute=str(number), actual=1, expected=2, is_correct=False)
        for number in range(1_000)
    }
    report = VerifierReport(
        id="a", group="g", type="Core", duration=0.5, results=results, case={"id": "a"}
    )
    record = _run(tmp_path, [report], reason="all wrong", detail={"verdict": "wrong"})
    assert (record.outcome, record.reports) == (Outcome.FAILED, [])
    assert record.reason == "all wrong; 1 reports left out of the record"


_values = st.recursive(
    st.none() | st.integers() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.lists(_values, min_size=1, max_size=5), st.integers(min_value=0, max_value=3_000))
def test_a_record_that_does_not_fit_differs_in_its_evidence_only(
    several: list[Any], room: int
) -> None:
    packed = CaseRecord(
        id="a",
        subject="test",
        outcome=Outcome.FAILED,
        reports=[_report(value, is_correct=False) for value in several],
    ).pack()
    short = shorten_record(packed, lambda record: len(repr(record)) <= room)
    kept = ("id", "subject", "outcome", "code", "fingerprint", "usage", "started", "score")
    assert [short[name] for name in kept] == [packed[name] for name in kept]
    assert len(short["reports"]) in (0, len(several))
    for report in short["reports"]:
        assert report["outcome"] == "failed"
        assert report["results"]["output"]["is_correct"] is False


def test_a_usual_record_is_not_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = CaseRecord(id="a", subject="test", outcome=Outcome.PASSED, reason="r" * 100).pack()
    assert not is_too_large(packed)
    monkeypatch.setattr(shortening_module, "MOST_TEXT", 99)
    assert is_too_large(packed)
