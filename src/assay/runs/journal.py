"""The journal of a run: one line of JSON per finished unit of work, append-only.

A line is handed to the kernel before anything is shown, so a killed process loses nothing that it
reported; the disk is synced once a second. A last line without a newline was cut off by a crash.

Every line ends with a link: a digest of the line and of the previous link. Editing, removing or
moving a line breaks the chain there. Journals written before 0.2 have no links and get none.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

from assay.documents import MEGABYTE, MOST_PARTS, has_too_many_parts, open_regular
from assay.errors import InfrastructureError, InputError
from assay.model import decode_value, encode_bytes
from assay.processes import keep_private, release

MOST_TEXT = 16 * MEGABYTE


"""Characters of all texts of a record, before they are written as JSON."""


# How much of every value is kept; the first sufficient limit is used.
_LENGTHS = (MEGABYTE, 100_000, 10_000, 1_000, 200)


_NAMING = frozenset({"id", "group", "group_type", "original_checkpoint", "original_group"})


_LEFT_OUT = "left out of the record"


_EVIDENCE = ("actual", "expected", "diff")


def is_too_large(value: Any) -> bool:
    """Return whether a value has more text or more parts than a record may have."""
    text, parts = MOST_TEXT, MOST_PARTS
    rest = [value]
    while rest:
        one = rest.pop()
        kind = type(one)
        if kind is str or kind is bytes:
            text -= len(one)
        elif kind is dict:
            parts -= len(one) + 1
            text -= sum(map(len, one))
            rest.extend(one.values())
        elif kind is list or kind is tuple:
            parts -= len(one) + 1
            rest.extend(one)
        if text < 0 or parts < 0:
            return True
    return False


def shorten_record(
    record: dict[str, Any], fits: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """Return a packed record with enough of its evidence cut to fit."""
    for length in _LENGTHS:
        short = record | {
            "reason": _cut(record["reason"], length),
            "reports": [_cut_report(report, length) for report in record["reports"]],
            "detail": _cut_texts(record["detail"], length),
        }
        if fits(short):
            return short
    # Too many small reports or results: their totals are in the record itself.
    note = f"{len(record['reports']):,} reports {_LEFT_OUT}"
    short["reports"], short["reason"] = [], "; ".join(filter(None, [short["reason"], note]))
    return short if fits(short) else short | {"detail": None}


def shorten_report(
    report: dict[str, Any], fits: Callable[[dict[str, Any]], bool]
) -> dict[str, Any] | None:
    """Return a packed report with enough of its evidence cut to fit; None if that is impossible."""
    several = (_cut_report(report, length) for length in _LENGTHS)
    return next((short for short in several if fits(short)), None)


def _cut_report(report: dict[str, Any], length: int) -> dict[str, Any]:
    return report | {
        "results": {name: _cut_result(one, length) for name, one in report["results"].items()},
        "case": {
            name: value if name in _NAMING else _cut(value, length)
            for name, value in report["case"].items()
        },
        "error": _cut(report["error"], length),
    }


def _cut_result(result: Any, length: int) -> Any:
    if isinstance(result, dict):
        return result | {name: _cut(result[name], length) for name in _EVIDENCE}
    return [_cut(value, length) for value in result] if isinstance(result, list) else result


def _cut(value: Any, length: int) -> Any:
    """Return a value, or its start as text with a note of how much was cut."""
    if isinstance(value, str):
        more = len(value) - length
        return f"{value[:length]}… ({more:,} more characters {_LEFT_OUT})" if more > 0 else value
    if isinstance(value, bytes):
        more = len(value) - length
        note = f"… ({more:,} more bytes {_LEFT_OUT})".encode()
        return value[:length] + note if more > 0 else value
    if not isinstance(value, list | dict):
        return value
    text = ""
    for piece in json.JSONEncoder(ensure_ascii=False, default=repr).iterencode(value):
        text += piece
        if len(text) > length:
            return f"{text[:length]}… (the rest of {_count(value):,} values {_LEFT_OUT})"
    return value


def _cut_texts(value: Any, length: int) -> Any:
    """Return a value of the same shape with its long texts cut."""
    if isinstance(value, list):
        return [_cut_texts(item, length) for item in value]
    if isinstance(value, dict):
        return {key: _cut_texts(item, length) for key, item in value.items()}
    return _cut(value, length)


def _count(value: Any) -> int:
    count, rest = 0, [value]
    while rest:
        one = rest.pop()
        if isinstance(one, list):
            rest.extend(one)
        elif isinstance(one, dict):
            rest.extend(one.values())
        else:
            count += 1
    return count


SYNC_SECONDS = 1.0


_BLOCK = 1 << 16


_LOCK_TRIES = 10


LONGEST_LINE = 24 * MEGABYTE


"""Written or read; a record that would be longer is written without some of its evidence."""


_MARK_BYTES = 200


_LINK = re.compile(rb',"link":"([0-9a-f]{16})"\}\n\Z')


_LINK_BYTES = len(b',"link":"0123456789abcdef"}\n')


class TooLargeError(Exception):
    """An entry too large to be read again; nothing of it was written."""


class Span(NamedTuple):
    """The position of a line in the journal."""

    offset: int
    length: int


class Journal:
    """The only writer of a journal; opening it removes a torn last line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            # A link would redirect writes and truncation to another file.
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._file = os.open(path, flags, 0o644)
        except OSError as error:
            if path.is_symlink():
                raise InputError("is a symbolic link", where=str(path)) from None
            raise InfrastructureError(
                f"cannot be written: {error.strerror}", where=str(path)
            ) from None
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            os.close(self._file)
            raise InputError("is not a file", where=str(path))
        keep_private(self._file)
        self._lock()
        self.torn = _cut_torn_line(self._file)
        self.end = os.lseek(self._file, 0, os.SEEK_END)
        last = os.pread(self._file, _LINK_BYTES, max(0, self.end - _LINK_BYTES))
        found = _LINK.search(last)
        # None for a journal that was started without links.
        self.link = b"" if self.end == 0 else found and found[1]
        self._synced_at = time.monotonic()
        self._unsynced = False

    def _lock(self) -> None:
        # Retried briefly, because a reader that checks for a writer holds the lock for a moment.
        for _ in range(_LOCK_TRIES):
            try:
                return fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                time.sleep(0.02)
        release(self._file)
        os.close(self._file)
        raise InputError(
            "another process is writing this run",
            where=str(self.path.parent),
            advice="wait for it to end, or start a new run with another --out",
        )

    def append(self, entry: dict[str, Any], *, is_plain: bool = False) -> Span:
        """Write one entry and return its position, once the kernel has it."""
        # Checked before encoding, which takes as much memory again.
        if not is_plain and is_too_large(entry):
            raise TooLargeError
        line = encode_bytes(entry, is_plain=is_plain)
        if len(line) + _LINK_BYTES > LONGEST_LINE or has_too_many_parts(line):
            raise TooLargeError
        if self.link is None:
            line += b"\n"
        else:
            self.link = _next_link(self.link, line)
            line = b'%b,"link":"%b"}\n' % (line[:-1], self.link)
        span = Span(self.end, len(line))
        try:
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            raise InfrastructureError(
                f"a result could not be written: {error.strerror}",
                where=str(self.path),
                advice="make room on the disk, then continue with: assay runs resume "
                + str(self.path.parent),
            ) from None
        self.end += len(line)
        self._unsynced = True
        if time.monotonic() - self._synced_at >= SYNC_SECONDS:
            self.sync()
        return span

    def sync(self) -> None:
        """Flush written data to disk."""
        if self._unsynced:
            os.fdatasync(self._file)
            self._unsynced = False
        self._synced_at = time.monotonic()

    def read(self, span: Span) -> dict[str, Any]:
        return _entry(os.pread(self._file, span.length, span.offset), self.path, span.offset)

    def close(self) -> None:
        self.sync()
        release(self._file)
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class JournalReader:
    """Reads single lines of a journal that may still be growing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._closing = ExitStack()
        self._file = self._closing.enter_context(open_regular(path, follow=False))

    def read(self, span: tuple[int, int]) -> dict[str, Any]:
        offset, length = span
        if length > LONGEST_LINE:
            raise _too_long(self.path, offset)
        self._file.seek(offset)
        return _entry(self._file.read(length), self.path, offset)

    def close(self) -> None:
        self._closing.close()


def read_entries(path: Path, start: int = 0) -> Iterator[tuple[Span, dict[str, Any]]]:
    """Yield every complete entry from an offset on; a torn last line is not an entry."""
    offset = start
    with open_regular(path, follow=False) as file:
        file.seek(start)
        for line in _lines(file, path):
            if not line.endswith(b"\n"):
                return
            yield Span(offset, len(line)), _entry(line, path, offset)
            offset += len(line)


def _lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    while line := file.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise _too_long(path, file.tell() - len(line))
        yield line


def _too_long(path: Path, offset: int) -> InputError:
    what = f"the line at byte {offset} is longer than {LONGEST_LINE:,} bytes"
    return InputError(what, where=str(path), advice="restore the file, or run again")


def _next_link(link: bytes, body: bytes) -> bytes:
    return blake2b(link + body, digest_size=8).hexdigest().encode()


def check_links(path: Path) -> str:
    """Return the link of the last complete line; raise an InputError where the chain breaks.

    A journal without links has an empty one.
    """
    link, offset, is_linked = b"", 0, True
    with open_regular(path, follow=False) as file:
        for line in _lines(file, path):
            if not line.endswith(b"\n"):
                break
            found = _LINK.search(line, max(0, len(line) - _LINK_BYTES))
            if offset == 0:
                is_linked = found is not None
            if is_linked:
                if found is None or found[1] != _next_link(link, line[: found.start()] + b"}"):
                    raise make_damage_error(path, offset)
                link = found[1]
            elif found is not None:
                raise make_damage_error(path, offset)
            offset += len(line)
    return link.decode()


def complete_size(path: Path) -> int:
    """Return the size of a journal without a torn last line; raise InputError if it is missing."""
    try:
        with open_regular(path, follow=False) as file:
            return _complete_size(file.fileno())
    except InputError as error:
        error.where = error.where or str(path)
        raise
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None


def mark_at(path: Path, offset: int) -> bytes:
    """Return the bytes before an offset, used to recognize a journal."""
    start = max(0, offset - _MARK_BYTES)
    with open_regular(path, follow=False) as file:
        file.seek(start)
        return file.read(offset - start)


def count_torn_bytes(path: Path) -> int:
    """Return how many bytes follow the last complete line."""
    return path.stat().st_size - complete_size(path)


_LONGEST_TORN = 256 * MEGABYTE


def _complete_size(file: int) -> int:
    end = size = os.fstat(file).st_size
    while end > 0:
        if size - end > _LONGEST_TORN:
            # No crash leaves that much: the file was made by someone, perhaps as a sparse file.
            raise InputError(f"its last {_LONGEST_TORN:,} bytes are not a line of a journal")
        start = max(0, end - _BLOCK)
        newline = os.pread(file, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


def _cut_torn_line(file: int) -> int:
    """Remove everything after the last newline and return the number of bytes removed."""
    size, complete = os.fstat(file).st_size, _complete_size(file)
    if size > complete:
        os.ftruncate(file, complete)
    return size - complete


def _entry(line: bytes, path: Path, offset: int) -> dict[str, Any]:
    if has_too_many_parts(line):
        raise make_damage_error(path, offset)
    try:
        entry = decode_value(line)
    except ValueError as error:
        entry = error
    if not isinstance(entry, dict):
        raise make_damage_error(path, offset)
    return entry


def make_damage_error(path: Path, offset: int) -> InputError:
    """Return the error for a line that was changed after Assay wrote it."""
    return InputError(
        f"the journal is damaged at byte {offset}: a line was edited, removed or moved there",
        where=str(path),
        advice=f"restore the file, or run again what follows: truncate -s {offset} {path} && "
        f"assay runs resume {path.parent}",
    )
