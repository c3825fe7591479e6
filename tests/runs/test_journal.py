"""The journal: appended, torn, repaired, locked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.runs import Manifest, Run, create_folder
from assay.runs.journal import Journal, check_links, complete_size, read_entries


def entries(path: Path) -> list[dict[str, object]]:
    return [entry for _, entry in read_entries(path)]


def test_what_is_appended_is_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        spans = [journal.append({"n": number, "text": "ü\n" * number}) for number in range(5)]
        read = journal.read(spans[3])
    assert (read["n"], read["text"]) == (3, "ü\n" * 3)
    assert [entry["n"] for entry in entries(path)] == [0, 1, 2, 3, 4]
    assert complete_size(path) == path.stat().st_size


@given(st.integers(min_value=0, max_value=200))
def test_a_torn_last_line_is_cut_off_wherever_it_tore(tmp_path_factory: object, cut: int) -> None:
    path = Path(tmp_path_factory.mktemp("torn") / "journal.jsonl")  # type: ignore[attr-defined]
    with Journal(path) as journal:
        for number in range(4):
            journal.append({"n": number, "text": "x" * 20})
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - cut] if cut < len(whole) else b"")
    survivors = path.read_bytes().count(b"\n")
    torn = len(path.read_bytes()) - complete_size(path)
    assert [entry["n"] for entry in entries(path)] == list(range(survivors))
    with Journal(path) as journal:
        assert journal.torn == torn
        journal.append({"n": "new"})
    assert [entry["n"] for entry in entries(path)] == [*range(survivors), "new"]


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"n":0}\n{"n":\n{"n":2}\n')
    with pytest.raises(InputError, match="damaged at byte 8"):
        entries(path)


def test_only_one_process_writes_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    second = (
        "from pathlib import Path; from assay.runs.journal import Journal; "
        f"Journal(Path({str(path)!r})).close()"
    )
    with Journal(path):
        blocked = subprocess.run([sys.executable, "-c", second], capture_output=True, text=True)
        assert "another process is writing this run" in blocked.stderr
    assert subprocess.run([sys.executable, "-c", second]).returncode == 0


def test_a_full_disk_is_the_machines_fault(tmp_path: Path) -> None:
    script = f"""
import resource, signal
from pathlib import Path
from assay.runs.journal import Journal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
journal = Journal(Path({str(tmp_path / "journal.jsonl")!r}))
for number in range(100):
    journal.append({{"n": number}})
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "InfrastructureError" in result.stderr
    assert "a result could not be written: File too large" in result.stderr
    with Journal(tmp_path / "journal.jsonl") as journal:
        assert journal.torn > 0


@pytest.mark.parametrize("line", ["{}", '{"kind":"other"}', '{"kind":"record","place":1}'])
def test_a_line_of_somebody_elses_is_named(tmp_path: Path, line: str) -> None:
    path = create_folder(tmp_path / "run", Manifest(subject="test"))
    (path / "journal.jsonl").write_text(line + "\n")
    with pytest.raises(InputError, match="damaged at byte 0"):
        Run(path)


def _write_lines(path: Path, count: int) -> list[bytes]:
    with Journal(path) as journal:
        for number in range(count):
            journal.append({"n": number, "text": "ü"})
    return path.read_bytes().splitlines(keepends=True)


@given(st.data())
def test_a_line_that_is_edited_removed_doubled_or_moved_is_found(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("links") / "journal.jsonl"
    lines = _write_lines(path, 6)
    changed = list(lines)
    place = data.draw(st.integers(0, 4))
    match data.draw(st.sampled_from(["edit", "remove", "double", "move", "strip"])):
        case "edit":
            changed[place] = changed[place].replace(b'"n":', b'"n":1')
        case "remove":
            del changed[place]
        case "double":
            changed.insert(place, changed[place])
        case "move":
            changed[place], changed[place + 1] = changed[place + 1], changed[place]
        case _:
            changed[place] = changed[place].split(b',"link"')[0] + b"}\n"
    path.write_bytes(b"".join(changed))
    with pytest.raises(InputError, match="damaged at byte"):
        check_links(path)


def test_links_go_on_where_a_journal_is_opened_again_or_was_torn(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    _write_lines(path, 3)
    path.write_bytes(path.read_bytes()[:-5])
    _write_lines(path, 2)
    assert len(check_links(path)) == 16
    assert [entry["n"] for entry in entries(path)] == [0, 1, 0, 1]


def test_a_journal_that_was_begun_without_links_is_continued_without(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"n":0}\n')
    _write_lines(path, 1)
    assert check_links(path) == ""
    assert b"link" not in path.read_bytes()


def test_a_journal_of_nothing_is_told_at_once_however_large_it_is(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"kind": "record"}\n')
    os.truncate(path, 1 << 40)
    with pytest.raises(InputError, match="are not a line of a journal") as error:
        complete_size(path)
    assert error.value.where == str(path)
