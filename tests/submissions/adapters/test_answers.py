"""Answers that servers send to trip whoever reads them: charsets, archives, depth."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import tarfile
import time
import zipfile
from typing import Any

import pytest

from assay.sandbox.servers import Response
from assay.submissions.adapters import messages
from assay.submissions.adapters.messages import read_answer, unpack_archive


def fields(body: bytes, kind: str) -> dict[str, Any]:
    answer = Response(200, {"content-type": kind}, body)
    return read_answer(answer, as_json=True, as_reference=False)


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("utf-8", "grün"),
        ("UTF8", "grün"),
        ("iso-8859-1", "grün"),
        ("ISO_8859-15", "€"),
        ("windows-1252", "€"),
        ("utf-16", "grün"),
        ("shift_jis", "緑"),
        ('"latin-1"', "grün"),
    ],
)
def test_known_charsets(charset: str, text: str) -> None:
    body = text.encode(charset.strip('"'))
    assert fields(body, f"text/plain; charset={charset}; x=y")["output"] == text


@pytest.mark.parametrize(
    "charset",
    ["undefined", "\0bad", "idna", "punycode", "rot13", "zlib", "unicode_escape", "mbcs", "none"],
)
def test_other_charsets_are_none(charset: str) -> None:
    start = time.process_time()
    kind = f"text/plain; charset={charset}"
    assert fields(b'{"a": 1}', kind)["output"] == {"a": 1}
    assert fields(b"a" * 100_000, kind)["output"] == "a" * 100_000
    assert fields(b"\xff\xfe", kind)["output"] == b"\xff\xfe"
    assert time.process_time() - start < 2


def test_depth_is_text() -> None:
    body = "[" * 30_000 + "]" * 30_000
    assert fields(body.encode(), "application/json")["output"] == body


def zipped(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def tarred(mode: str = "w", /, **files: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_archives_of_every_kind(mode: str) -> None:
    assert unpack_archive(tarred(mode, a=b"1", b=b"2")) == ({"a": b"1", "b": b"2"}, "")
    assert unpack_archive(zipped(a=b"1", b=b"2")) == ({"a": b"1", "b": b"2"}, "")


def damaged(content: bytes, place: int) -> bytes:
    return (
        content[:place]
        + bytes(255 - byte for byte in content[place : place + 4])
        + content[place + 4 :]
    )


@pytest.mark.parametrize(
    "archive",
    [
        b"",
        b"nothing of the kind",
        b"PK\x05\x06" + b"\xff" * 18,
        damaged(zipped(a=b"hello" * 1000), 40),
        damaged(zipped(a=os.urandom(5000)), 2000),
        damaged(tarred("w:gz", a=os.urandom(200_000)), 100_000),
        tarred("w:bz2", a=os.urandom(50_000))[:30_000],
        damaged(tarred("w:xz", a=os.urandom(50_000)), 20_000),
        damaged(tarred(a=b"1"), 100),
    ],
    ids=lambda archive: "archive",
)
def test_a_damaged_archive_has_no_known_files(archive: bytes) -> None:
    found = unpack_archive(archive)
    assert found.files == {}
    assert found.trouble
    said = fields(archive, "application/zip")
    assert said["files"] == {}
    assert said["files_unknown"].startswith("the archive cannot be unpacked: ")


def pax(size: int) -> bytes:
    """A tar whose first header says that its names take so many bytes."""
    header = tarfile.TarInfo("pax")
    header.type, header.size = tarfile.XHDTYPE, size
    return header.tobuf(tarfile.USTAR_FORMAT)


@pytest.mark.parametrize("kind", ["zip", "gzip", "bzip2", "skipped", "header"])
def test_bombs_come_to_an_end(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "MOST_UNPACKED", 1 << 20)
    zeros = bytes(1 << 24)
    archive = {
        "zip": lambda: zipped(a=zeros, b=zeros),
        "gzip": lambda: gzip.compress(tarred(a=zeros)),
        "bzip2": lambda: bz2.compress(zeros) * 256,
        "skipped": lambda: gzip.compress(tarred("w", **{"../a": zeros})),
        "header": lambda: gzip.compress(pax(8**10) + zeros),
    }[kind]()
    start = time.process_time()
    found = unpack_archive(archive)
    assert found.files == {}
    assert found.trouble
    assert time.process_time() - start < 2


def test_more_files_than_anybody_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "_MOST_FILES", 2)
    assert unpack_archive(zipped(a=b"", b=b"")).trouble == ""
    assert unpack_archive(zipped(a=b"", b=b"", c=b"")) == ({}, "it has more than 2 files")
