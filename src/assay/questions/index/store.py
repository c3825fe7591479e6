"""The index on disk: one sqlite file for symbols and postings, and sorted lists of identifiers."""

from __future__ import annotations

import json
import mmap
import sqlite3
from array import array
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from assay.errors import InfrastructureError
from assay.questions.index.indexer import layout
from assay.questions.index.ranking import Postings, prior, weigh
from assay.questions.index.symbols import Symbol
from assay.sandbox import write_whole

# Increased whenever the stored content or its collection changes.
SCHEMA = 2
SYMBOLS, WORDS, INSTALLED = "symbols.sqlite", "words.txt", "installed.txt"

_TABLES = (
    "CREATE TABLE symbols (id INTEGER PRIMARY KEY, path TEXT, kind TEXT, owner TEXT, data TEXT)",
    "CREATE TABLE names (name TEXT, id INTEGER, role TEXT, PRIMARY KEY (name, id, role))"
    " WITHOUT ROWID",
    "CREATE TABLE paths (path TEXT, id INTEGER, PRIMARY KEY (path, id)) WITHOUT ROWID",
    "CREATE TABLE terms (term TEXT PRIMARY KEY, places BLOB, weights BLOB) WITHOUT ROWID",
    "CREATE TABLE notes (name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID",
)
_OWN, _ALIAS, _PARAMETER = "own", "alias", "parameter"


def write_store(folder: Path, symbols: list[Symbol], summary: dict[str, Any]) -> None:
    """Write the symbols so that a reader loads only what it asks for."""
    database = sqlite3.connect(folder / SYMBOLS)
    database.execute("PRAGMA synchronous = OFF")  # the folder gets its name only when it is whole
    with database:
        for table in _TABLES:
            database.execute(table)
        database.executemany(
            "INSERT INTO symbols VALUES (?, ?, ?, ?, ?)",
            (
                (number, one.path, one.kind, one.owner, one.model_dump_json(exclude_defaults=True))
                for number, one in enumerate(symbols)
            ),
        )
        database.executemany("INSERT OR IGNORE INTO names VALUES (?, ?, ?)", _names(symbols))
        database.executemany("INSERT OR IGNORE INTO paths VALUES (?, ?)", _paths(symbols))
        database.executemany(
            "INSERT INTO terms VALUES (?, ?, ?)",
            (
                (term, found.places.tobytes(), found.weights.tobytes())
                for term, found in sorted(weigh(symbols).items())
            ),
        )
        priors = array("f", map(prior, symbols)).tobytes()
        notes = {"summary": json.dumps(summary), "priors": priors}
        database.executemany("INSERT INTO notes VALUES (?, ?)", notes.items())
        database.execute("CREATE INDEX members ON symbols (owner)")
    database.close()


def _names(symbols: list[Symbol]) -> Iterator[tuple[str, int, str]]:
    for number, symbol in enumerate(symbols):
        spaced = symbol.kind in ("command", "option")
        for path in (symbol.path, *symbol.paths):
            yield path.rpartition(" " if spaced else ".")[2], number, _OWN
        for alias in (*symbol.aliases, *filter(None, [symbol.serialized_as])):
            yield alias, number, _ALIAS
        if not symbol.foreign and symbol.name != "__init__":
            for parameter in symbol.parameters or ():
                yield parameter.name, number, _PARAMETER


def _paths(symbols: list[Symbol]) -> Iterator[tuple[str, int]]:
    """Members are reached through their owner, in whose bases they may stand; they need no rows."""
    for number, symbol in enumerate(symbols):
        if not symbol.owner or symbol.kind in ("command", "option", "class", "exception"):
            for path in (symbol.path, *symbol.paths):
                yield path, number


class Store:
    """Reads what `write_store` wrote."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            self._database = sqlite3.connect(
                f"file:{folder / SYMBOLS}?mode=ro&immutable=1", uri=True, check_same_thread=False
            )
            self.summary: dict[str, Any] = json.loads(self._note("summary"))
        except sqlite3.Error as error:
            raise InfrastructureError(
                f"the index cannot be read: {error}",
                where=str(folder),
                advice="remove the folder; it is built again",
            ) from None
        self.postings = lru_cache(maxsize=1024)(self._postings)
        self.symbol = lru_cache(maxsize=16384)(self._symbol)

    def close(self) -> None:
        self._database.close()

    def __len__(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM symbols").fetchone()[0])

    def _note(self, name: str) -> Any:
        row = self._database.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
        return row[0]

    def priors(self) -> array[float]:
        return array("f", self._note("priors"))

    def _postings(self, term: str) -> Postings | None:
        row = self._database.execute(
            "SELECT places, weights FROM terms WHERE term = ?", (term,)
        ).fetchone()
        return None if row is None else Postings(array("I", row[0]), array("f", row[1]))

    def _symbol(self, number: int) -> Symbol:
        row = self._database.execute("SELECT data FROM symbols WHERE id = ?", (number,)).fetchone()
        return Symbol.model_validate_json(row[0])

    def by_path(self, path: str) -> list[Symbol]:
        """Return what can be imported from exactly this path."""
        return self._all("SELECT id FROM paths WHERE path = ? ORDER BY id", (path,))

    def by_name(self, name: str) -> list[Symbol]:
        """Return what has this as its last component or as an alias."""
        return self._all(
            "SELECT DISTINCT id FROM names WHERE name = ? AND role != 'parameter' ORDER BY id",
            (name,),
        )

    def with_parameter(self, name: str) -> list[Symbol]:
        """Functions, methods and classes that take a parameter of this name."""
        return self._all(
            "SELECT id FROM names WHERE name = ? AND role = 'parameter' ORDER BY id", (name,)
        )

    def by_owner(self, owner: str) -> list[Symbol]:
        """Return what a class, or a command, itself adds."""
        return self._all("SELECT id FROM symbols WHERE owner = ? ORDER BY id", (owner,))

    def of_kind(self, kind: str) -> list[Symbol]:
        return self._all("SELECT id FROM symbols WHERE kind = ? ORDER BY path", (kind,))

    def has_name(self, name: str) -> bool:
        """Return whether anything at all is called that, aliases and parameters included."""
        row = self._database.execute("SELECT 1 FROM names WHERE name = ? LIMIT 1", (name,))
        return row.fetchone() is not None

    def _all(self, query: str, values: Iterable[str]) -> list[Symbol]:
        rows = self._database.execute(query, tuple(values)).fetchall()
        return [self.symbol(number) for (number,) in rows]

    @cached_property
    def words(self) -> SortedWords:
        """The identifiers in the files of the target."""
        return SortedWords(self._folder / WORDS)

    @cached_property
    def installed_words(self) -> SortedWords:
        """The same for all that is installed; so much that it is only read when asked for."""
        path = self._folder / INSTALLED
        if not path.exists():
            found = layout.scan_identifiers(layout.sources_below(self.summary["installed"]))
            write_whole(path, layout.lines_of(found).decode())
        return SortedWords(path)


class SortedWords:
    """A file of sorted lines, read by binary search."""

    def __init__(self, path: Path) -> None:
        size = path.stat().st_size if path.exists() else 0
        if not size:
            self._data: mmap.mmap | bytes = b""
            return
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def __contains__(self, word: str) -> bool:
        wanted, data = word.encode(), self._data
        low, high = 0, len(data)
        while low < high:
            start = data.rfind(b"\n", 0, (low + high) // 2) + 1
            end = data.find(b"\n", start)
            line = data[start:end]
            if line == wanted:
                return True
            if line < wanted:
                low = end + 1
            else:
                high = start
        return False
