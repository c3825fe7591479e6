"""Reads user files: regular files only, up to a size limit, with errors that name the position.

A pipe may never end, a device never does, and a file may be as large as the disk. All files that
users or third parties wrote are read here, so that each of these cases is reported as an error.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from assay.errors import InputError

MEGABYTE = 1_000_000
LARGEST_DOCUMENT = 16 * MEGABYTE
"""Suites, cases, test files of agents: YAML or JSON that is held as a tree.

One character outside of Latin-1 makes a text take four bytes for each of its characters."""
LARGEST_SOURCE = 4 * MEGABYTE
"""Proofs, snippets and other Python files."""
LARGEST_SETTINGS = MEGABYTE
"""Configuration and the pyproject.toml of a source folder."""
LARGEST_RECORD = 16 * MEGABYTE
"""A file that Assay wrote itself: run.json, proof.json, a baseline, an answer of the cache."""
MOST_PARTS = 500_000
"""Of JSON that is decoded at once: brackets, braces and commas.

An object with one key takes 240 bytes, and twice that while its values are checked or masked."""
_STRING_OR_MARKS = re.compile(rb'"[^"]*+"?|[\[{,]++')


class UnreadableFileError(InputError):
    """A file that cannot be read: a pipe, a folder, too large, or not UTF-8; its line is 1."""

    line = 1


def read_bytes(path: Path, limit: int, *, follow: bool = True) -> bytes:
    """Return the bytes of a regular file of at most `limit` bytes.

    A missing file raises FileNotFoundError (NotADirectoryError below a file), for the caller to
    interpret. `follow=False` refuses a symbolic link.
    """
    with open_regular(path, limit, follow=follow) as file:
        try:
            data = file.read(limit + 1)
        except OSError as error:
            raise _unreadable(path, error) from None
    # A file of /proc has no size, and another may grow while it is read.
    if len(data) > limit:
        raise _too_large(path, limit)
    return data


def read_record(
    path: Path, limit: int = LARGEST_RECORD, parts: int = MOST_PARTS, *, follow: bool = True
) -> bytes:
    """Return the JSON of a file that Assay wrote, after checking that it can be decoded."""
    data = read_bytes(path, limit, follow=follow)
    if has_too_many_parts(data, parts):
        raise UnreadableFileError(f"has more than {parts:,} parts", where=str(path))
    return data


def read_text(path: Path, limit: int, *, follow: bool = True, keep_mark: bool = False) -> str:
    """Return the UTF-8 text of a regular file; `keep_mark` keeps its first mark and line ends."""
    data = read_bytes(path, limit, follow=follow)
    try:
        if keep_mark:
            return data.decode("utf-8")
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = UnreadableFileError("is not UTF-8 text", where=str(path), advice="save it as UTF-8")
        found.line = data.count(b"\n", 0, error.start) + 1
        found.where = f"{path}:{found.line}"
        raise found from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


@contextmanager
def open_regular(
    path: Path, limit: int | None = None, *, follow: bool = True
) -> Iterator[BufferedReader]:
    """Open a regular file for reading in pieces; a pipe or device is refused, never waited for."""
    try:
        # Without O_NONBLOCK opening a pipe waits for a writer.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
        descriptor = os.open(path, flags if follow else flags | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except (OSError, ValueError) as error:
        if not follow and path.is_symlink():
            advice = "put the file itself in its place"
            raise UnreadableFileError(
                "is a symbolic link", where=str(path), advice=advice
            ) from None
        raise _unreadable(path, error) from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        what = f"is not a file but {_kind(found.st_mode)}"
        raise UnreadableFileError(what, where=str(path))
    with os.fdopen(descriptor, "rb") as file:
        if limit is not None and found.st_size > limit:
            raise _too_large(path, limit)
        yield file


def has_too_many_parts(data: bytes, most: int = MOST_PARTS) -> bool:
    """Return whether decoding JSON may take far more memory than its text."""
    if len(data) <= MEGABYTE or sum(map(data.count, (b"[", b"{", b","))) <= most:
        return False
    # Not those in strings: a table as text has many commas.
    bare = data.replace(rb"\\", b"").replace(rb"\"", b"")
    parts = 0
    for found in _STRING_OR_MARKS.finditer(bare):
        if not found[0].startswith(b'"'):
            parts += found.end() - found.start()
        if parts > most:
            return True
    return False


def replace_file(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a new file under this name, replacing whatever is there, including a link or a pipe.

    The folder of a run may be untrusted, and a link in it may point to any file of the user. The
    temporary file that is renamed at the end has an unpredictable name and must be new.
    """
    new = path.with_name(f".assay-{secrets.token_hex(8)}.new")
    try:
        with new.open("xb") as file:
            file.writelines(pieces)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a pipe" if stat.S_ISFIFO(mode) else "a device or a socket"


def _too_large(path: Path, limit: int) -> UnreadableFileError:
    return UnreadableFileError(f"is larger than {limit:,} bytes", where=str(path))


def _unreadable(path: Path, error: Exception) -> UnreadableFileError:
    reason = getattr(error, "strerror", None) or error
    return UnreadableFileError(f"cannot be read: {reason}", where=str(path))
