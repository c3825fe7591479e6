"""The time of a run is the time that was worked on it, however often it was interrupted."""

from __future__ import annotations

import contextlib
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from assay.reports import summarize
from assay.runs import Manifest, Run, Unit, read_manifest
from assay.runs.folder import begin_pass, end_pass, write_manifest
from assay.runs.writer import RunWriter
from tests.runs.making import make_record, write_run

DAY = timedelta(days=1)


def measure(path: Path) -> float:
    with Run(path) as run:
        duration = summarize(run).duration
    assert duration is not None
    return duration


def resume(path: Path, *names: str) -> None:
    with RunWriter(path) as writer:
        for place, name in enumerate(names):
            unit = Unit(name, place, "f", None)
            if writer.wants(unit):
                writer.add(unit, make_record(name, "P"))
        writer.finish()


def test_the_days_before_a_run_was_resumed_do_not_count(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", {"a": "P"})
    first = measure(path)
    manifest = read_manifest(path)
    assert manifest.finished is not None
    manifest.started -= DAY
    manifest.finished -= DAY
    write_manifest(path, manifest)
    resume(path, "a", "b")
    assert first < measure(path) < first + 60
    assert read_manifest(path).working_since is None


def test_a_pass_that_was_killed_ends_with_its_last_line(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", {"a": "P"})
    manifest = read_manifest(path)
    began = datetime.now(UTC) - DAY
    manifest.finished, manifest.worked, manifest.working_since = None, 10.0, began
    write_manifest(path, manifest)
    os.utime(path / "journal.jsonl", (0, (began + timedelta(seconds=30)).timestamp()))
    resume(path, "a", "b")
    assert 40 <= measure(path) < 100


def test_a_pass_that_was_interrupted_is_counted_at_once(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", {"a": "P"})
    with contextlib.suppress(KeyboardInterrupt), RunWriter(path) as writer:
        assert writer.manifest.working_since is not None
        raise KeyboardInterrupt
    manifest = read_manifest(path)
    assert (manifest.working_since, manifest.finished) == (None, None)
    assert manifest.worked is not None


def test_a_run_of_an_earlier_version_counts_up_to_its_end_or_its_last_line(tmp_path: Path) -> None:
    for finished, expected in ((timedelta(seconds=50), 50), (None, 20)):
        path = write_run(tmp_path / f"{expected}", {"a": "P"})
        manifest = read_manifest(path)
        manifest.started = datetime.now(UTC) - DAY
        manifest.worked = None
        manifest.finished = None if finished is None else manifest.started + finished
        write_manifest(path, manifest)
        last = manifest.started + timedelta(seconds=20)
        os.utime(path / "journal.jsonl", (0, last.timestamp()))
        if finished is not None:
            assert measure(path) == 50
        resume(path, "a", "b")
        assert expected <= measure(path) < expected + 60


def test_a_clock_that_was_set_back_takes_nothing_away() -> None:
    manifest = Manifest(subject="test", worked=5.0)
    begin_pass(manifest, None)
    assert manifest.working_since is not None
    manifest.working_since += DAY
    end_pass(manifest)
    assert manifest.worked == 5.0
