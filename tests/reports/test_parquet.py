"""The parquet report, and the reports read back from it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from assay.errors import InputError
from assay.model import AttributeResult, GroupType, VerifierReport
from assay.reports import parquet as parquet_report
from assay.reports import read_reports, render_report, write_report
from assay.runs import Run

if TYPE_CHECKING:
    from tests.reports.conftest import Make

any_text = st.text(st.characters(exclude_categories=()), max_size=20)
tricky = st.sampled_from(
    ["42", "null", "true", "1e5", "", "é\u202e", "\ud800", "\x00", "$bytes", '{"$bytes": "eA=="}']
)
any_value = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**40, -(10**40), 2**63])
    | st.floats()
    | any_text
    | tricky
    | st.binary(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(any_text | tricky, inner, max_size=3)
    ),
    max_leaves=6,
)
any_result = st.builds(
    AttributeResult,
    attribute=any_text | tricky,
    actual=any_value,
    expected=any_value,
    diff=any_value,
    is_correct=st.sampled_from([None, True, False]),
    weight=st.floats(min_value=0, allow_infinity=False),
)
optional_text = st.none() | any_text | tricky


@st.composite
def any_report(draw: st.DrawFn) -> VerifierReport:
    results = draw(st.lists(any_result, max_size=4))
    return VerifierReport(
        id=draw(any_text),
        group=draw(any_text | tricky),
        type=draw(st.sampled_from(GroupType)),
        duration=draw(st.floats(allow_nan=False, allow_infinity=False)),
        results={result.attribute: result for result in results},
        case=draw(st.dictionaries(any_text | tricky, any_value, max_size=3)),
        original_checkpoint=draw(optional_text),
        original_group=draw(optional_text),
        error=draw(optional_text),
    )


def same(left: Any, right: Any) -> bool:
    """Equal in value and in type, where NaN equals NaN and 1 equals neither 1.0 nor True."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return repr(left) == repr(right)
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def written(run: Run, path: Path) -> Path:
    write_report(run, "parquet", path)
    return path


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.lists(any_report(), max_size=2), max_size=3))
def test_nothing_is_lost_on_the_way_through_a_run_and_a_file(
    make: Make, tmp_path: Path, samples: list[list[VerifierReport]]
) -> None:
    name = f"run-{len(list(tmp_path.rglob('run.json')))}"
    records = [make.record(f"{n}", reports=reports) for n, reports in enumerate(samples)]
    back = list(read_reports(written(make.run(records, name=name), tmp_path / "report.parquet")))
    given_reports = [report for reports in samples for report in reports]
    assert len(back) == len(given_reports)
    for left, right in zip(back, given_reports, strict=True):
        assert left.timestamp == right.timestamp
        assert same(left.pack(), right.pack())


@pytest.mark.parametrize(
    "value",
    [
        *("42", "null", "true", "1e5", "", " ", "é🎉", "\ud800", "\x00", '"', "\\"),
        *(None, True, False, 0, 1, -1, 10**40, 0.0, -0.0, 1.0, 1e5, 5e-324, 1.7e308),
        *(math.nan, math.inf, -math.inf, b"", b"\x00\xff", b"42"),
        *([], {}, [[]], [None], {"": {}}, {"a": [1, "1", 1.0, True, b"1"]}, [math.nan]),
        *({"$bytes": "eA=="}, {"$float": "nan"}, {"$object": {}}, {"$bytes": b""}),
    ],
    ids=repr,
)
def test_every_kind_of_value_comes_back_as_it_was(make: Make, tmp_path: Path, value: Any) -> None:
    results = [
        make.result("checked", False, value, value, diff=value),
        AttributeResult.of("unchecked", value, value, None),
    ]
    report = make.report(*results, case={"value": value})
    run = make.run([make.record("x", "failed", reports=[report])])
    (back,) = read_reports(written(run, tmp_path / "report.parquet"))
    assert same(back.pack(), report.pack() | {"timestamp": back.pack()["timestamp"]})


def test_a_large_value_is_kept_whole(make: Make, tmp_path: Path) -> None:
    large = 'é"\\' * (1 << 20)
    report = make.report(make.result("output", False, large, large.encode()))
    run = make.run([make.record("large", "failed", reports=[report])])
    (back,) = read_reports(written(run, tmp_path / "report.parquet"))
    assert back == report


def test_there_is_one_row_per_report_with_what_its_record_says(make: Make, tmp_path: Path) -> None:
    good, bad = make.record("x").reports[0], make.record("x", "failed").reports[0]
    records = [
        make.record("two", "failed", reports=[good, bad]),
        make.record("none", "error", reports=[]),
        make.record("one"),
    ]
    rows = parquet.read_table(written(make.run(records), tmp_path / "r.parquet")).to_pylist()
    seen = [
        (r["record_id"], r["sample"], r["record_outcome"], r["outcome"], r["score"], r["passed"])
        for r in rows
    ]
    assert seen == [
        ("two", 1, "failed", "passed", 1.0, True),
        ("two", 2, "failed", "failed", 0.0, False),
        ("one", 1, "passed", "passed", 1.0, True),
    ]
    assert {row["subject"] for row in rows} == {"tests"}
    assert rows[0]["record_reason"] == "because failed"


def test_the_columns_are_those_of_a_report_and_of_its_record(make: Make, tmp_path: Path) -> None:
    report = make.record("x", "failed").reports[0]
    run = make.run([make.record("x", "failed")])
    (row,) = parquet.read_table(written(run, tmp_path / "r.parquet")).to_pylist()
    expected = report.to_parquet_row()
    assert {name: row[name] for name in expected} == expected | {"timestamp": row["timestamp"]}
    assert set(row) - set(expected) == {
        "record_id",
        "subject",
        "record_outcome",
        "record_reason",
        "sample",
        "originals",
    }


def test_a_file_of_a_version_with_fewer_columns_is_read(make: Make, tmp_path: Path) -> None:
    path = written(make.run([make.record("x", "failed")]), tmp_path / "r.parquet")
    before = list(read_reports(path))
    about_records = [column.name for column in parquet_report.COLUMNS if column.source == "record"]
    parquet.write_table(parquet.read_table(path).drop(about_records), path)
    assert list(read_reports(path)) == before


def test_other_readers_find_text_they_can_show(make: Make, tmp_path: Path) -> None:
    inherited = AttributeResult.of("group", "g\udfff", "g\udfff", None)
    report = make.report(make.result("files-\ud800", True), inherited, group="g\udfff", error=None)
    run = make.run([make.record("x", reports=[report]), make.record("y")])
    path = written(run, tmp_path / "r.parquet")
    first, second = parquet.read_table(path).to_pylist()
    assert first["group"] == "g\ufffd"
    assert first["results"][0]["attribute"] == "files-\ufffd"
    assert second["originals"] is None
    backs = list(read_reports(path))
    assert [back.group for back in backs] == ["g\udfff", "group"]
    assert backs[0].results["group"] == inherited


def test_rows_leave_in_groups(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_report, "GROUP_ROWS", 10)
    run = make.run(make.record(f"{n}") for n in range(35))
    file = parquet.ParquetFile(written(run, tmp_path / "r.parquet"))
    assert [file.metadata.row_group(n).num_rows for n in range(4)] == [10, 10, 10, 5]
    file.close()
    pieces = [len(piece) for piece in render_report(run, "parquet")]
    assert len(pieces) == 5
    assert all(pieces)


def test_large_rows_leave_in_smaller_groups(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_report, "GROUP_BYTES", 1)
    records = [make.record(f"{n}") for n in range(3)]
    run = make.run([make.record("without reports", "error", reports=[]), *records])
    file = parquet.ParquetFile(written(run, tmp_path / "r.parquet"))
    assert file.num_row_groups == 3
    file.close()


def test_a_run_without_cases_is_a_file_without_rows(make: Make, tmp_path: Path) -> None:
    assert list(read_reports(written(make.run([]), tmp_path / "r.parquet"))) == []


def test_a_file_that_is_none_of_ours_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read as parquet"):
        list(read_reports(tmp_path / "missing"))
    (tmp_path / "text").write_text("not parquet")
    with pytest.raises(InputError, match="cannot be read as parquet"):
        list(read_reports(tmp_path / "text"))
    parquet.write_table(pa.table({"id": ["a"]}), tmp_path / "other")
    with pytest.raises(InputError, match="is not a report of Assay"):
        list(read_reports(tmp_path / "other"))
