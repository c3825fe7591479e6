"""What a run as a whole says."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model import Outcome
from assay.reports import exit_code, not_passed_rows, percent, summarize
from assay.runs import Baseline, Gate, Manifest, Run, create_folder, read_manifest
from assay.runs.folder import write_manifest

if TYPE_CHECKING:
    from tests.reports.conftest import Make


@pytest.mark.parametrize(
    ("outcomes", "code", "verdict"),
    [
        ([], 2, "Nothing was run: the run has no cases."),
        (["passed"], 0, "Passed: 1 of 1 case passed."),
        (["passed", "failed"], 1, "Failed: 1 of 2 cases passed (50.0%), 1 failed."),
        (["failed", "error"], 1, "Failed: 0 of 2 cases passed (0.0%), 1 failed, 1 error."),
        (["passed", "error", "error"], 3, "Error: 1 of 3 cases passed (33.3%), 2 errors."),
        (["unverified"], 1, "Failed: 0 of 1 case passed, 1 unverified."),
    ],
)
def test_the_exit_code_and_the_verdict(
    make: Make, outcomes: list[str], code: int, verdict: str
) -> None:
    run = make.run(make.record(f"{n}", outcome) for n, outcome in enumerate(outcomes))
    assert exit_code(run) == code
    assert summarize(run).verdict_line() == verdict


def test_unverified_fails_only_where_the_subject_says_so(make: Make) -> None:
    run = make.run([make.record("a", "unverified"), make.record("b")], unverified_fails=False)
    assert exit_code(run) == 0
    assert summarize(run).verdict_line() == (
        "Nothing found wrong: 1 of 2 cases passed (50.0%), 1 unverified."
    )


def test_what_the_baseline_accepts_does_not_fail(make: Make) -> None:
    records = [make.record("a"), make.record("b", "failed"), make.record("c", "unverified")]
    accepted = Baseline.of(make.run(records, name="first").rows(Outcome.FAILED, Outcome.UNVERIFIED))
    gone = accepted.accepted[0].model_copy(update={"case": "gone"})
    baseline = Baseline(accepted=[*accepted.accepted, gone])
    summary = summarize(make.run(records, name="second", baseline=baseline))
    assert (summary.known, summary.failing, summary.exit_code) == (2, 0, 0)
    assert summary.outdated == [gone]
    assert summary.verdict_line().endswith("2 of them accepted by the baseline.")


def test_a_known_finding_hides_neither_a_new_one_nor_an_error(make: Make) -> None:
    known = make.record("known", "failed")
    baseline = Baseline.of(make.run([known], name="first").rows())
    new = make.run([known, make.record("new", "failed")], name="second", baseline=baseline)
    assert exit_code(new) == 1
    error = make.run([known, make.record("e", "error")], name="third", baseline=baseline)
    assert exit_code(error) == 3


def test_a_run_that_was_broken_off_has_not_passed(make: Make) -> None:
    run = make.run([make.record("a")], finished=False)
    summary = summarize(run)
    assert (summary.exit_code, summary.is_finished, summary.duration) == (3, False, None)
    assert summary.verdict_line().endswith("the run is not finished.")


def test_errors_are_in_every_denominator(make: Make) -> None:
    outcomes = ["passed", "passed", "error", "failed"]
    summary = summarize(make.run(make.record(f"{n}", o) for n, o in enumerate(outcomes)))
    assert summary.pass_rate == 0.5
    assert summary.mean_score == 0.5
    assert (summary.total, summary.not_passed) == (4, 2)
    assert summary.counts[Outcome.ERROR] == 1


def test_what_did_not_pass_comes_worst_first_and_known_last(make: Make) -> None:
    known = make.record("known", "failed")
    baseline = Baseline.of(make.run([known], name="first").rows())
    records = [
        known,
        make.record("unverified", "unverified"),
        make.record("error", "error"),
        make.record("passed"),
        make.record("failed", "failed"),
    ]
    rows = not_passed_rows(make.run(records, baseline=baseline))
    assert [row.id for row in rows] == ["failed", "error", "unverified", "known"]


@given(st.integers(min_value=1, max_value=10**9), st.data())
def test_only_all_is_a_hundred_percent(total: int, data: st.DataObject) -> None:
    passed = data.draw(st.integers(min_value=0, max_value=total))
    shown = percent(passed / total)
    assert (shown == "100.0%") == (passed == total)
    assert abs(float(shown[:-1]) - 100 * passed / total) <= 0.1 + 1e-6


def test_percent_is_rounded_down() -> None:
    assert [percent(rate) for rate in (0.0, 0.29, 0.57, 0.9999, 1.0)] == [
        "0.0%",
        "29.0%",
        "57.0%",
        "99.9%",
        "100.0%",
    ]


@pytest.mark.parametrize(
    ("outcomes", "is_met", "code"),
    [
        (["passed", "failed"], True, 0),
        (["passed", "failed"], False, 1),
        (["passed", "error"], False, 3),
        (["failed", "error"], False, 1),
        (["passed"], False, 1),
        ([], True, 2),
    ],
)
def test_a_gate_decides_what_a_finished_run_is_worth(
    make: Make, outcomes: list[str], is_met: bool, code: int
) -> None:
    run = make.run(make.record(f"{n}", outcome) for n, outcome in enumerate(outcomes))
    run.manifest.gate = Gate(name="any-case", is_met=is_met, reason="1 of 2 passed")
    assert exit_code(run) == code
    if outcomes:
        told = summarize(run).verdict_line()
        assert f"any-case is {'met' if is_met else 'not met'}: 1 of 2 passed" in told


def test_a_gate_says_nothing_of_a_run_that_was_broken_off(make: Make) -> None:
    run = make.run([make.record("a")])
    run.manifest.gate = Gate(name="any-case", is_met=True, reason="")
    run.manifest.finished = None
    assert exit_code(run) == 3


@pytest.mark.parametrize(
    ("outcomes", "code", "verdict"),
    [
        (["passed", "mistake"], 2, "Mistake: 1 of 2"),
        (["passed", "mistake", "error"], 3, "Error: 1 of 3"),
        (["passed", "mistake", "error", "failed"], 1, "Failed: 1 of 4"),
        (["passed", "mistake", "failed"], 1, "Failed: 1 of 3"),
    ],
)
@pytest.mark.parametrize("has_gate", [True, False])
def test_mistakes_of_who_wrote_the_cases_are_exit_2_unless_something_else_failed(
    make: Make, outcomes: list[str], code: int, verdict: str, has_gate: bool
) -> None:
    records = [
        make.record(str(number), "error" if one == "mistake" else one, code=one)
        for number, one in enumerate(outcomes)
    ]
    summary = summarize(make.run(records))
    if has_gate:
        gate = Gate(name="all-core-cases", is_met=False, reason="1 did not pass")
        summary = dataclasses.replace(summary, gate=gate)
    assert (summary.exit_code, summary.mistakes) == (code, 1)
    assert summary.verdict_line().startswith(verdict)
    assert "1 of the errors are mistakes in the cases" in summary.verdict_line()


def test_a_clock_that_was_set_back_gives_no_negative_time(tmp_path: Path) -> None:
    folder = create_folder(tmp_path / "run", Manifest(subject="test"))
    manifest = read_manifest(folder)
    manifest.finished = manifest.started - timedelta(hours=1)
    write_manifest(folder, manifest)
    with Run(folder) as run:
        assert summarize(run).duration == 0
