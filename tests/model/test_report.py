"""Scores, outcomes and which attributes a report has."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import pytest
from deepdiff import DeepDiff
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from assay.errors import InputError
from assay.model import (
    AttributeResult,
    Case,
    CaseRecord,
    CaseResult,
    GroupType,
    Outcome,
    VerificationResult,
    VerifierProtocol,
    VerifierReport,
    check_results,
    is_plain,
    pack_report,
    values,
)
from tests.conftest import values_and_bytes

CASE = Case(id="one", group="core", group_type=GroupType.CORE)

weights = st.floats(min_value=0, exclude_min=True, allow_infinity=False)
judgements = st.none() | st.booleans()


def report_of(*found: tuple[bool | None, float], error: str | None = None) -> VerifierReport:
    results = {
        f"check_{number}": AttributeResult(
            attribute=f"check_{number}", actual=1, expected=1, is_correct=correct, weight=weight
        )
        for number, (correct, weight) in enumerate(found)
    }
    return VerifierReport(
        id="one", group="core", type=GroupType.CORE, duration=0.5, results=results, error=error
    )


def test_the_score_of_the_specification() -> None:
    report = report_of((True, 1.0), (True, 0.5), (False, 0.3))
    assert report.calculate_score() == pytest.approx(0.833, abs=0.0005)
    assert report.outcome is Outcome.FAILED
    assert report.format_result() == {"check_0": "P", "check_1": "P", "check_2": "F"}


def test_a_light_right_check_beside_a_heavy_wrong_one() -> None:
    assert report_of((False, 0.8), (True, 0.2)).calculate_score() == pytest.approx(0.2)


@given(st.lists(st.tuples(judgements, weights)))
@example([(True, 1.7e308), (False, 1.7e308), (True, 1.7e308)])
@example([(True, 5e-324), (False, 5e-324)])
def test_score_and_outcome_agree(found: list[tuple[bool | None, float]]) -> None:
    report = report_of(*found)
    judged = [correct for correct, _ in found if correct is not None]
    assert 0.0 <= report.calculate_score() <= 1.0
    if not judged:
        assert report.outcome is Outcome.UNVERIFIED
        assert report.calculate_score() == 0.0
    if judged and all(judged):
        assert report.calculate_score() == 1.0
    assert (report.outcome is Outcome.FAILED) == (False in judged)
    assert report.did_pass() == (bool(judged) and all(judged) and None not in dict(found))
    assert [r.is_correct for r in report.get_verified_attributes()] == judged


def test_an_error_is_neither_passed_nor_failed() -> None:
    report = report_of((True, 1.0), error="the disk is full")
    assert report.outcome is Outcome.ERROR
    assert not report.did_pass()


def test_a_check_that_could_not_decide_leaves_the_report_open() -> None:
    assert report_of((True, 1.0), (None, 1.0)).outcome is Outcome.UNVERIFIED
    assert report_of((True, 1.0), (None, 0.0)).outcome is Outcome.PASSED
    assert report_of((False, 1.0), (None, 1.0)).outcome is Outcome.FAILED


@pytest.mark.parametrize("weight", [math.inf, math.nan, -1.0, 0.0])
def test_weights_of_results_are_finite_and_positive(weight: float) -> None:
    with pytest.raises(ValidationError):
        VerificationResult.create("", True, weight)


@pytest.mark.parametrize("weight", [math.inf, math.nan, -1.0])
def test_weights_of_attributes_are_finite(weight: float) -> None:
    with pytest.raises(ValidationError):
        AttributeResult(attribute="a", actual=1, expected=1, weight=weight)


def test_every_field_file_and_key_is_kept_in_a_stable_order() -> None:
    actual = CASE.result(output="x", files={"b.txt": "1", "a.bin": b"\x00"}, tokens=7)
    expected = CASE.result(output="y", files={"c.txt": "3"}, tolerance=0.1)
    raw = {
        "json_parse": VerificationResult.create("no", False, 2.0),
        "output": VerificationResult.create("differs", False),
        "files-a.bin": VerificationResult.create("same", True),
        "files-never.txt": VerificationResult.create("missing", False),
    }
    report = VerifierReport.from_verifier_result(CASE, 0.1, actual, expected, raw)
    fields = [name for name in CaseResult.model_fields if name != "files"]
    assert list(report.results) == [
        *fields, "tokens", "files-a.bin", "files-b.txt", "tolerance", "files-c.txt",
        "json_parse", "files-never.txt",
    ]  # fmt: skip
    assert report.results["json_parse"].weight == 2.0
    assert report.results["json_parse"].is_correct is False
    assert report.results["files-a.bin"].actual == b"\x00"
    unmentioned = report.results["files-b.txt"]
    assert (unmentioned.is_correct, unmentioned.weight, unmentioned.actual) == (None, 0.0, "1")
    assert report.results["tolerance"].expected == 0.1
    assert report.type == "Core"
    again = VerifierReport.from_verifier_result(CASE, 0.1, actual, expected, raw)
    assert list(again.results) == list(report.results)


def test_expected_files_may_be_a_list_of_specifications() -> None:
    expected = CASE.result(files=[{"path": "a.txt", "content": "x"}, {"path": "b.txt"}])
    report = VerifierReport.from_verifier_result(CASE, 0.1, CASE.result(), expected, {})
    assert report.results["files-a.txt"].expected == {"path": "a.txt", "content": "x"}
    assert report.outcome is Outcome.UNVERIFIED


def test_the_short_form_is_the_same_however_it_is_made() -> None:
    actual = CASE.result(output=[1], files={"a": b""}, elapsed=0.5)
    raw = {
        "output": VerificationResult.create("x", False, 2.0),
        "more": VerificationResult.create("", None),
    }
    packed = pack_report(CASE, 0.1, actual, CASE.result(output=2), raw)
    assert VerifierReport.unpack(packed).pack() == packed
    assert list(VerifierReport.unpack(packed).pack()) == list(packed)


def test_results_built_from_validated_parts_equal_validated_ones() -> None:
    report = VerifierReport.from_verifier_result(
        CASE, 0.1, CASE.result(output=1), CASE.result(output=1),
        {"output": VerificationResult.create("equal", True)},
    )  # fmt: skip
    assert VerifierReport.model_validate(report.model_dump()) == report
    assert report.model_copy(deep=True) == report


values_by_name = st.dictionaries(st.text(), values_and_bytes, max_size=3)


@given(st.lists(values_and_bytes, min_size=3, max_size=3), values_by_name, judgements, weights)
def test_round_trips_of_a_report(
    three: list[Any], case: dict[str, Any], correct: bool | None, weight: float
) -> None:
    result = AttributeResult(
        attribute="output", actual=three[0], expected=three[1], diff=three[2],
        is_correct=correct, weight=weight,
    )  # fmt: skip
    unchecked = AttributeResult.of("stderr", three[0], three[1], None)
    report = VerifierReport(
        id="ü", group="g", type=GroupType.ERROR, duration=0.25, case=case,
        results={"output": result, "stderr": unchecked},
        timestamp=datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC), original_group="o", error="e",
    )  # fmt: skip
    record = CaseRecord(
        id="ü", subject="s", outcome=Outcome.ERROR, reports=[report], detail=three[0]
    )
    line = values.encode_value(
        record.pack(), is_plain=is_plain(report.pack()) and record.detail is None
    )
    again = CaseRecord.unpack(values.decode_value(line.encode()))
    assert again == record
    assert exactly(again.reports[0]) == exactly(report)
    from_row = VerifierReport.from_parquet_row(report.to_parquet_row())
    assert from_row == report
    assert exactly(from_row) == exactly(report)


def exactly(report: VerifierReport) -> str:
    """Text that tells apart what is equal and not the same, such as 1, 1.0 and True."""
    return values.encode_value({**report.model_dump(), "timestamp": report.timestamp.isoformat()})


def test_create_takes_a_deepdiff() -> None:
    result = VerificationResult.create(DeepDiff({"a": 1}, {"a": 2}), False, 0.5)
    assert result.diff == {"values_changed": {"root['a']": {"new_value": 2, "old_value": 1}}}
    assert result.weight == 0.5


def test_execution_time_is_elapsed() -> None:
    assert CASE.result(execution_time=1.5).elapsed == 1.5
    assert CASE.result(elapsed=2.5).execution_time == 2.5


@pytest.mark.parametrize(
    "raw", [None, [], {"output": True}, {1: VerificationResult.create("", True)}]
)
def test_what_is_no_result_of_a_verifier_is_refused(raw: Any) -> None:
    with pytest.raises(InputError, match="the verifier returned"):
        check_results(raw)


def test_a_class_of_the_specification_is_a_verifier() -> None:
    class Verifier:
        def __init__(self, checkpoint_config: Any) -> None:
            self.config = checkpoint_config

        def __call__(
            self, group_name: str, case_name: str, actual: CaseResult, expected: CaseResult
        ) -> dict[str, VerificationResult]:
            return {}

    assert isinstance(Verifier({}), VerifierProtocol)


@pytest.mark.parametrize("identifier", ["", "\ud800"])
def test_ids_are_text_that_can_be_stored(identifier: str) -> None:
    with pytest.raises(ValidationError):
        Case(id=identifier)


@pytest.mark.parametrize(
    "fields",
    [{}, {"output": 1}, {"output": "a", "stderr": b"x"}, {"output": {"a": [1.5]}}, {"elapsed": 1}],
)
def test_a_result_of_a_case_is_the_one_pydantic_makes(fields: dict[str, Any]) -> None:
    case = Case(id="x", group="g", group_type=GroupType.CORE, text="y")
    made = case.result(**fields)
    validated = CaseResult(id="x", group="g", group_type=GroupType.CORE, **fields)
    assert made == validated
    assert list(made.attributes()) == list(validated.attributes())
    assert made.model_fields_set == validated.model_fields_set
    assert made.files is not case.result(**fields).files


def test_a_result_of_a_case_is_validated() -> None:
    with pytest.raises(ValidationError, match=r"output\n.*neither JSON nor bytes"):
        Case(id="x").result(output=object())


def test_what_results_have_from_their_case_is_written_once() -> None:
    case = Case(id="x", group="g", group_type=GroupType.CORE)
    packed = pack_report(case, 0.1, case.result(), case.result(), {})
    assert [packed["results"][name] for name in ("id", "group", "group_type")] == [None] * 3
    report = VerifierReport.unpack(packed)
    assert [report.results[name].actual for name in ("id", "group", "group_type")] == [
        *("x", "g", "Core")
    ]
    assert report.pack() == packed


def test_a_result_that_is_not_of_its_case_is_written_as_it_is() -> None:
    case = Case(id="x", group="g", group_type=GroupType.CORE)
    other = CaseResult(id="y", group="g")
    packed = pack_report(case, 0.1, other, case.result(), {})
    assert packed["results"]["id"] == ["y", "x"]
    assert packed["results"]["group"] is None
    assert packed["results"]["group_type"] == ["Functionality", "Core"]
    assert VerifierReport.unpack(packed).pack() == packed


def test_a_result_made_without_validation_need_not_be_whole() -> None:
    case = Case(id="x")
    fields: dict[str, Any] = {"output": "a"}
    packed = pack_report(case, 0.1, CaseResult.model_construct(**fields), case.result(), {})
    assert packed["results"]["id"] == [None, "x"]
    assert packed["results"]["output"] == ["a", None]


def test_the_default_of_a_kind_of_result_is_told_as_what_it_is() -> None:
    class Kind(CaseResult):
        type: str = "kind"

    case = Case(id="a")
    result = Kind(id="a", group="cases")
    report = VerifierReport.from_verifier_result(case, 0.0, result, result, {})
    assert (report.results["type"].actual, report.results["type"].expected) == ("kind", "kind")
