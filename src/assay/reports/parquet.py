"""The parquet report: one row per report, without loss, read back by `read_reports`.

Rows come straight from the journal's short form and leave in groups, so that a run of any size
takes little time and the same memory.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Any

from assay import values
from assay.errors import InputError
from assay.reports.packed import judge
from assay.results import VerifierReport
from assay.runs import Run

GROUP_ROWS = 1_000
GROUP_CHARACTERS = 8_000_000
_READ_ROWS = 64

_REPORT_TEXT = (
    "id",
    "group",
    "type",
    "timestamp",
    "original_checkpoint",
    "original_group",
    "error",
)
_RECORD_TEXT = ("record_id", "subject", "record_outcome", "record_reason")


def render(run: Run) -> Iterator[bytes]:
    """The bytes of the file, a row group at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = _schema()
    pieces = _Pieces()
    with parquet.ParquetWriter(pa.PythonFile(pieces, mode="w"), schema) as writer:
        for group in _groups(run):
            writer.write_batch(group.to_batch(schema))
            yield pieces.take()
    yield pieces.take()


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


def _schema() -> Any:
    import pyarrow as pa

    text, number = pa.string(), pa.float64()
    result = pa.struct(
        [
            ("attribute", text),
            ("actual", text),
            ("expected", text),
            ("diff", text),
            ("is_correct", pa.bool_()),
            ("weight", number),
        ]
    )
    return pa.schema(
        [
            *((name, text) for name in _RECORD_TEXT),
            ("sample", pa.int32()),
            *((name, text) for name in _REPORT_TEXT),
            ("duration", number),
            ("outcome", text),
            ("score", number),
            ("passed", pa.bool_()),
            ("case", text),
            ("results", pa.list_(result)),
            ("originals", text),
        ]
    )


def _groups(run: Run) -> Iterator[_Group]:
    group = _Group()
    for row in run.rows():
        record = run.read_packed(row)
        for sample, report in enumerate(record["reports"], start=1):
            group.add(record, sample, report)
        if group.rows >= GROUP_ROWS or group.characters >= GROUP_CHARACTERS:
            yield group
            group = _Group()
    if group.rows:
        yield group


class _Group:
    """The rows of one row group, column by column."""

    def __init__(self) -> None:
        self.rows = 0
        self.characters = 0
        self._columns: dict[str, list[Any]] = {}
        self._text = [self._column(name) for name in _REPORT_TEXT]
        self._record = [self._column(name) for name in _RECORD_TEXT]
        self._judged = [self._column(name) for name in ("outcome", "score", "passed")]
        self._sample, self._duration = self._column("sample"), self._column("duration")
        self._case, self._originals = self._column("case"), self._column("originals")
        self._ends = [0]
        self._attribute: list[str] = []
        self._values: tuple[list[str], list[str], list[str]] = ([], [], [])
        self._is_correct: list[bool | None] = []
        self._weight: list[float] = []

    def _column(self, name: str) -> list[Any]:
        return self._columns.setdefault(name, [])

    def add(self, record: dict[str, Any], sample: int, report: dict[str, Any]) -> None:
        fields = (record["id"], record["subject"], record["outcome"], record["reason"])
        for column, field in zip(self._record, fields, strict=True):
            column.append(field)
        for column, name in zip(self._text, _REPORT_TEXT, strict=True):
            column.append(report[name])
        outcome, score = judge(report)
        for column, field in zip(self._judged, (outcome, score, outcome == "passed"), strict=True):
            column.append(field)
        self._sample.append(sample)
        self._duration.append(report["duration"])
        case = values.encode(report["case"])
        self._case.append(case)
        self._originals.append(None)
        self.characters += len(case)
        self._add_results(report["results"])
        self.rows += 1

    def _add_results(self, results: dict[str, Any]) -> None:
        actuals, expecteds, diffs = self._values
        for name, result in results.items():
            if type(result) is list:
                actual, expected = result
                diff = is_correct = None
                weight = 0.0
            else:
                actual, expected, diff = result["actual"], result["expected"], result["diff"]
                is_correct, weight = result["is_correct"], result["weight"]
            actual_text = _encode(actual)
            # Most expected values are what came; telling by identity of type keeps 1 apart from
            # True and 1.0, which are equal.
            same = type(actual) is str and type(expected) is str and actual == expected
            expected_text = actual_text if same else _encode(expected)
            diff_text = _encode(diff)
            self._attribute.append(name)
            actuals.append(actual_text)
            expecteds.append(expected_text)
            diffs.append(diff_text)
            self._is_correct.append(is_correct)
            self._weight.append(weight)
            self.characters += len(actual_text) + len(expected_text) + len(diff_text)
        self._ends.append(len(self._attribute))

    def to_batch(self, schema: Any) -> Any:
        """The group as a record batch of arrow."""
        try:
            return self._batch(schema)
        except UnicodeEncodeError:
            self._set_surrogates_aside()
            return self._batch(schema)

    def _batch(self, schema: Any) -> Any:
        import pyarrow as pa

        kind = schema.field("results").type
        flat = (self._attribute, *self._values, self._is_correct, self._weight)
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

    def _set_surrogates_aside(self) -> None:
        """Keep text that parquet cannot hold as JSON, and a readable stand-in in its place."""
        for row in range(self.rows):
            originals: dict[str, Any] = {}
            for name in (*_RECORD_TEXT, *_REPORT_TEXT):
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
                self._originals[row] = values.encode(originals)


_SURROGATE = re.compile("[\ud800-\udfff]")


def _encode(value: Any) -> str:
    if value is None:
        return "null"
    return encode_basestring_ascii(value) if type(value) is str else values.encode(value)


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
        if missing := set(_schema().names) - set(file.schema_arrow.names):
            raise InputError(
                f"is not a report of Assay: it has no column {min(missing)!r}",
                where=str(path),
            )
        for batch in file.iter_batches(batch_size=_READ_ROWS):
            for row in batch.to_pylist():
                yield VerifierReport.from_parquet_row(_restored(row))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _restored(row: dict[str, Any]) -> dict[str, Any]:
    if row["originals"] is None:
        return row
    originals = values.decode(row["originals"])
    names = originals.pop("attributes", None)
    if names is not None:
        for result, name in zip(row["results"], names, strict=True):
            result["attribute"] = name
    return {**row, **originals}
