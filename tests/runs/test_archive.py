"""Exported runs, and files of somebody else that pretend to be one."""

from __future__ import annotations

import io
import os
import shutil
import stat
import struct
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.errors import InfrastructureError, InputError
from assay.reports import render_report
from assay.runs import Run, export_run, import_run
from assay.runs import archive as module
from tests.runs.making import write_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = write_run(tmp_path / "here" / "nightly", {"a": "P", "b": "F:PF"}, title="suite.yaml")
    (path / "transcripts").mkdir()
    (path / "transcripts" / "b.jsonl").write_text("{}\n")
    return path


@pytest.fixture
def exported(folder: Path, tmp_path: Path) -> Path:
    return export_run(folder, tmp_path / "nightly.zip").file


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "index.sqlite"
    }


def test_a_run_is_the_same_elsewhere(folder: Path, exported: Path, tmp_path: Path) -> None:
    there = import_run(exported, runs=tmp_path / "there")
    assert there == tmp_path / "there" / "nightly"
    assert files_of(there) == files_of(folder)
    with Run(folder) as before, Run(there) as after:
        for name in ("json", "markdown", "junit"):
            assert list(render_report(before, name)) == list(render_report(after, name))
    assert (there / "index.sqlite").is_file()
    assert list(there.parent.iterdir()) == [there]


def test_an_unfinished_run_can_go_on_elsewhere(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", {"a": "P"}, is_finished=False)
    killed = time.time() - 5_000
    os.utime(path / "journal.jsonl", (killed, killed))
    there = import_run(export_run(path, tmp_path / "file").file, tmp_path / "there")
    assert not Run(there).summary.is_finished
    # When it was killed is kept, to the two seconds of the format.
    assert abs((there / "journal.jsonl").stat().st_mtime - killed) < 3


def test_links_and_pipes_are_left_out_and_named(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    (folder / "link").symlink_to(secret)
    (folder / "folder-link").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    found = export_run(folder, tmp_path / "file")
    assert sorted(found.left_out) == ["folder-link", "link", "pipe"]
    assert found.files == 3
    assert b"hidden" not in found.file.read_bytes()


def test_nothing_is_overwritten(folder: Path, exported: Path, tmp_path: Path) -> None:
    content = exported.read_bytes()
    with pytest.raises(InputError, match="is there already"):
        export_run(folder, exported)
    assert exported.read_bytes() == content
    empty, link = tmp_path / "empty", tmp_path / "link"
    empty.mkdir()
    link.symlink_to(tmp_path / "nowhere")
    for place in (folder, empty, link, exported):
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(InputError, match="is there already"):
            import_run(exported, place)
        assert sorted(tmp_path.rglob("*")) == before


def test_a_damaged_run_is_not_handed_on(folder: Path, tmp_path: Path) -> None:
    journal = folder / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"passed", b"failed", 1))
    with pytest.raises(InputError, match="the journal is damaged"):
        export_run(folder, tmp_path / "file")
    assert not (tmp_path / "file").exists()


def member(name: str, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


def forge(exported: Path, change: Callable[[zipfile.ZipFile], None]) -> bytes:
    """The file with something added to it."""
    buffer = io.BytesIO(exported.read_bytes())
    with zipfile.ZipFile(buffer, "a") as archive:
        change(archive)
    return buffer.getvalue()


OUTSIDE = [
    "/etc/passwd", "../escaped", "nightly/../escaped", "nightly/../../escaped", "nightly//x",
    "nightly/./x", "nightly/.git/config", ".git/config", "nightly\\x", "nightly/a\\..\\x",
    "nightly/", "nightly", "nightly/x/", "C:/x", "nightly/c:x", "nightly/a\nb", "nightly/\x1b[2J",
    "nightly/\u202etxt", "other/x", "", "/", "nightly/" + "a" * 300, "nightly/" + "d/" * 20 + "x",
    "nightly/index.sqlite", "nightly/index.sqlite-wal", "nightly/run.json",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", OUTSIDE)
def test_names_that_lead_elsewhere_are_refused(name: str, exported: Path, tmp_path: Path) -> None:
    refuse(tmp_path, forge(exported, lambda archive: archive.writestr(member(name), b"evil")))


@pytest.mark.parametrize(
    "mode", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK, stat.S_IFDIR]
)
def test_what_is_no_file_is_refused(mode: int, exported: Path, tmp_path: Path) -> None:
    evil = member("nightly/evil", mode | 0o777)
    message = refuse(tmp_path, forge(exported, lambda archive: archive.writestr(evil, b"/etc")))
    assert "'nightly/evil'" in message


def refuse(tmp_path: Path, data: bytes, most_bytes: int = 100_000_000) -> str:
    """Import a file that must be refused without a trace."""
    file = tmp_path / "forged.zip"
    file.write_bytes(data)
    (tmp_path / "runs").mkdir(exist_ok=True)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError) as refused:
        import_run(file, runs=tmp_path / "runs", most_bytes=most_bytes)
    assert sorted(tmp_path.rglob("*")) == before
    assert str(refused.value).startswith(str(file))
    assert "\n\x1b" not in str(refused.value)
    return str(refused.value)


def test_a_bomb_is_refused_before_it_goes_off(exported: Path, tmp_path: Path) -> None:
    def add(archive: zipfile.ZipFile) -> None:
        archive.writestr(member("nightly/zeros"), b"\0" * 30_000_000, zipfile.ZIP_DEFLATED, 9)

    data = forge(exported, add)
    assert len(data) < 100_000
    assert "that are allowed" in refuse(tmp_path, data, most_bytes=10_000_000)
    assert import_run(tmp_path / "forged.zip", tmp_path / "trusted").is_dir()


def test_a_bomb_that_lies_about_its_size_stops_where_it_said(
    exported: Path, tmp_path: Path
) -> None:
    def add(archive: zipfile.ZipFile) -> None:
        archive.writestr(member("nightly/zeros"), b"\0" * 30_000_000, zipfile.ZIP_DEFLATED, 9)

    data = forge(exported, add).replace(struct.pack("<I", 30_000_000), struct.pack("<I", 10))
    assert "is not a run that was exported" in refuse(tmp_path, data, most_bytes=1_000_000)


def test_a_size_that_is_a_lie_is_refused(exported: Path, tmp_path: Path) -> None:
    data = bytearray(forge(exported, lambda archive: archive.writestr(member("nightly/x"), b"x")))
    at = data.rindex(b"PK\x01\x02") + 24
    data[at : at + 4] = struct.pack("<I", 1_000)
    assert "is not as large as it says" in refuse(tmp_path, bytes(data))


def test_more_than_the_disk_has_is_the_machines_fault(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A disk that is full cannot be had here.
    full = shutil.disk_usage(tmp_path)._replace(free=100)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: full)
    with pytest.raises(InfrastructureError, match="bytes, and the disk has 100"):
        import_run(exported, tmp_path / "there")
    assert not (tmp_path / "there").exists()


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_unusual_compression_is_refused(method: int, exported: Path, tmp_path: Path) -> None:
    data = forge(exported, lambda archive: archive.writestr(member("nightly/x"), b"x", method))
    assert "compressed in an unusual way" in refuse(tmp_path, data)


def test_an_encrypted_file_is_refused(exported: Path, tmp_path: Path) -> None:
    data = bytearray(exported.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    assert "is encrypted" in refuse(tmp_path, bytes(data))


def test_a_forged_directory_does_not_fill_the_memory(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(archive: zipfile.ZipFile) -> None:
        for number in range(3_000):
            archive.writestr(member(f"nightly/{number}"), b"")

    data = forge(exported, fill)
    monkeypatch.setattr(module, "MOST_FILES", 2_000)
    assert "has more than 2,000 files" in refuse(tmp_path, data)
    monkeypatch.setattr(module, "_LARGEST_DIRECTORY", 100_000)
    assert "its directory is too large" in refuse(tmp_path, data)


@pytest.mark.parametrize("missing", ["run.json", "journal.jsonl"])
def test_half_a_run_is_refused(missing: str, folder: Path, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in {"run.json", "journal.jsonl"} - {missing}:
            archive.write(folder / name, f"nightly/{name}")
    assert "it needs one folder with run.json and journal.jsonl" in refuse(
        tmp_path, buffer.getvalue()
    )


def test_a_run_that_was_edited_is_refused(folder: Path, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.write(folder / "run.json", "nightly/run.json")
        journal = (folder / "journal.jsonl").read_bytes().replace(b"failed", b"passed", 1)
        archive.writestr("nightly/journal.jsonl", journal)
    assert "the run in it cannot be used: the journal is damaged" in refuse(
        tmp_path, buffer.getvalue()
    )


def test_what_is_no_archive_at_all_is_refused(exported: Path, tmp_path: Path) -> None:
    refuse(tmp_path, b"")
    refuse(tmp_path, b"PK\x05\x06" + b"\0" * 18)
    refuse(tmp_path, exported.read_bytes()[:-30])
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for file in (pipe, tmp_path, tmp_path / "absent"):
        with pytest.raises(InputError):
            import_run(file, tmp_path / "there")
