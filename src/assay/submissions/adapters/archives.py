"""The files of an archive that a server sent: zip or tar, packed or not, and never too many."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from assay.submissions.file_formats import MOST_UNPACKED

_MOST_FILES = 10_000
_PACKINGS: tuple[tuple[bytes, Any], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
)
# What the readers of damaged archives raise. RuntimeError: encrypted, or packed in an unknown way.
_DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
    ArithmeticError,
    LookupError,
    RuntimeError,
)


class Unpacked(NamedTuple):
    """The plain files of an archive, and what kept all of them from being known."""

    files: dict[str, bytes]
    trouble: str = ""


class _TooMuchError(ValueError):
    """The archive unpacks to more than any answer has."""


def unpacked(archive: bytes) -> Unpacked:
    """The plain files of a zip or tar archive whose paths do not lead out of it."""
    try:
        read = _from_zip if zipfile.is_zipfile(io.BytesIO(archive)) else _from_tar
        files: dict[str, bytes] = {}
        left = MOST_UNPACKED
        for name, content in read(archive):
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or not path.parts:
                continue
            files[str(path)] = _at_most(content, left)
            left -= len(files[str(path)])
            if len(files) > _MOST_FILES:
                raise _TooMuchError(f"it has more than {_MOST_FILES} files")
        return Unpacked(files)
    except _DAMAGED as error:
        return Unpacked({}, str(error) or type(error).__name__)


def _at_most(stream: Any, limit: int) -> bytes:
    content: bytes = stream.read(limit + 1)
    if len(content) > limit:
        raise _TooMuchError(f"it comes to more than {MOST_UNPACKED >> 20} MiB")
    return content


def _from_zip(archive: bytes) -> Iterator[tuple[str, Any]]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        for entry in opened.infolist():
            if not entry.is_dir():
                with opened.open(entry) as content:
                    yield entry.filename, content


def _from_tar(archive: bytes) -> Iterator[tuple[str, Any]]:
    # Unpacked before it is looked into: the size in a header may be anything.
    for beginning, opener in _PACKINGS:
        if archive.startswith(beginning):
            with opener(io.BytesIO(archive)) as packed:
                archive = _at_most(packed, MOST_UNPACKED)
            break
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as opened:
        for entry in opened:
            content = opened.extractfile(entry) if entry.isfile() else None
            if content is not None:
                yield entry.name, content
