"""The runs of a folder: each has a name in addresses, and none is hidden because it is broken."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.model import Outcome
from assay.runs import JOURNAL, MANIFEST, Unit
from assay.runs.writer import RunWriter
from assay.view.library import RunEntry, RunLibrary
from tests.runs.making import make_record, write_run
from tests.waiting import wait_until

CASES = {"a": "P", "b": "F", "c": "E"}


@contextmanager
def library_of(folder: Path, *, reads: bool = True) -> Iterator[RunLibrary]:
    library = RunLibrary(folder)
    try:
        if reads:
            library.finish()
        yield library
    finally:
        library.close()


def find(library: RunLibrary, key: str) -> RunEntry:
    entry = library.get(key)
    assert entry is not None
    return entry


def test_runs_are_read_and_counted(tmp_path: Path) -> None:
    write_run(tmp_path / "runs/one", CASES, title="t")
    write_run(tmp_path / "runs/two", {"a": "P:PPF"}, title="t")
    with library_of(tmp_path / "runs") as library:
        one, two = library.entries()
        assert (one.key, two.key) == ("one", "two")
        assert one.state.counts[Outcome.FAILED] == 1
        assert (one.state.exit_code, two.state.exit_code) == (1, 0)
        assert one.title_key == two.title_key
        assert (one.state.has_samples, two.state.has_samples) == (False, True)
        assert one.state.checked == one.state.stamp


def test_a_folder_that_is_a_run_is_shown_alone(tmp_path: Path) -> None:
    write_run(tmp_path / "runs/one", CASES)
    write_run(tmp_path / "runs/two", CASES)
    with library_of(tmp_path / "runs/one") as library:
        assert [entry.key for entry in library.entries()] == ["one"]


@pytest.mark.parametrize(
    "name",
    ["a b", "%2e%2e", "..%2f", "-x", "ü", "a\nb", "<script>", "x" * 120, "\udcff", ".hidden"],
)
def test_odd_names_have_keys_that_are_safe_in_addresses(tmp_path: Path, name: str) -> None:
    write_run(tmp_path / "runs" / name, CASES)
    with library_of(tmp_path / "runs") as library:
        (entry,) = library.entries()
        assert entry.name == name
        assert entry.key.startswith("~")
        assert entry.key[1:].isalnum()
        assert library.get(entry.key) is entry
        assert library.get(name) is None


@pytest.mark.parametrize("key", ["", ".", "..", "../one", "/etc", "one/", "one/run.json", "One"])
def test_a_key_is_never_a_path(tmp_path: Path, key: str) -> None:
    write_run(tmp_path / "runs/one", CASES)
    with library_of(tmp_path / "runs", reads=False) as library:
        assert library.get(key) is None


def _link_folder(runs: Path, elsewhere: Path) -> None:
    (runs / "bad").symlink_to(elsewhere)


def _link_journal(runs: Path, elsewhere: Path) -> None:
    write_run(runs / "bad", CASES)
    (runs / "bad" / JOURNAL).unlink()
    (runs / "bad" / JOURNAL).symlink_to(elsewhere / JOURNAL)


def _link_manifest(runs: Path, elsewhere: Path) -> None:
    write_run(runs / "bad", CASES)
    (runs / "bad" / MANIFEST).unlink()
    (runs / "bad" / MANIFEST).symlink_to(elsewhere / MANIFEST)


def _link_baseline(runs: Path, elsewhere: Path) -> None:
    write_run(runs / "bad", CASES)
    (runs / "bad" / "baseline.json").symlink_to("/etc/passwd")


def _drop_manifest(runs: Path, elsewhere: Path) -> None:
    write_run(runs / "bad", CASES)
    (runs / "bad" / MANIFEST).unlink()


def _drop_journal(runs: Path, elsewhere: Path) -> None:
    write_run(runs / "bad", CASES)
    (runs / "bad" / JOURNAL).unlink()


def _put_a_pipe(runs: Path, elsewhere: Path) -> None:
    write_run(runs / "bad", CASES)
    (runs / "bad" / JOURNAL).unlink()
    os.mkfifo(runs / "bad" / JOURNAL)


def _break_manifest(runs: Path, elsewhere: Path) -> None:
    write_run(runs / "bad", CASES)
    (runs / "bad" / MANIFEST).write_text('{"secret": "value"}')


def _edit_a_line(runs: Path, elsewhere: Path) -> None:
    path = write_run(runs / "bad", CASES) / JOURNAL
    path.write_text(path.read_text().replace('"outcome":"failed"', '"outcome":"passed"'))


def _break_a_line(runs: Path, elsewhere: Path) -> None:
    path = write_run(runs / "bad", CASES) / JOURNAL
    path.write_text(path.read_text().replace('"record"', '"rec"', 1))


def _lose_the_end(runs: Path, elsewhere: Path) -> None:
    path = write_run(runs / "bad", CASES) / JOURNAL
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))


@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        (_link_folder, "symbolic link"),
        (_link_journal, "journal.jsonl is not a plain file"),
        (_link_manifest, "run.json is not a plain file"),
        (_link_baseline, "baseline.json is not a plain file"),
        (_drop_manifest, "it has no run.json"),
        (_drop_journal, "it has no journal.jsonl"),
        (_put_a_pipe, "journal.jsonl is not a plain file"),
        (_break_manifest, "run.json is not one Assay wrote"),
        (_edit_a_line, "damaged"),
        (_break_a_line, "damaged"),
        (_lose_the_end, "the journal has 2 cases; the run had 3"),
    ],
)
def test_what_cannot_be_shown_is_named_with_the_reason(
    tmp_path: Path, harm: object, problem: str
) -> None:
    elsewhere = write_run(tmp_path / "elsewhere", {"secret": "P"})
    write_run(tmp_path / "runs/good", CASES)
    harm(tmp_path / "runs", elsewhere)  # type: ignore[operator] # one of those above
    with library_of(tmp_path / "runs") as library:
        bad, good = library.entries()
        assert problem in bad.state.problem
        assert good.state.problem == ""
        with pytest.raises(InputError), bad.open():
            pass


def test_what_is_repaired_is_shown_again(tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs/one", CASES)
    whole = (run / JOURNAL).read_bytes()
    (run / JOURNAL).write_bytes(whole.replace(b"failed", b"passed"))
    with library_of(tmp_path / "runs") as library:
        assert "damaged" in find(library, "one").state.problem
        (run / JOURNAL).write_bytes(whole)
        entry = find(library, "one")
        library.finish()
        assert (entry.state.problem, entry.state.exit_code) == ("", 1)


def test_other_folders_and_files_are_no_runs(tmp_path: Path) -> None:
    (tmp_path / "runs/empty").mkdir(parents=True)
    (tmp_path / "runs/notes.txt").touch()
    with library_of(tmp_path / "runs") as library:
        assert library.entries() == []


def test_a_run_that_grows_is_followed_in_the_background(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "runs/one", {"a": "P"}, is_finished=False)
    with library_of(tmp_path / "runs", reads=False) as library:
        library.start()
        entry = find(library, "one")
        before = entry.state.token
        with RunWriter(folder) as writer:
            for place, name in enumerate("ab"):
                unit = Unit(name, place, "f", None)
                if writer.wants(unit):
                    writer.add(unit, make_record(name, "F"))
            wait_until(lambda: find(library, "one").state.counts.get(Outcome.FAILED) == 1)
            assert entry.state.is_live
            assert entry.state.token != before
            writer.finish()
        wait_until(lambda: find(library, "one").state.exit_code == 1)
        assert not entry.state.is_live
        wait_until(lambda: entry.state.progress.is_complete)
        wait_until(lambda: entry.state.checked == entry.state.stamp)


def test_indexes_are_private_and_kept_for_the_next_time(tmp_path: Path, own_cache: Path) -> None:
    write_run(tmp_path / "runs/one", CASES)
    with library_of(tmp_path / "runs") as library:
        (entry,) = library.entries()
    assert own_cache / "view" == entry.database.parent
    assert entry.database.parent.stat().st_mode & 0o777 == 0o700
    made = entry.database.stat().st_ino
    with library_of(tmp_path / "runs") as library:
        (entry,) = library.entries()
        assert entry.state.share == (1, 3)
    assert entry.database.stat().st_ino == made


def test_indexes_of_runs_that_are_gone_are_removed(tmp_path: Path, own_cache: Path) -> None:
    folder = write_run(tmp_path / "runs/one", CASES)
    write_run(tmp_path / "runs/two", CASES)
    with library_of(tmp_path / "runs"):
        pass
    assert len(list((own_cache / "view").glob("*.sqlite"))) == 2
    folder.rename(tmp_path / "moved")
    with library_of(tmp_path / "runs"):
        assert len(list((own_cache / "view").glob("*.sqlite"))) == 1


def test_without_a_cache_a_temporary_folder_is_used_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "file"))
    write_run(tmp_path / "runs/one", CASES)
    with library_of(tmp_path / "runs") as library:
        (entry,) = library.entries()
        assert entry.state.share == (1, 3)
        assert entry.database.exists()
    assert not entry.database.parent.exists()
    assert "temporary folder" in caplog.text


def test_a_damaged_index_is_made_anew_by_the_next_viewer(tmp_path: Path) -> None:
    write_run(tmp_path / "runs/one", {f"case {n}": "P" for n in range(300)})
    with library_of(tmp_path / "runs") as library:
        (entry,) = library.entries()
    data = bytearray(entry.database.read_bytes())
    # The first page, which `about` and `state` are not on, tells where the others are.
    data[4096:] = os.urandom(len(data) - 4096)
    entry.database.write_bytes(data)
    with library_of(tmp_path / "runs") as library:
        (entry,) = library.entries()
    with library_of(tmp_path / "runs") as library:
        (entry,) = library.entries()
        assert entry.state.share == (300, 300)
