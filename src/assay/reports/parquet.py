"""The parquet report: one row per report, without loss, read back by `read_reports`.

Rows come straight from the journal's short form and leave in groups, so that a run of any size
takes little time and the same memory.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.model import VerifierReport
from assay.reports.columns import Group, file_schema, restored
from assay.runs import Run

GROUP_ROWS = 1_000
# Of the journal; what is read from it takes several times as much.
GROUP_BYTES = 2_000_000
_READ_ROWS = 64


def render(run: Run) -> Iterator[bytes]:
    """The bytes of the file, a row group at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = file_schema()
    pieces = _Pieces()
    with parquet.ParquetWriter(
        pa.PythonFile(pieces, mode="w"), schema, compression="zstd", use_dictionary=False
    ) as writer:
        for group in _groups(run):
            writer.write_batch(group.to_batch(schema))
            yield pieces.take()
    yield pieces.take()


def to_table(run: Run) -> Any:
    """Return all rows as a pyarrow table."""
    import pyarrow as pa

    schema = file_schema()
    batches = [group.to_batch(schema) for group in _groups(run)]
    return pa.Table.from_batches(batches, schema)


class _Pieces(io.RawIOBase):
    """A file that only grows, and of which what has been written can be taken away."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        self._size += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._size

    def take(self) -> bytes:
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken


def _groups(run: Run) -> Iterator[Group]:
    group, rows, size = Group(), 0, 0
    for length, record in run.all_packed():
        for sample, report in enumerate(record["reports"], start=1):
            group.add(record, sample, report)
            rows += 1
        size += length
        if rows >= GROUP_ROWS or (rows and size >= GROUP_BYTES):
            yield group
            group, rows, size = Group(), 0, 0
    if rows:
        yield group


def read_reports(path: Path) -> Iterator[VerifierReport]:
    """The reports of a parquet file that Assay wrote, in order, a few in memory at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(
            f"cannot be read as parquet: {_first_line(error)}",
            where=str(path),
            advice="write one with: assay report RUN --format parquet --out FILE",
        ) from None
    with file:
        if missing := set(file_schema().names) - set(file.schema_arrow.names):
            raise InputError(
                f"is not a report of Assay: it has no column {min(missing)!r}",
                where=str(path),
            )
        for batch in file.iter_batches(batch_size=_READ_ROWS):
            for row in batch.to_pylist():
                yield VerifierReport.from_parquet_row(restored(row))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
