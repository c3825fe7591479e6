"""Converts SQLite files to and from `{"tables": {name: rows}}`, in memory."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

from assay.errors import InputError

_LONGEST_CELL = 64 << 20


def write_database(content: Any) -> bytes:
    """Return the file of a database with these tables; the same tables give the same bytes."""
    tables = _tables(content)
    if not tables:
        # To SQLite an empty file is an empty database, and it writes none itself.
        return b""
    with closing(sqlite3.connect(":memory:")) as database:
        for name, payload in tables.items():
            columns, rows = _table(name, payload)
            try:
                _fill(database, name, columns, rows)
            except (sqlite3.Error, OverflowError) as error:
                raise InputError(f"the table {name!r} cannot be made: {error}") from None
        database.commit()
        return bytes(database.serialize())


def read_database(data: bytes) -> dict[str, Any]:
    """Return the tables of a database file, rows as mappings."""
    with _open_database(data) as database:
        return {"tables": {name: _read_table(database, name) for name in _names(database)}}


def has_more_cells(data: bytes, cells: int, size: int) -> bool:
    """Return whether a database has more cells or bytes than these limits.

    Generated columns are not stored in the file, so its size says little.
    """
    with _open_database(data) as database:
        for name in _names(database):
            for row in database.execute(f"SELECT * FROM {_quote(name)}"):  # noqa: S608 - a quoted name
                cells -= len(row) + 1
                size -= sum(len(cell) for cell in row if isinstance(cell, str | bytes))
                if cells < 0 or size < 0:
                    return True
    return False


@contextmanager
def _open_database(data: bytes) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as database:
        try:
            if data:
                database.deserialize(data)
            # Functions in the schema of an untrusted file must not reach outside it or create huge
            # values.
            database.execute("PRAGMA trusted_schema = OFF")
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_CELL)
            database.row_factory = sqlite3.Row
            yield database
        except (sqlite3.Error, OverflowError) as error:
            raise InputError(f"is not a SQLite database: {error}") from None


def _names(database: sqlite3.Connection) -> list[str]:
    query = (
        "SELECT name FROM sqlite_master WHERE type = 'table' "
        "AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
    )
    return [name for (name,) in database.execute(query)]


def _read_table(database: sqlite3.Connection, name: str) -> Any:
    cursor = database.execute(f"SELECT * FROM {_quote(name)}")  # noqa: S608 - a quoted name
    rows = [dict(row) for row in cursor]
    return rows or {"columns": [column[0] for column in cursor.description], "rows": []}


def _tables(content: Any) -> Mapping[str, Any]:
    if isinstance(content, list):
        return {"table": content}
    if not isinstance(content, Mapping):
        raise InputError(
            f"a database is a mapping of tables, not {type(content).__name__}",
            advice='write {"tables": {"users": [{"id": 1, "name": "Ada"}]}}',
        )
    tables = content.get("tables")
    return tables if isinstance(tables, Mapping) else content


def _table(name: str, payload: Any) -> tuple[dict[str, str], list[Any]]:
    """Columns with their types, and rows, of a list of rows or of {"columns", "rows"}."""
    spec = payload if isinstance(payload, Mapping) else {"rows": payload}
    rows = spec.get("rows", [])
    if not isinstance(rows, list) or not all(isinstance(row, Mapping | list) for row in rows):
        raise InputError(f"the rows of table {name!r} must be a list of mappings")
    columns = spec.get("columns")
    if isinstance(columns, Mapping):
        return {str(column): str(kind) for column, kind in columns.items()}, rows
    if columns and not isinstance(columns, list):
        raise InputError(
            f"the columns of table {name!r} must be a list of names, or names with their types"
        )
    names = [str(column) for column in columns] if columns else _column_names(rows)
    if not names:
        raise InputError(
            f"the table {name!r} has no columns",
            advice='give it a row, or write {"columns": ["id"], "rows": []}',
        )
    return {column: _kind(_values(rows, names, column)) for column in names}, rows


def _column_names(rows: list[Any]) -> list[str]:
    return list(dict.fromkeys(key for row in rows if isinstance(row, Mapping) for key in row))


def _values(rows: list[Any], names: list[str], column: str) -> list[Any]:
    place = names.index(column)
    return [
        row.get(column) if isinstance(row, Mapping) else (row[place] if place < len(row) else None)
        for row in rows
    ]


def _kind(values: list[Any]) -> str:
    first = next((value for value in values if value is not None), None)
    if isinstance(first, int):
        return "INTEGER"
    if isinstance(first, float):
        return "REAL"
    return "BLOB" if isinstance(first, bytes) else "TEXT"


def _fill(
    database: sqlite3.Connection, name: str, columns: Mapping[str, str], rows: list[Any]
) -> None:
    names = list(columns)
    described = ", ".join(f"{_quote(column)} {kind}".strip() for column, kind in columns.items())
    database.execute(f"CREATE TABLE {_quote(name)} ({described})")
    marks = ", ".join("?" * len(names))
    statement = f"INSERT INTO {_quote(name)} VALUES ({marks})"  # noqa: S608 - a quoted name
    by_column = [[_to_stored(value) for value in _values(rows, names, column)] for column in names]
    database.executemany(statement, zip(*by_column, strict=True))


def _to_stored(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
