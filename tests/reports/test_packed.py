"""The short form of the journal, told without models, says the same as the models."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assay.model import AttributeResult, CaseRecord, GroupType, Outcome, VerifierReport, values
from assay.reports import full_record

any_text = st.text(st.characters(exclude_categories=()))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False)
    | any_text
    | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(any_text | st.sampled_from(["$bytes", "$float", "$object"]), inner)
    ),
    max_leaves=8,
)
results = st.builds(
    AttributeResult,
    attribute=any_text,
    actual=json_values,
    expected=json_values,
    diff=json_values,
    is_correct=st.sampled_from([None, True, False]),
    weight=st.sampled_from([0.0, 1e-300, 0.1, 1.0, 3.0, 1e308]),
) | st.builds(AttributeResult.of, any_text, json_values, json_values, st.none())


def _report(
    found: list[AttributeResult], error: str | None, case: dict[str, Any]
) -> VerifierReport:
    return VerifierReport(
        id="id",
        group="group",
        type=GroupType.ERROR,
        duration=1.5,
        results={result.attribute: result for result in found},
        case=case,
        error=error,
    )


reports = st.builds(
    _report,
    st.lists(results, max_size=5),
    st.none() | any_text,
    st.dictionaries(any_text, json_values, max_size=2),
)


@given(reports)
def test_outcome_and_score_are_those_of_the_report(report: VerifierReport) -> None:
    packed = report.pack()
    assert (packed["outcome"], packed["score"]) == (report.outcome.value, report.calculate_score())


def test_what_was_not_looked_at_leaves_nothing_open() -> None:
    noted = AttributeResult(attribute="note", actual=1, expected=1, diff="a note", weight=0.0)
    right = AttributeResult(attribute="right", actual=1, expected=1, is_correct=True)
    report = _report([noted, right], None, {})
    assert report.outcome is Outcome.PASSED
    assert (report.pack()["outcome"], report.pack()["score"]) == ("passed", 1.0)


@given(st.lists(reports, max_size=2), json_values)
def test_the_full_form_loses_nothing(found: list[VerifierReport], detail: Any) -> None:
    record = CaseRecord(
        id="id", subject="tests", outcome=Outcome.FAILED, reports=found, detail=detail
    )
    full = json.loads(json.dumps(full_record(record.pack()), allow_nan=False))
    for report, original in zip(full["reports"], found, strict=True):
        assert report.pop("outcome") == original.outcome.value
        assert report.pop("score") == original.calculate_score()
        report["case"] = {name: values.from_json(value) for name, value in report["case"].items()}
        for result in report["results"].values():
            for name in ("actual", "expected", "diff"):
                result[name] = values.from_json(result[name])
    full["detail"] = values.from_json(full["detail"])
    assert full.pop("score") == record.calculate_score()
    assert CaseRecord.model_validate(full) == record


def test_the_full_form_is_the_json_of_the_model() -> None:
    unchecked = AttributeResult.of("$bytes", b"\x00", {"$bytes": float("-inf")}, None)
    report = _report([unchecked], None, {"$object": {"$float": "nan"}})
    record = CaseRecord(
        id="é", subject="tests", outcome=Outcome.UNVERIFIED, reports=[report], detail=[b""]
    )
    full = full_record(record.pack())
    del full["score"]
    for entry in full["reports"]:
        del entry["outcome"], entry["score"]
    assert CaseRecord.model_validate_json(json.dumps(full)) == record
