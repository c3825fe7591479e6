"""File formats: converts structures to bytes and back, deterministically."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from assay.documents import LARGEST_DOCUMENT, MEGABYTE, MOST_PARTS, has_too_many_parts
from assay.errors import InputError
from assay.extras import require_extra
from assay.model import check_value
from assay.tracebacks import describe

MOST_UNPACKED = 256 << 20
"""Bytes that a compressed file, or an archive, may come to."""
LARGEST_FILE = 128 << 20
"""Bytes of a file of a problem, also unpacked, which Assay itself holds."""


class FileType(StrEnum):
    TEXT = "text"
    BINARY = "binary"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    TSV = "tsv"
    SQLITE = "sqlite"
    PARQUET = "parquet"
    YAML = "yaml"


class Compression(StrEnum):
    NONE = "none"
    GZIP = "gzip"
    BZIP2 = "bzip2"


_TYPES = {
    ".json": FileType.JSON,
    ".jsonl": FileType.JSONL,
    ".ndjson": FileType.JSONL,
    ".csv": FileType.CSV,
    ".tsv": FileType.TSV,
    ".yaml": FileType.YAML,
    ".yml": FileType.YAML,
    ".parquet": FileType.PARQUET,
    ".sqlite": FileType.SQLITE,
    ".sqlite3": FileType.SQLITE,
    ".db": FileType.SQLITE,
    ".bin": FileType.BINARY,
    ".tar": FileType.BINARY,
    ".tgz": FileType.BINARY,
    ".tbz2": FileType.BINARY,
    ".zip": FileType.BINARY,
}
_PACKINGS = {".gz": Compression.GZIP, ".bz2": Compression.BZIP2}


def signature(path: Path) -> tuple[FileType, Compression]:
    """Return type and compression from a file name; text by default."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packing = _PACKINGS.get(suffixes[-1]) if suffixes else None
    if packing is None:
        return _TYPES.get(suffixes[-1] if suffixes else "", FileType.TEXT), Compression.NONE
    inner = _TYPES.get(suffixes[-2], FileType.TEXT) if len(suffixes) > 1 else FileType.BINARY
    # An archive is one thing; nobody wants to say what the tar in it holds.
    return (inner, Compression.NONE if inner is FileType.BINARY else packing)


def compress(data: bytes, compression: Compression) -> bytes:
    """Compress without a timestamp, which gzip would write."""
    if compression is Compression.GZIP:
        return gzip.compress(data, mtime=0)
    return bz2.compress(data) if compression is Compression.BZIP2 else data


def decompress(data: bytes, compression: Compression, limit: int | None = None) -> bytes:
    """Return the decompressed data; raise InputError if it is damaged or too large."""
    limit = MOST_UNPACKED if limit is None else limit
    if compression is Compression.NONE:
        return data
    try:
        with _open(data, compression) as file:
            content: bytes = file.read(limit + 1)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise InputError(f"is not {compression}: {error}") from None
    if len(content) > limit:
        raise InputError(f"unpacks to more than {limit >> 20} MiB")
    return content


def _open(data: bytes, compression: Compression) -> Any:
    stream = io.BytesIO(data)
    return gzip.open(stream) if compression is Compression.GZIP else bz2.open(stream)


def write_content(content: Any, file_type: FileType) -> bytes:
    """Return the bytes of a file; text and bytes are written as they are, whatever the type."""
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode("utf-8", "surrogatepass")
    if file_type in (FileType.TEXT, FileType.BINARY):
        if isinstance(content, list | dict) or content is None:
            raise InputError(
                f"{file_type} cannot be written from {type(content).__name__}",
                advice="give text, or a file_type that has structure, such as json or csv",
            )
        return str(content).encode()
    return _WRITERS[file_type](content)


def parse_content(data: bytes, file_type: FileType) -> Any:
    """Return the content of a file; raise InputError or ValueError if it is not of that type."""
    try:
        return check_value(_PARSERS[file_type](data))
    except RecursionError:
        raise InputError("is nested too deep") from None


_LARGEST_TEXT = 64 * MEGABYTE
_SEPARATORS = {FileType.CSV: b",", FileType.TSV: b"\t"}


def parse_small(data: bytes, file_type: FileType) -> Any:
    """Return the content of a file of the user, as `parsed`, if it takes at most 500 MB.

    Raise InputError if it may take more: it can still be read as text, or as bytes.
    """
    if file_type is FileType.BINARY:
        return data
    limit = _LARGEST_TEXT if file_type is FileType.TEXT else LARGEST_DOCUMENT
    if len(data) > limit:
        raise InputError(f"is larger than {limit:,} bytes")
    if file_type in (FileType.JSON, FileType.JSONL):
        is_too_much = has_too_many_parts(data) or data.count(b"\n") > MOST_PARTS
    elif separator := _SEPARATORS.get(file_type):
        is_too_much = sum(map(data.count, (separator, b"\n", b"\r"))) > MOST_PARTS
    elif file_type is FileType.PARQUET:
        is_too_much = not _is_small_parquet(data)
    elif file_type is FileType.SQLITE:
        from assay.submissions.databases import has_more_cells

        is_too_much = has_more_cells(data, MOST_PARTS, LARGEST_DOCUMENT)
    else:
        is_too_much = False
    if is_too_much:
        raise InputError(f"has more than {MOST_PARTS:,} parts, or is damaged")
    return parse_content(data, file_type)


def _json_bytes(content: Any) -> bytes:
    return json.dumps(content, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _json_lines_bytes(content: Any) -> bytes:
    items = content if isinstance(content, list) else [content]
    lines = [json.dumps(item, ensure_ascii=False) + "\n" for item in items]
    return "".join(lines).encode("utf-8", "surrogatepass")


def _json_lines(data: bytes) -> list[Any]:
    return [json.loads(line) for line in data.decode().split("\n") if line.strip()]


def _yaml_bytes(content: Any) -> bytes:
    import yaml

    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    return text.encode()


def _yaml(data: bytes) -> Any:
    import yaml

    from assay.documents import DocumentError, parse_yaml

    text = data.decode("utf-8-sig")
    if not text.strip():
        return None
    try:
        # Only counts: aliases can make a few lines a million parts, which no loader would notice.
        parse_yaml(text)
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except DocumentError as error:
        raise InputError(f"is not YAML that can be read: {error}") from None
    except yaml.YAMLError as error:
        raise InputError(f"is not YAML: {error}") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        # What an explicit tag such as `!!bool x` or `!!timestamp x` ends in.
        raise InputError(f"is not YAML: {describe(error)}") from None


def _table_bytes(content: Any, delimiter: str) -> bytes:
    """Rows as mappings, under a header of all their keys, or as lists, as they are."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    rows = _rows(content)
    if rows and isinstance(rows[0], Mapping):
        columns = _columns(rows)
        writer.writerow(columns)
        rows = [[row.get(column, "") for column in columns] for row in rows]
    writer.writerows([_cell(value) for value in row] for row in rows)
    return stream.getvalue().encode("utf-8", "surrogatepass")


def _rows(content: Any) -> list[Any]:
    if not isinstance(content, list):
        raise InputError(f"a table is a list of rows, not {type(content).__name__}")
    kinds = {isinstance(row, Mapping) for row in content}
    if len(kinds) > 1 or not all(isinstance(row, Mapping | list) for row in content):
        raise InputError("the rows of a table are all mappings or all lists")
    return content


def _columns(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(column for row in rows for column in row))


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def _table(data: bytes, delimiter: str) -> list[Any]:
    reader = csv.reader(io.StringIO(data.decode(), newline=""), delimiter=delimiter, strict=True)
    try:
        rows = [row for row in reader if row]
    except csv.Error as error:
        raise InputError(f"is not a table: {error}") from None
    if not rows:
        return []
    header, *lines = rows
    if len(set(header)) < len(header) or any(len(line) != len(header) for line in lines):
        # No mapping holds it without loss; the lines do.
        return rows
    return [dict(zip(header, line, strict=True)) for line in lines]


def _parquet_bytes(content: Any) -> bytes:
    require_extra("parquet", "a parquet file")
    import pyarrow
    from pyarrow import parquet

    sink = pyarrow.BufferOutputStream()
    try:
        parquet.write_table(pyarrow.Table.from_pylist(_rows(content)), sink)
    except (pyarrow.ArrowException, AttributeError, TypeError, ArithmeticError) as error:
        raise InputError(f"cannot be written as parquet: {error}") from None
    return bytes(sink.getvalue().to_pybytes())


def _parquet(data: bytes) -> Any:
    require_extra("parquet", "a parquet file")
    import pyarrow
    from pyarrow import parquet

    try:
        return parquet.read_table(pyarrow.BufferReader(data)).to_pylist()
    except (pyarrow.ArrowException, OSError, ArithmeticError) as error:
        raise InputError(f"is not parquet: {error}") from None


_PARQUET_TRIAL = """
import resource, sys
memory, parts = sys.argv[1:3]
sys.path[:] = sys.argv[3:]
import pyarrow
from pyarrow import parquet
pyarrow.set_cpu_count(1)
pyarrow.set_io_thread_count(1)
data = sys.stdin.buffer.read()
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(memory),) * 2)
resource.setrlimit(resource.RLIMIT_CPU, (10, 11))
rows = parquet.read_table(pyarrow.BufferReader(data), use_threads=False).to_pylist()
left, rest = int(parts), [rows]
while rest and left > 0:
    one = rest.pop()
    if isinstance(one, (list, dict)):
        left -= len(one) + 1
        rest.extend(one.values() if isinstance(one, dict) else one)
sys.exit(left <= 0)
"""
_TRIAL_MEMORY = 256 << 20


@lru_cache(maxsize=64)
def _is_small_parquet(data: bytes) -> bool:
    """Return whether a process with limits can read a table.

    A few bytes may represent billions of rows, and some damage makes pyarrow end its process.
    """
    require_extra("parquet", "a parquet file")
    done = subprocess.run(  # noqa: S603 - this interpreter and a constant program
        [
            sys.executable,
            "-I",
            "-c",
            _PARQUET_TRIAL,
            str(_TRIAL_MEMORY),
            str(MOST_PARTS),
            *sys.path,
        ],
        input=data,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode == 0


def _sqlite_bytes(content: Any) -> bytes:
    from assay.submissions.databases import write_database

    return write_database(content)


def _sqlite(data: bytes) -> Any:
    from assay.submissions.databases import read_database

    return read_database(data)


_WRITERS: dict[FileType, Callable[[Any], bytes]] = {
    FileType.JSON: _json_bytes,
    FileType.JSONL: _json_lines_bytes,
    FileType.YAML: _yaml_bytes,
    FileType.CSV: lambda content: _table_bytes(content, ","),
    FileType.TSV: lambda content: _table_bytes(content, "\t"),
    FileType.PARQUET: _parquet_bytes,
    FileType.SQLITE: _sqlite_bytes,
}
_PARSERS: dict[FileType, Callable[[bytes], Any]] = {
    FileType.TEXT: bytes.decode,
    FileType.BINARY: bytes,
    FileType.JSON: json.loads,
    FileType.JSONL: _json_lines,
    FileType.YAML: _yaml,
    FileType.CSV: lambda data: _table(data, ","),
    FileType.TSV: lambda data: _table(data, "\t"),
    FileType.PARQUET: _parquet,
    FileType.SQLITE: _sqlite,
}
