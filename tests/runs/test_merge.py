"""Shards of a plan become one run; what they share must agree."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.errors import InputError
from assay.model import CaseRecord
from assay.runs import Baseline, Run, merge_runs, read_manifest
from assay.runs.folder import write_manifest
from assay.runs.writer import RunWriter
from tests.runs.making import make_record, write_run

START = datetime(2026, 1, 1, tzinfo=UTC)


def write(path: Path, cases: dict[str, str] | list[CaseRecord], **more: Any) -> Path:
    return write_run(path, cases, **{"title": "suite.yaml", **more})


def outcomes(run: Run) -> dict[str, str]:
    return {row.id: row.outcome.value for row in run.rows()}


def test_shards_become_one_run_in_their_order(tmp_path: Path) -> None:
    paths = [
        write(tmp_path / "1", {"a": "P", "b": "F"}, started=START, is_partial=True),
        write(tmp_path / "2", {"c": "P"}, started=START - timedelta(days=1)),
        write(tmp_path / "3", {"d": "E"}, started=START, title="other.yaml"),
    ]
    for seconds, path in enumerate(paths, start=1):
        manifest = read_manifest(path)
        manifest.worked = 10.0 * seconds
        write_manifest(path, manifest)
    merged = merge_runs(paths, tmp_path / "merged")
    assert outcomes(merged.run) == {"a": "passed", "b": "failed", "c": "passed", "d": "error"}
    assert (merged.overlaps, merged.notes) == (0, [])
    manifest = merged.run.manifest
    assert manifest.merged_from == ["1", "2", "3"]
    assert manifest.title == "suite.yaml, other.yaml"
    assert manifest.started == START - timedelta(days=1)
    assert manifest.is_partial is False
    assert merged.run.summary.duration == 60.0
    assert merged.run.exit_code == 1
    for path in paths:
        with Run(path) as part:
            for row in part.rows():
                assert merged.run.record(row.id) == part.record(row.id)


def test_a_case_of_several_is_taken_once_and_a_judgement_beats_an_error(tmp_path: Path) -> None:
    first = write(tmp_path / "1", {"a": "P", "b": "E", "c": "F", "out": "E"})
    second = write(tmp_path / "2", {"d": "P", "a": "P", "b": "P", "out": "E"})
    third = write(tmp_path / "3", {"b": "P"})
    merged = merge_runs([first, second, third], tmp_path / "merged")
    assert outcomes(merged.run) == {
        "a": "passed", "c": "failed", "out": "error", "d": "passed", "b": "passed",
    }  # fmt: skip
    assert merged.overlaps == 4
    assert merged.notes == [
        "in several runs, taken once: a, b, out, b (2 ended in an error in one)"
    ]


def test_conflicts_are_named_and_nothing_is_merged(tmp_path: Path) -> None:
    first = write(tmp_path / "1", {f"{n}": "P" for n in range(30)})
    second = write(tmp_path / "2", {f"{n}": "F" for n in range(25)})
    with pytest.raises(InputError, match=r"same cases: 0 \(passed, failed\).* and 5 more") as said:
        merge_runs([first, second], tmp_path / "merged")
    assert "19 (passed, failed)" in str(said.value)
    assert not (tmp_path / "merged").exists()


def test_another_input_of_the_same_case_is_a_conflict(tmp_path: Path) -> None:
    first = write(tmp_path / "1", [make_record("a", "P")])
    second = write(tmp_path / "2", [make_record("a", "P", fingerprint="other")])
    with pytest.raises(InputError, match="different results for the same cases: a"):
        merge_runs([first, second])


ASKED = {
    "targets": ["httpx==0.28"], "jobs": 1, "cases": ["a"], "proofs": "/home/one/proofs",
    "sampling": {"jobs": 1, "retries": 2},
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"subject": "other"}, r"their subjects differ \('test', 'other'\)"),
        ({"unverified_fails": False}, "their rules for unverified cases differ"),
        ({"asked": {**ASKED, "targets": ["httpx==0.27"]}},
         r"their settings differ: targets \['httpx==0.28'\] and \['httpx==0.27'\]"),
        ({"asked": {**ASKED, "sampling": {"jobs": 1, "retries": 0}}}, "sampling"),
        ({"asked": {**ASKED, "isolation": "none"}}, "isolation None and 'none'"),
        ({"is_finished": False}, "2: is not finished"),
    ],
)  # fmt: skip
def test_runs_of_different_plans_are_refused(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    first = write(tmp_path / "1", {"a": "P"}, asked=ASKED)
    second = write(tmp_path / "2", {"b": "P"}, **{"asked": ASKED, **change})
    with pytest.raises(InputError, match=message):
        merge_runs([first, second], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


def test_shards_may_run_elsewhere_with_other_cases_and_speed(tmp_path: Path) -> None:
    other = {
        "targets": ["httpx==0.28"], "jobs": 8, "cases": ["b"], "proofs": "/mnt/two/proofs",
        "sampling": {"jobs": 9, "retries": 2},
    }  # fmt: skip
    first = write(tmp_path / "1", {"a": "P"}, asked=ASKED, versions={"assay": "1"})
    second = write(tmp_path / "2", {"b": "P"}, asked=other, versions={"assay": "2"})
    merged = merge_runs([first, second], tmp_path / "merged")
    assert merged.notes == ["made with different versions of assay: 1, 2"]


def test_a_merged_run_is_not_resumed(tmp_path: Path) -> None:
    paths = [write(tmp_path / "1", {"a": "P"}), write(tmp_path / "2", {"b": "E"})]
    merged = merge_runs(paths, tmp_path / "merged")
    with pytest.raises(InputError, match="was merged from other runs and cannot be resumed"):
        assay.evaluate([("a", "a")], str, check="exact", out=merged.run.path, resume=True)
    assert outcomes(Run(merged.run.path)) == {"a": "passed", "b": "error"}


def test_too_few_or_doubled_shards_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "1", {"a": "P"})
    with pytest.raises(InputError, match="there is nothing to merge"):
        merge_runs([path])
    (tmp_path / "again").symlink_to(path)
    with pytest.raises(InputError, match="is named twice"):
        merge_runs([path, tmp_path / "again"])


def test_a_shard_that_is_being_written_is_refused(tmp_path: Path) -> None:
    first, second = write(tmp_path / "1", {"a": "P"}), write(tmp_path / "2", {"b": "P"})
    with RunWriter(second), pytest.raises(InputError, match="2: is not finished"):
        merge_runs([first, second])


def test_baselines_must_be_the_same(tmp_path: Path) -> None:
    paths = [write(tmp_path / "1", {"a": "F"}), write(tmp_path / "2", {"b": "P"})]
    with Run(paths[0]) as run:
        known = Baseline.of(run.rows())
    known.write(paths[0] / "baseline.json")
    with pytest.raises(InputError, match="their baselines differ"):
        merge_runs(paths, tmp_path / "merged")
    known.write(paths[1] / "baseline.json")
    assert merge_runs(paths, tmp_path / "merged").run.passed
