"""The index says what the journal says, however it was made."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model import CaseRecord, Outcome
from assay.runs import Manifest, Unit, create_folder
from assay.runs.index import RunIndex
from assay.runs.journal import Journal
from assay.runs.writer import RunWriter


def record(identifier: str, place: int, outcome: Outcome = Outcome.PASSED) -> dict[str, Any]:
    packed = CaseRecord(id=identifier, subject="s", outcome=outcome, fingerprint="f").pack()
    return {"kind": "record", "place": place, "record": packed}


def moved(identifier: str, place: int) -> dict[str, Any]:
    return {"kind": "moved", "id": identifier, "place": place}


def dropped(identifier: str) -> dict[str, Any]:
    return {"kind": "dropped", "id": identifier}


def part(identifier: str) -> dict[str, Any]:
    return {"kind": "part", "id": identifier, "key": "0", "fingerprint": "f", "value": 1}


names, places = st.sampled_from("abcdef"), st.integers(0, 9)
histories = st.lists(
    st.builds(record, names, places, st.sampled_from(list(Outcome)))
    | st.builds(moved, names, places)
    | st.builds(dropped, names)
    | st.builds(part, names),
    max_size=20,
)


@given(histories, st.integers(0, 20))
def test_an_index_made_at_once_equals_one_made_in_steps(
    tmp_path_factory: Any, history: list[dict[str, Any]], seen_first: int
) -> None:
    folder = tmp_path_factory.mktemp("index")
    with Journal(folder / "journal.jsonl") as journal:
        for entry in history[:seen_first]:
            journal.append(entry)
        RunIndex.for_writing(folder).close()
        for entry in history[seen_first:]:
            journal.append(entry)
    expected: dict[str, tuple[int, Outcome]] = {}
    for entry in history:
        match entry["kind"]:
            case "record":
                outcome = Outcome(entry["record"]["outcome"])
                expected[entry["record"]["id"]] = (entry["place"], outcome)
            case "moved" if entry["id"] in expected:
                expected[entry["id"]] = (entry["place"], expected[entry["id"]][1])
            case "dropped":
                expected.pop(entry["id"], None)
    in_order = sorted((place, name, outcome) for name, (place, outcome) in expected.items())
    stale = RunIndex.for_reading(folder)
    updated = RunIndex.for_writing(folder)
    fresh = RunIndex.for_reading(folder)
    for index in (stale, updated, fresh):
        assert [(row.place, row.id, row.outcome) for row in index.rows()] == in_order
        assert sum(index.counts().values()) == len(in_order)
        index.close()


def test_an_index_that_its_writer_closed_is_used_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = create_folder(tmp_path / "run", Manifest(subject="s"))
    with RunWriter(path) as writer:
        unit = Unit("a", 0, "f", None)
        assert writer.wants(unit)
        writer.add(unit, CaseRecord(id="a", subject="s", outcome=Outcome.PASSED, fingerprint="f"))
        writer.finish()

    def read_again(*_: object) -> None:
        raise AssertionError("the journal was read again")

    monkeypatch.setattr("assay.runs.index.read_entries", read_again)
    with closing(RunIndex.for_reading(path)) as index:
        assert [row.id for row in index.rows()] == ["a"]
    with RunWriter(path) as writer:
        assert writer.has(unit)


def test_a_broken_index_is_made_again(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.append(record("a", 0))
    (tmp_path / "index.sqlite").write_bytes(b"not a database, whatever its name says" * 100)
    for opened in (RunIndex.for_reading, RunIndex.for_writing):
        with closing(opened(tmp_path)) as index:
            assert [row.id for row in index.rows()] == ["a"]


def test_half_an_index_is_made_again(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl") as journal:
        for place in range(300):
            journal.append(record(f"case {place}", place))
    RunIndex.for_writing(tmp_path).close()
    path = tmp_path / "index.sqlite"
    whole = path.read_bytes()
    with closing(sqlite3.connect(path)) as database:
        database.execute("DELETE FROM state")
        database.commit()
    without_state = path.read_bytes()
    middle = len(whole) // 2 // 4096 * 4096
    zeroed = whole[:middle] + bytes(8192) + whole[middle + 8192 :]
    for damaged in (without_state, zeroed, whole[:middle]):
        for opened in (RunIndex.for_reading, RunIndex.for_writing):
            path.write_bytes(damaged)
            with closing(opened(tmp_path)) as index:
                assert len(list(index.rows())) == 300


def test_a_journal_of_which_a_line_was_removed_has_a_new_index(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        for place in range(20):
            journal.append(record(f"case {place}", place))
        RunIndex.for_writing(tmp_path).close()
        journal.append(record("late", 20))
        journal.append(record("later", 21))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3] + lines[4:]))
    with closing(RunIndex.for_writing(tmp_path)) as index:
        names = [row.id for row in index.rows()]
    assert len(names) == 21
    assert "case 3" not in names


def test_an_index_that_is_ahead_of_its_journal_is_made_again(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    with Journal(journal) as writer:
        writer.append(record("a", 0))
        end = writer.end
        writer.append(record("b", 1))
    RunIndex.for_writing(tmp_path).close()
    journal.write_bytes(journal.read_bytes()[:end])
    with closing(RunIndex.for_reading(tmp_path)) as index:
        assert [row.id for row in index.rows()] == ["a"]


def test_rows_can_be_asked_for_by_outcome(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl") as journal:
        for place, outcome in enumerate(Outcome):
            journal.append(record(outcome.value, place, outcome))
    index = RunIndex.for_reading(tmp_path)
    assert [row.id for row in index.rows(Outcome.FAILED, Outcome.ERROR)] == ["failed", "error"]
    assert index.counts() == dict.fromkeys(Outcome, 1)
    index.close()
