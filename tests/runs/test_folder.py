"""Run folders: made, found, read while they grow."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import InfrastructureError, InputError
from assay.findings.baseline import BaselineEntry
from assay.model import AttributeResult, CaseRecord, GroupType, Outcome, VerifierReport
from assay.runs import (
    Baseline,
    Manifest,
    Run,
    Unit,
    create_folder,
    find_run,
    run_folders,
)
from assay.runs.writer import RunWriter


def report(correct: bool | None, weight: float = 1.0) -> VerifierReport:
    right = AttributeResult(attribute="a", actual=1, expected=1, is_correct=True)
    other = AttributeResult(attribute="b", actual=1, expected=2, is_correct=correct, weight=weight)
    return VerifierReport(
        id="x", group="g", type=GroupType.CORE, duration=0, results={"a": right, "b": other}
    )


def run_with(path: Path, *cases: tuple[str, Outcome, float]) -> Path:
    """A run of cases with these outcomes, each with a wrong attribute of this weight."""
    create_folder(path, Manifest(subject="test"))
    with RunWriter(path) as writer:
        for place, (name, outcome, weight) in enumerate(cases):
            unit = Unit(name, place, "f", None)
            assert writer.wants(unit)
            reports = [report(False, weight)]
            writer.add(
                unit,
                CaseRecord(
                    id=name, subject="test", outcome=outcome, code=outcome.value,
                    fingerprint="f", reports=reports,
                ),
            )  # fmt: skip
        writer.finish()
    return path


def test_a_run_of_its_own_is_ignored_by_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = create_folder(None, Manifest(subject="test"))
    assert path.parent == Path(".assay/runs")
    assert Path(".assay/.gitignore").read_text() == "*\n"
    assert find_run("latest") == path
    assert find_run(path.name[:10]) == path
    assert run_folders(Path(".assay/runs")) == [path]


def test_a_folder_that_holds_a_run_is_not_overwritten(tmp_path: Path) -> None:
    create_folder(tmp_path / "run", Manifest(subject="test"))
    with pytest.raises(InputError, match="already holds a run"):
        create_folder(tmp_path / "run", Manifest(subject="test"))


def test_a_place_that_cannot_hold_a_run_is_the_machines_fault(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InfrastructureError, match="no run can be kept there"):
        create_folder(tmp_path / "file" / "run", Manifest(subject="test"))


@pytest.mark.parametrize("name", ["latest", "nothing"])
def test_a_run_that_is_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="no run"):
        find_run(name, tmp_path / "none")


def test_a_name_that_means_two_runs(tmp_path: Path) -> None:
    for name in ("2026-a", "2026-b"):
        create_folder(tmp_path / name, Manifest(subject="test"))
    with pytest.raises(InputError, match="means 2 runs: 2026-a, 2026-b"):
        find_run("2026", tmp_path)
    assert find_run("2026-b", tmp_path).name == "2026-b"


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"subject": "x", "more": 1}'])
def test_a_manifest_that_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(InputError, match=r"run\.json is not one Assay wrote"):
        Run(tmp_path)


def test_a_run_without_its_journal(tmp_path: Path) -> None:
    (create_folder(tmp_path / "run", Manifest(subject="test")) / "journal.jsonl").unlink()
    with pytest.raises(InputError, match=r"journal\.jsonl: cannot be read"):
        Run(tmp_path / "run")


def test_a_run_is_read_while_it_is_written(tmp_path: Path) -> None:
    create_folder(tmp_path / "run", Manifest(subject="test"))
    with RunWriter(tmp_path / "run") as writer:
        unit = Unit("a", 0, "f", None)
        writer.wants(unit)
        writer.add(unit, CaseRecord(id="a", subject="test", outcome=Outcome.PASSED))
        with Run(tmp_path / "run") as run:
            assert [row.id for row in run.rows()] == ["a"]
            assert run.is_being_written()
            assert run.manifest.finished is None
    with Run(tmp_path / "run") as run:
        assert not run.is_being_written()


def test_an_open_reader_does_not_stop_a_writer(tmp_path: Path) -> None:
    path = run_with(tmp_path / "run", *((str(n), Outcome.PASSED, 1.0) for n in range(50)))
    with Run(path) as run:
        rows = run.rows()
        next(rows)
        with RunWriter(path) as writer:
            unit = Unit("new", 50, "f", None)
            assert writer.wants(unit)
            writer.add(unit, CaseRecord(id="new", subject="test", outcome=Outcome.PASSED))
        assert len(list(rows)) == 49


def test_a_read_only_run_is_read(tmp_path: Path) -> None:
    path = run_with(tmp_path / "run", ("a", Outcome.PASSED, 1.0))
    (path / "index.sqlite").unlink()
    path.chmod(0o555)
    try:
        with Run(path) as run:
            assert [row.id for row in run.rows()] == ["a"]
        assert {file.name for file in path.iterdir()} == {"journal.jsonl", "run.json"}
    finally:
        path.chmod(0o755)


def test_a_case_that_is_not_there_names_the_nearest(tmp_path: Path) -> None:
    path = run_with(tmp_path / "run", ("greeting", Outcome.PASSED, 1.0))
    with Run(path) as run, pytest.raises(InputError, match="did you mean 'greeting'"):
        run.record("greetings")


def test_a_baseline_accepts_only_what_it_names(tmp_path: Path) -> None:
    path = run_with(
        tmp_path / "run", ("known", Outcome.FAILED, 1.0), ("broken", Outcome.ERROR, 1.0)
    )
    with Run(path) as run:
        rows = {row.id: row for row in run.rows()}
    baseline = Baseline.of([rows["known"]])
    baseline.write(tmp_path / "baseline.json")
    baseline = Baseline.read(tmp_path / "baseline.json")
    assert baseline.accepts(rows["known"])
    assert not baseline.accepts(rows["broken"])
    assert not baseline.accepts(rows["known"]._replace(code="other"))
    assert not baseline.accepts(rows["known"]._replace(fingerprint="other"))
    assert not baseline.accepts(rows["known"]._replace(outcome=Outcome.PASSED))
    assert baseline.find_outdated(rows.values()) == []
    assert [entry.case for entry in baseline.find_outdated([rows["broken"]])] == ["known"]


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"version": 9, "accepted": []}', '{"accepted": [{"case": 1}]}']
)
def test_a_baseline_that_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "b.json").write_text(content)
    with pytest.raises(InputError, match="is not a baseline"):
        Baseline.read(tmp_path / "b.json")


def test_a_large_baseline_is_read_again_and_one_that_is_too_large_is_not_written(
    tmp_path: Path,
) -> None:
    entries = [
        BaselineEntry(case=f"case {n}", code="failed", fingerprint="f" * 64) for n in range(130_000)
    ]
    file = tmp_path / "known.json"
    Baseline(accepted=entries).write(file)
    assert len(Baseline.read(file).accepted) == len(entries)
    with pytest.raises(InputError, match="at most 250,000 findings"):
        Baseline(accepted=entries * 2).write(tmp_path / "more.json")
    assert not (tmp_path / "more.json").exists()


def test_errors_cannot_be_accepted(tmp_path: Path) -> None:
    path = run_with(tmp_path / "run", ("broken", Outcome.ERROR, 1.0))
    with Run(path) as run:
        assert Baseline.of(run.rows()).accepted == []
