"""The Parquet report: one row per report, built from the journal's compact form, and its reader."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterator
from itertools import compress
from json.encoder import encode_basestring_ascii
from operator import itemgetter, not_
from pathlib import Path
from typing import Any, Literal, NamedTuple

from assay.errors import InputError
from assay.extras import require_extra
from assay.model import AT_DEFAULT, INHERITED, VerifierReport, decode_value, encode_value
from assay.runs import Run


class Column(NamedTuple):
    """A column of the file.

    Its value is that of a key of the packed record or report. Columns without a source are
    computed in `ColumnGroup`.
    """

    name: str
    type: Literal["string", "float64", "int32", "bool_"] = "string"
    source: Literal["record", "report"] | None = None
    key: str = ""


# To add a column that a record or report has, add a row here; one that is computed also needs its
# value in `add`. A new key of records must be optional in `model/packing.py`: older runs must open.
COLUMNS = (
    Column("record_id", source="record", key="id"),
    Column("subject", source="record", key="subject"),
    Column("record_outcome", source="record", key="outcome"),
    Column("record_reason", source="record", key="reason"),
    Column("sample", "int32"),
    Column("id", source="report", key="id"),
    Column("group", source="report", key="group"),
    Column("type", source="report", key="type"),
    Column("timestamp", source="report", key="timestamp"),
    Column("original_checkpoint", source="report", key="original_checkpoint"),
    Column("original_group", source="report", key="original_group"),
    Column("error", source="report", key="error"),
    Column("duration", "float64", source="report", key="duration"),
    Column("outcome", source="report", key="outcome"),
    Column("score", "float64", source="report", key="score"),
    Column("passed", "bool_"),
    Column("case"),
    Column("results"),
    Column("originals"),
)
_RESULT_TYPES = {
    "attribute": "string",
    "actual": "string",
    "expected": "string",
    "diff": "string",
    "is_correct": "bool_",
    "weight": "float64",
}

_OF_RECORD = [column for column in COLUMNS if column.source == "record"]
_OF_REPORT = [column for column in COLUMNS if column.source == "report"]
_read_record = itemgetter(*(column.key for column in _OF_RECORD))
_read_report = itemgetter(*(column.key for column in _OF_REPORT))
# The order of the values of a row in `ColumnGroup`.
_IN_ROW = (*(column.name for column in (*_OF_RECORD, *_OF_REPORT)), "sample", "case")
_TEXT = [column.name for column in (*_OF_RECORD, *_OF_REPORT) if column.type == "string"]


def file_schema() -> Any:
    """Return the schema of the file."""
    import pyarrow as pa

    result = pa.struct([(name, getattr(pa, kind)()) for name, kind in _RESULT_TYPES.items()])
    return pa.schema(
        (column.name, pa.list_(result) if column.name == "results" else getattr(pa, column.type)())
        for column in COLUMNS
    )


class ColumnGroup:
    """The rows of one row group; they are converted to columns together, which is much faster."""

    def __init__(self) -> None:
        self._rows: list[tuple[Any, ...]] = []
        self._columns: dict[str, list[Any]] = {}
        # Of all rows one after the other, the attributes of each up to its end.
        self._attribute: list[str] = []
        self._results: list[Any] = []
        self._ends = [0]

    def add(self, record: dict[str, Any], sample: int, report: dict[str, Any]) -> None:
        case = encode_value(report["case"])
        self._rows.append((*_read_record(record), *_read_report(report), sample, case))
        results = report["results"]
        self._attribute += results
        self._results += results.values()
        self._ends.append(len(self._attribute))

    def to_batch(self, schema: Any) -> Any:
        """Return the group as a record batch of arrow."""
        self._columns = dict(zip(_IN_ROW, map(list, zip(*self._rows, strict=True)), strict=True))
        self._columns["passed"] = [outcome == "passed" for outcome in self._columns["outcome"]]
        self._columns["originals"] = [None] * len(self._rows)
        # Before anything is set aside: values are JSON text, which holds every character.
        flat = self._flat()
        try:
            return self._batch(schema, flat)
        except UnicodeEncodeError:
            self._set_surrogates_aside()
            return self._batch(schema, flat)

    def _batch(self, schema: Any, flat: tuple[list[Any], ...]) -> Any:
        import pyarrow as pa

        kind = schema.field("results").type
        children = [
            pa.array(column, field.type)
            for column, field in zip(flat, kind.value_type.fields, strict=True)
        ]
        structs = pa.StructArray.from_arrays(children, fields=kind.value_type.fields)
        results = pa.ListArray.from_arrays(pa.array(self._ends, pa.int32()), structs)
        columns = [
            results if field.name == "results" else pa.array(self._columns[field.name], field.type)
            for field in schema
        ]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def _flat(self) -> tuple[list[Any], ...]:
        """Return the columns of results: attribute, actual, expected, diff, is_correct, weight."""
        number = len(self._attribute)
        # Most attributes say nothing and have their text ready; few have more than two values.
        actual: list[Any] = list(map(_DEFAULT_TEXT.get, self._attribute))
        self._set_inherited(actual)
        expected, diff = actual.copy(), ["null"] * number
        is_correct: list[bool | None] = [None] * number
        weight = [0.0] * number
        for place in compress(range(number), self._results):
            result = self._results[place]
            if type(result) is list:
                actual[place], expected[place] = _text(result[0]), _text(result[1])
                continue
            actual[place], expected[place] = _text(result["actual"]), _text(result["expected"])
            diff[place], is_correct[place] = _text(result["diff"]), result["is_correct"]
            weight[place] = result["weight"]
        return self._attribute, actual, expected, diff, is_correct, weight

    def _set_inherited(self, actual: list[Any]) -> None:
        """Fill in what results have from their case."""
        texts = {
            name: list(map(encode_basestring_ascii, self._columns[own]))
            for name, own in INHERITED.items()
        }
        row = 0
        for place in compress(range(len(actual)), map(not_, actual)):
            while place >= self._ends[row + 1]:
                row += 1
            if self._results[place] is None:
                actual[place] = texts[self._attribute[place]][row]

    def _set_surrogates_aside(self) -> None:
        """Store text that parquet cannot hold as JSON, with a readable substitute."""
        for row in range(len(self._rows)):
            originals: dict[str, Any] = {}
            for name in _TEXT:
                column = self._columns[name]
                if column[row] is not None and _SURROGATE.search(column[row]):
                    originals[name] = column[row]
                    column[row] = _SURROGATE.sub("\ufffd", column[row])
            span = slice(self._ends[row], self._ends[row + 1])
            names = self._attribute[span]
            if any(_SURROGATE.search(name) for name in names):
                originals["attributes"] = names
                self._attribute[span] = [_SURROGATE.sub("\ufffd", name) for name in names]
            if originals:
                self._columns["originals"][row] = encode_value(originals)


_SURROGATE = re.compile("[\ud800-\udfff]")


def _float_text(value: float) -> str:
    return repr(value) if math.isfinite(value) else encode_value(value)


# What `encode_value` gives for a scalar; nearly all values are, and it is slow to ask for each.
_SCALARS: dict[type, Callable[[Any], str]] = {
    str: encode_basestring_ascii,
    int: repr,
    float: _float_text,
    bool: {True: "true", False: "false"}.__getitem__,
    type(None): {None: "null"}.__getitem__,
}


def _text(value: Any) -> str:
    write = _SCALARS.get(type(value))
    return encode_value(value) if write is None else write(value)


_DEFAULT_TEXT = {name: _text(result.actual) for name, result in AT_DEFAULT.items()}


def restore_row(row: dict[str, Any]) -> dict[str, Any]:
    if row["originals"] is None:
        return row
    originals = decode_value(row["originals"])
    names = originals.pop("attributes", None)
    if names is not None:
        for result, name in zip(row["results"], names, strict=True):
            result["attribute"] = name
    return {**row, **originals}


GROUP_ROWS = 1_000


# Of the journal; what is read from it takes several times as much.
GROUP_BYTES = 2_000_000


_READ_ROWS = 64
# Files of versions with fewer columns are read too.
_NEEDED = {*VerifierReport.model_fields, "originals"}


def render(run: Run) -> Iterator[bytes]:
    """Yield the bytes of the file, a row group at a time."""
    require_extra("parquet", "a parquet report")
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
    require_extra("parquet", "a table of arrow")
    import pyarrow as pa

    schema = file_schema()
    batches = [group.to_batch(schema) for group in _groups(run)]
    return pa.Table.from_batches(batches, schema)


class _Pieces(io.RawIOBase):
    """An append-only file whose written content can be taken out."""

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


def _groups(run: Run) -> Iterator[ColumnGroup]:
    group, rows, size = ColumnGroup(), 0, 0
    for length, record in run.all_packed():
        for sample, report in enumerate(record["reports"], start=1):
            group.add(record, sample, report)
            rows += 1
        size += length
        if rows >= GROUP_ROWS or (rows and size >= GROUP_BYTES):
            yield group
            group, rows, size = ColumnGroup(), 0, 0
    if rows:
        yield group


def read_reports(path: Path) -> Iterator[VerifierReport]:
    """Yield the reports of a parquet file that Assay wrote, in order, a few in memory at a time."""
    require_extra("parquet", "reading a parquet report")
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
        if missing := _NEEDED - set(file.schema_arrow.names):
            raise InputError(
                f"is not a report of Assay: it has no column {min(missing)!r}",
                where=str(path),
            )
        for batch in file.iter_batches(batch_size=_READ_ROWS):
            for row in batch.to_pylist():
                yield VerifierReport.from_parquet_row(restore_row(row))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
