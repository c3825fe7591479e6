"""Two runs compared: case by case, as rates, by finding, by samples and in time."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.errors import InputError
from assay.model import Interval, PairedTable, Share
from assay.runs import (
    ChangeKind,
    FailOn,
    Run,
    RunComparison,
    Unit,
    compare_runs,
    list_changes,
)
from assay.runs import compare as module
from assay.runs.writer import RunWriter
from tests.runs.making import make_record, write_run

Kind = ChangeKind


def compare(
    tmp_path: Path, before: dict[str, str], after: dict[str, str], **manifest: Any
) -> RunComparison:
    first = write_run(tmp_path / "before", before, **manifest)
    second = write_run(tmp_path / "after", after, **manifest)
    return assay.compare_runs(first, str(second))


def listed(comparison: RunComparison, kind: ChangeKind) -> list[str]:
    assert comparison.counts[kind] == len(comparison.changes[kind])
    return [change.id for change in comparison.changes[kind]]


def test_every_case_is_of_one_kind(tmp_path: Path) -> None:
    before = {
        "same": "P", "broke": "P", "mended": "F", "gone": "P", "outage": "F", "back": "E",
        "open": "U", "closed": "U", "still out": "E",
    }  # fmt: skip
    after = {
        "same": "P", "broke": "F", "mended": "P", "new": "P", "outage": "E", "back": "F",
        "open": "F", "new and bad": "F", "new and out": "E", "closed": "P", "still out": "E",
    }  # fmt: skip
    comparison = compare(tmp_path, before, after)
    assert listed(comparison, Kind.NEWLY_FAILING) == ["broke", "back", "open", "new and bad"]
    assert listed(comparison, Kind.NEWLY_ERRORED) == ["outage", "new and out"]
    assert listed(comparison, Kind.NEWLY_PASSING) == ["mended", "closed"]
    assert listed(comparison, Kind.ADDED) == ["new"]
    assert listed(comparison, Kind.REMOVED) == ["gone"]
    assert comparison.unchanged == 2
    assert sum(comparison.counts.values()) == 12
    assert comparison.exit_code() == 1
    with Run(tmp_path / "before") as first, Run(tmp_path / "after") as second:
        changes = list(list_changes(first, second))
    assert [change.id for change in changes if change.kind is Kind.NEWLY_FAILING] == listed(
        comparison, Kind.NEWLY_FAILING
    )
    assert len(changes) == 12 - comparison.unchanged


def test_the_rates_are_about_the_cases_that_both_runs_judged(tmp_path: Path) -> None:
    before = {"a": "P", "b": "P", "c": "P", "d": "F", "e": "E", "f": "U", "g": "P"}
    after = {"a": "P", "b": "F", "c": "E", "d": "P", "e": "F", "f": "P", "h": "F"}
    comparison = compare(tmp_path, before, after, unverified_fails=False)
    assert comparison.table == PairedTable(both=1, lost=1, gained=1, neither=0)
    assert (comparison.errors, comparison.undecided) == (2, 1)
    assert comparison.table.before == Share(2, 3)
    assert comparison.chance == 1.0
    assert comparison.difference.value == 0.0


def test_unverified_counts_as_failed_where_it_fails_the_run(tmp_path: Path) -> None:
    comparison = compare(tmp_path, {"a": "U", "b": "P"}, {"a": "P", "b": "U"})
    assert comparison.table == PairedTable(both=0, lost=1, gained=1, neither=0)
    assert listed(comparison, Kind.NEWLY_FAILING) == ["b"]


def test_an_error_is_never_a_regression(tmp_path: Path) -> None:
    before = {f"{number}": "P" for number in range(30)}
    comparison = compare(tmp_path, before, dict.fromkeys(before, "E"))
    assert comparison.table == PairedTable()
    assert not comparison.is_worse
    assert comparison.difference == (None, Interval(-1, 1))
    modes: tuple[FailOn, ...] = ("regression", "significant", "none")
    assert [comparison.exit_code(mode) for mode in modes] == [3, 3, 0]
    again = assay.compare_runs(tmp_path / "after", tmp_path / "after")
    # Nothing changed, and nothing was compared either.
    assert (again.counts[Kind.NEWLY_ERRORED], again.exit_code()) == (0, 3)


def test_one_case_may_fail_by_chance_and_many_do_not(tmp_path: Path) -> None:
    before = {f"{number}": "P" for number in range(30)}
    one = compare(tmp_path / "one", before, before | {"3": "F"})
    assert (one.exit_code(), one.exit_code("significant"), one.chance) == (1, 0, 1.0)
    six = compare(tmp_path / "six", before, before | {f"{number}": "F" for number in range(6)})
    assert six.exit_code("significant") == 1
    assert six.chance == pytest.approx(2 / 2**6)
    # Better by as much is no regression.
    better = assay.compare_runs(tmp_path / "six" / "after", tmp_path / "six" / "before")
    assert (better.exit_code("significant"), better.exit_code()) == (0, 0)


def test_an_unfinished_run_is_not_compared_as_if_it_were_whole(tmp_path: Path) -> None:
    first = write_run(tmp_path / "first", {"a": "P", "b": "P"})
    second = write_run(tmp_path / "second", {"a": "P"}, is_finished=False)
    comparison = assay.compare_runs(first, second)
    assert (comparison.is_complete, comparison.exit_code()) == (False, 3)
    assert listed(comparison, Kind.REMOVED) == ["b"]


def test_runs_of_other_subjects_or_of_other_cases_are_refused(tmp_path: Path) -> None:
    first = write_run(tmp_path / "first", {"a": "P"})
    other = write_run(tmp_path / "other", {"a": "P"}, subject="questions")
    elsewhere = write_run(tmp_path / "elsewhere", {"b": "P"})
    with pytest.raises(InputError, match=r"first is a run of test and .*other is one of"):
        assay.compare_runs(first, other)
    with pytest.raises(InputError, match="no case in common"):
        assay.compare_runs(first, elsewhere)


def test_findings_that_turn_are_counted_by_their_codes(tmp_path: Path) -> None:
    def write(name: str, *codes: str) -> Path:
        ending = {"valid": "P", "unproven": "U"}
        records = [
            make_record(f"q{place}", ending.get(code, "F"), "questions", code=code)
            for place, code in enumerate(codes)
        ]
        return write_run(tmp_path / name, records, subject="questions", unverified_fails=False)

    first = write("first", "valid", "valid", "valid", "incorrect", "unproven", "valid")
    second = write("second", "incorrect", "incorrect", "unproven", "ambiguous", "valid", "valid")
    comparison = compare_runs(Run(first), Run(second))
    assert comparison.flips == [
        ("Valid", "Incorrect", 2), ("Valid", "Unproven", 1), ("Incorrect", "Ambiguous", 1),
        ("Unproven", "Valid", 1),
    ]  # fmt: skip
    # No failure, and not the same either.
    assert listed(comparison, Kind.FINDING_CHANGED) == ["q2", "q3"]
    assert comparison.undecided == 2


def test_tests_with_samples_are_compared_by_their_rates(tmp_path: Path) -> None:
    before = {"worse": "P:" + 10 * "P", "same": "P:PPPF", "once": "P"}
    after = {"worse": "P:" + 8 * "F" + "PP", "same": "P:PPFP", "once": "P"}
    comparison = compare(tmp_path, before, after)
    worse, same = comparison.tests
    assert (worse.id, worse.before, worse.after) == ("worse", Share(10, 10), Share(2, 10))
    assert worse.chance == pytest.approx(0.000714456, rel=1e-3)
    assert worse.adjusted == pytest.approx(2 * worse.chance)
    assert worse.is_worse
    assert (same.chance, same.is_worse, comparison.tested) == (1.0, False, 2)
    assert [counts.share for counts in comparison.samples] == [Share(14, 15), Share(6, 15)]
    # All of them pass, so no case regresses; the rate of one does.
    assert (comparison.exit_code(), comparison.exit_code("significant")) == (0, 1)


def test_one_of_many_tests_may_fall_by_chance(tmp_path: Path) -> None:
    many = {f"{number}": "P:PPPPPP" for number in range(40)}
    comparison = compare(tmp_path, many, many | {"7": "P:PFFFFF"})
    assert comparison.tests[0].id == "7"
    assert comparison.tests[0].chance < 0.05 < comparison.tests[0].adjusted
    assert comparison.exit_code("significant") == 0


def test_samples_that_say_nothing_or_stopped_early_make_no_rate(tmp_path: Path) -> None:
    first = write_run(tmp_path / "first", {"out": "P:PEE", "all out": "E:EE", "early": "P:PP"})
    early = make_record("early", "F:FF", detail={"decided early": True})
    records = [make_record("out", "F:FFE"), make_record("all out", "E:EE"), early]
    comparison = assay.compare_runs(first, write_run(tmp_path / "second", records))
    assert [(test.id, test.before, test.after) for test in comparison.tests] == [
        ("out", Share(1, 1), Share(0, 2))
    ]
    assert (comparison.tested, comparison.early) == (1, 1)


def test_time_is_compared_case_by_case(tmp_path: Path) -> None:
    def write(name: str, **seconds: float) -> Path:
        records = [make_record(case, "P", duration=taken) for case, taken in seconds.items()]
        return write_run(tmp_path / name, records)

    first = write("first", a=1.0, b=4.0, c=1.0, d=0.0, gone=100.0)
    second = write("second", a=2.0, b=2.0, c=8.0, d=0.01)
    times = assay.compare_runs(first, second).durations
    assert (times.cases, times.before, times.after) == (4, 6.0, 12.01)
    assert times.ratio == pytest.approx(2.0)
    assert [change.id for change in times.slower] == ["c", "a"]
    assert [change.id for change in times.faster] == ["b"]


def test_what_a_comparison_holds_does_not_grow_with_the_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LISTED", 10)
    peaks = {}
    for size in (300, 3_000):
        folder = tmp_path / str(size)
        cases = [f"{number}" for number in range(size)]
        before = write_run(
            folder / "before", [make_record(name, "P:PP", code=f"code {name}") for name in cases]
        )
        after = write_run(
            folder / "after", [make_record(name, "F:FF", code=f"other {name}") for name in cases]
        )
        with Run(before) as first, Run(after) as second:
            tracemalloc.start()
            comparison = compare_runs(first, second)
            peaks[size] = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert comparison.counts[Kind.NEWLY_FAILING] == comparison.tested == size
        assert len(comparison.changes[Kind.NEWLY_FAILING]) == len(comparison.tests) == 10
        assert (len(comparison.flips), comparison.other_flips) == (10, size - 10)
    assert peaks[3_000] < 2 * peaks[300]


def test_a_case_that_ran_again_after_an_error_says_how_often(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", {"flaky": "E", "fine": "P"})
    for ending in "EP":
        with RunWriter(path) as writer:
            for place, name in enumerate(("flaky", "fine")):
                unit = Unit(name, place, "f", None)
                if writer.wants(unit):
                    writer.add(unit, make_record(name, ending))
            writer.finish()
    for _ in ("read from the index", "counted again from the journal"):
        with Run(path) as run:
            assert [row.tries for row in run.rows()] == [3, 1]
        (path / "index.sqlite").unlink(missing_ok=True)
