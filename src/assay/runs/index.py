"""An index of a journal, for reading a run of any size in order without loading it into memory.

The index can always be rebuilt from the journal, and is when the two differ. An index that its
writer closed carries a seal, a digest of its content; without a correct seal it is not used. Like
the links of the journal, the seal detects accidents and careless edits; it is not a signature.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from assay.errors import InputError
from assay.findings import BaselineEntry
from assay.model import Outcome, SampleCounts, count_samples, is_packed_record
from assay.runs.journal import Span, complete_size, make_damage_error, mark_at, read_entries

INDEX_VERSION = 4

_SCHEMA = (
    """
CREATE TABLE cases (
    id TEXT PRIMARY KEY, place INTEGER, offset INTEGER, length INTEGER, outcome TEXT, code TEXT,
    fingerprint TEXT, score REAL, duration REAL, samples INTEGER, passed INTEGER, failed INTEGER,
    early INTEGER, repeated INTEGER, tries INTEGER, pass INTEGER
) WITHOUT ROWID
""",
    """
CREATE TABLE parts (
    id TEXT, key TEXT, fingerprint TEXT, offset INTEGER, length INTEGER, PRIMARY KEY (id, key)
) WITHOUT ROWID
""",
    "CREATE TABLE state (version INTEGER, covered INTEGER, mark BLOB, pass INTEGER, seal TEXT)",
)
_FLUSH_EVERY = 1_000
_LARGEST = 2**63 - 1
# Files that sqlite keeps beside a database; it would read a pipe or follow a link of this name.
_SIDE_FILES = ("-journal", "-wal", "-shm")
# Of an index beside its journal; a row is shorter than the line that it stands for.
_SMALLEST_LIMIT = 1_000_000


class DoubledCaseError(Exception):
    """A case id occurs twice; the message is the id."""


class Row(NamedTuple):
    """The data of a case that the index holds without reading its line."""

    id: str
    place: int
    span: Span
    outcome: Outcome
    code: str
    fingerprint: str
    score: float
    duration: float
    samples: SampleCounts
    tries: int
    """How often the case ran with this input; more than once after an error."""

    @property
    def entry(self) -> BaselineEntry | None:
        """Return the baseline entry of the case; errors are not findings."""
        if self.outcome not in (Outcome.FAILED, Outcome.UNVERIFIED):
            return None
        return BaselineEntry(case=self.id, code=self.code, fingerprint=self.fingerprint)


_OUTCOMES = {outcome.value: outcome for outcome in Outcome}
ROW_COLUMNS = (
    "id, place, offset, length, outcome, code, fingerprint, score, duration, "
    "samples, passed, failed, early, repeated, tries"
)
_INSERT = "INSERT INTO cases VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
# A case that ran again with the same input keeps the number of its tries.
_REPLACE = f"""{_INSERT} ON CONFLICT (id) DO UPDATE SET
    tries = CASE WHEN fingerprint = excluded.fingerprint THEN tries + 1 ELSE 1 END,
    place = excluded.place, offset = excluded.offset, length = excluded.length,
    outcome = excluded.outcome, code = excluded.code, fingerprint = excluded.fingerprint,
    score = excluded.score, duration = excluded.duration, samples = excluded.samples,
    passed = excluded.passed, failed = excluded.failed, early = excluded.early,
    repeated = excluded.repeated, pass = excluded.pass"""


class RunIndex:
    """Finds the lines of a journal by case, in the order of the cases."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        # Only the journal must survive a crash; the index can be rebuilt.
        database.execute("PRAGMA synchronous = OFF")
        self._passes = 0
        self._is_new = False
        self._pending: dict[str, tuple[Any, ...]] = {}

    @classmethod
    def for_writing(cls, folder: Path) -> RunIndex:
        """Return the up-to-date index beside the journal; rebuilt if it is unusable."""
        path, journal = folder / "index.sqlite", folder / "journal.jsonl"
        index = cls._open_writable(path, journal)
        if index is None:
            for each in (path, *_side_files(path)):
                with _failures_told(each):
                    each.unlink(missing_ok=True)
            index = cls._make(path)
        try:
            index._unseal()
            index.cover(journal)
        except BaseException:
            index.close()
            raise
        return index

    @classmethod
    def for_reading(cls, folder: Path) -> RunIndex:
        """Return a private copy of the index beside the journal if it is complete, else a new one.

        A copy, because a reader that holds the file open would stop a writer that resumes the run.
        """
        journal = folder / "journal.jsonl"
        private = cls._open_copy(folder / "index.sqlite", journal)
        if private is None or private.read_covered() != complete_size(journal):
            # An empty name is a private database that sqlite keeps on disk once it grows.
            private = cls._make("")
        try:
            private.cover(journal)
        except BaseException:
            private.close()
            raise
        return private

    @classmethod
    def _open_writable(cls, path: Path, journal: Path) -> RunIndex | None:
        """Return a writable index from a file, if it was closed properly and its seal is valid."""
        if any(map(_is_there, _side_files(path))):
            # A writer was killed, or someone put it there: the content could change while it is
            # checked.
            return None
        private = cls._open_copy(path, journal)
        if private is None:
            return None
        private.close()
        return cls(_connect(path.absolute().as_uri()))

    @classmethod
    def _open_copy(cls, path: Path, journal: Path) -> RunIndex | None:
        """Return a private copy of the index in a file if it is sealed and matches this journal."""
        if not _is_plain(path, max(_SMALLEST_LIMIT, 2 * complete_size(journal))):
            return None
        copy = _connect("")
        try:
            # Immutable: sqlite ignores locks and files beside it. If another process writes
            # meanwhile, the copy is not sealed.
            with contextlib.closing(
                _connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1")
            ) as database:
                database.backup(copy)
            if _is_believed(copy, journal):
                return cls(copy)
        except sqlite3.Error:
            pass
        copy.close()
        return None

    @classmethod
    def _make(cls, path: Path | str) -> RunIndex:
        database = _connect(str(path))
        # In one transaction: half an index must never be mistaken for a complete one.
        database.execute("BEGIN")
        for statement in _SCHEMA:
            # sqlite keeps the text as it is, and `_is_believed` compares it.
            database.execute(statement.strip())
        database.execute("INSERT INTO state VALUES (?, 0, x'', 0, NULL)", (INDEX_VERSION,))
        database.commit()
        return cls(database)

    def read_covered(self) -> int:
        """Return the journal offset up to which the index is complete."""
        (covered,) = self._database.execute("SELECT covered FROM state").fetchone()
        return int(covered)

    def cover(self, journal: Path, most: int | None = None) -> None:
        """Add the journal lines beyond the covered offset, or the next `most` bytes of them."""
        start = end = self.read_covered()
        if complete_size(journal) == end:
            return
        for span, entry in read_entries(journal, end):
            if not _is_sound(entry):
                raise make_damage_error(journal, span.offset)
            self.add(span, entry)
            end = span.offset + span.length
            if len(self._pending) >= _FLUSH_EVERY:
                self._flush()
            if most is not None and end - start >= most:
                break
        self.commit(end, mark_at(journal, end))

    def add(self, span: Span, entry: dict[str, Any]) -> None:
        """Add one line of the journal."""
        match entry["kind"]:
            case "record":
                self._add_case(span, entry["place"], entry["record"])
            case "part":
                self._database.execute(
                    "INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?, ?)",
                    (entry["id"], entry["key"], entry["fingerprint"], *span),
                )
            case "moved":
                self._flush()
                self._database.execute(
                    "UPDATE cases SET place = ? WHERE id = ?", (entry["place"], entry["id"])
                )
            case "dropped":
                self._flush()
                self._database.execute("DELETE FROM cases WHERE id = ?", (entry["id"],))
            case unknown:
                raise AssertionError(unknown)

    def _add_case(self, span: Span, place: int, record: dict[str, Any]) -> None:
        # Buffered and inserted in batches, which costs a third of single inserts.
        identifier, code = record["id"], record["code"]
        if not code.isascii():
            # sqlite only accepts text that can be encoded as UTF-8; file names need not be.
            code = code.encode("utf-8", "backslashreplace").decode()
        if identifier in self._pending:
            # Each of its lines is a try.
            self._flush()
        self._pending[identifier] = (
            identifier,
            place,
            *span,
            record["outcome"],
            code,
            record["fingerprint"],
            record["score"],
            record["duration"],
            *count_samples(record),
            1,
            self._passes,
        )

    def _flush(self) -> None:
        if not self._pending:
            return
        try:
            self._database.executemany(
                _INSERT if self._is_new else _REPLACE, self._pending.values()
            )
        except sqlite3.IntegrityError:
            self._database.rollback()
            self._is_new = False
            pending, self._pending = self._pending, {}
            doubled = next(name for name in pending if self.find(name) is not None)
            raise DoubledCaseError(doubled) from None
        self._pending.clear()

    def commit(self, covered: int, mark: bytes) -> None:
        """Commit the added rows, with the journal offset they cover and the bytes before it."""
        self._flush()
        self._database.execute("UPDATE state SET covered = ?, mark = ?", (covered, mark))
        self._database.commit()

    def seal(self) -> None:
        """Mark the index as complete; done once, at the end, because it reads every row."""
        self._flush()
        self._database.execute("UPDATE state SET seal = ?", (_seal_of(self._database),))
        self._database.commit()

    def _unseal(self) -> None:
        self._database.execute("UPDATE state SET seal = NULL")
        self._database.commit()

    def begin_pass(self) -> None:
        """Start a pass over the cases; `touch` and `untouched` refer to this pass."""
        (last,) = self._database.execute("SELECT pass FROM state").fetchone()
        self._passes = last + 1
        self._database.execute("UPDATE state SET pass = ?", (self._passes,))
        # In a new run every case is new: duplicates are found by the batch insert, which saves a
        # query per case.
        self._is_new = self._database.execute("SELECT 1 FROM cases LIMIT 1").fetchone() is None

    def find(self, identifier: str) -> tuple[Row, bool] | None:
        """Return the row of a case, and whether this pass has already met it."""
        found = self._pending.get(identifier)
        if found is None and not self._is_new:
            found = self._database.execute(
                f"SELECT {ROW_COLUMNS}, pass FROM cases WHERE id = ?",  # noqa: S608 - constant text
                (identifier,),
            ).fetchone()
        return None if found is None else (make_row(found[:-1]), found[-1] == self._passes)

    def touch(self, identifier: str) -> None:
        self._database.execute("UPDATE cases SET pass = ? WHERE id = ?", (self._passes, identifier))

    def list_untouched(self) -> list[str]:
        """Return the cases this pass did not meet: they are no longer in the input."""
        self._flush()
        found = self._database.execute("SELECT id FROM cases WHERE pass <> ?", (self._passes,))
        return [identifier for (identifier,) in found]

    def part(self, identifier: str, key: str, fingerprint: str) -> Span | None:
        found = self._database.execute(
            "SELECT offset, length FROM parts WHERE id = ? AND key = ? AND fingerprint = ?",
            (identifier, key, fingerprint),
        ).fetchone()
        return None if found is None else Span(*found)

    def has_parts(self, start: str = "") -> bool:
        """Return whether any case has a part whose key starts with this."""
        found = "SELECT 1 FROM parts WHERE substr(key, 1, ?) = ? LIMIT 1"
        return self._database.execute(found, (len(start), start)).fetchone() is not None

    def list_parts(
        self, identifier: str, start: str, fingerprint: str
    ) -> Iterator[tuple[str, Span]]:
        """Yield the parts of a case whose key starts with this, the shortest keys first."""
        found = self._database.execute(
            "SELECT key, offset, length FROM parts WHERE id = ? AND fingerprint = ? "
            "AND substr(key, 1, ?) = ? ORDER BY length(key), key",
            (identifier, fingerprint, len(start), start),
        )
        return ((key, Span(offset, length)) for key, offset, length in found)

    def rows(self, *outcomes: Outcome) -> Iterator[Row]:
        """Return the cases in order, all or those with one of these outcomes."""
        marks = ", ".join("?" * len(outcomes))
        where = f"WHERE outcome IN ({marks})" if outcomes else ""
        found = self._database.execute(
            f"SELECT {ROW_COLUMNS} FROM cases {where} ORDER BY place, id",  # noqa: S608 - constant text
            [outcome.value for outcome in outcomes],
        )
        return (make_row(fields) for fields in found)

    def repeated_rows(self) -> Iterator[Row]:
        """Return the cases that ran more than once, or for which requests were repeated."""
        found = self._database.execute(
            f"SELECT {ROW_COLUMNS} FROM cases WHERE tries > 1 OR repeated > 0 "  # noqa: S608
            "ORDER BY place, id"
        )
        return (make_row(fields) for fields in found)

    def spans(self) -> Iterator[tuple[int, int]]:
        """Offset and length of the lines of all cases, in the order of the cases."""
        return self._database.execute("SELECT offset, length FROM cases ORDER BY place, id")

    def count_samples(self) -> tuple[SampleCounts, int]:
        """Return the samples of all cases together, and how many cases ran more than once."""
        *sums, again = self._database.execute(
            "SELECT total(samples), total(passed), total(failed), max(early), total(repeated), "
            "total(tries > 1) FROM cases"
        ).fetchone()
        taken, passed, failed, early, repeated = (int(each or 0) for each in sums)
        return SampleCounts(taken, passed, failed, bool(early), repeated), int(again)

    def scores(self) -> Iterator[tuple[Outcome, float]]:
        """Return the outcome and the score of every case, in order."""
        found = self._database.execute("SELECT outcome, score FROM cases ORDER BY place, id")
        return ((_OUTCOMES[outcome], score) for outcome, score in found)

    def counts(self) -> dict[Outcome, int]:
        found = self._database.execute("SELECT outcome, count(*) FROM cases GROUP BY outcome")
        counted = {Outcome(outcome): number for outcome, number in found}
        return {outcome: counted.get(outcome, 0) for outcome in Outcome}

    def close(self) -> None:
        self._database.close()


def _connect(name: str) -> sqlite3.Connection:
    # A run may move to another thread as a whole (see the engine); it is never shared by two.
    return sqlite3.connect(name, uri=True, check_same_thread=False)


def _side_files(path: Path) -> Iterator[Path]:
    return (path.with_name(path.name + end) for end in _SIDE_FILES)


def _is_there(path: Path) -> bool:
    """Return whether anything has this name, including a broken link."""
    return path.is_symlink() or path.exists()


def _is_plain(path: Path, limit: int) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size <= limit


@contextlib.contextmanager
def _failures_told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"cannot hold the run's index: {error.strerror}", where=str(path)
        ) from None


def _is_believed(database: sqlite3.Connection, journal: Path) -> bool:
    """Return whether an index is complete, sealed and matches the start of this journal.

    The schema is checked first: a view or a trigger in place of a table could do anything when
    queried.
    """
    made_of = database.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()
    if made_of != [(statement.strip(),) for statement in _SCHEMA]:
        return False
    (verdict,) = database.execute("PRAGMA quick_check(1)").fetchone()
    states = database.execute("SELECT version, covered, mark, seal FROM state").fetchall()
    if verdict != "ok" or len(states) != 1:
        return False
    version, covered, mark, seal = states[0]
    return (
        version == INDEX_VERSION
        and isinstance(covered, int)
        and 0 <= covered <= complete_size(journal)
        and mark_at(journal, covered) == mark
        and seal == _seal_of(database)
    )


def _seal_of(database: sqlite3.Connection) -> str:
    """Return a digest of the whole content of the index."""
    digest = hashlib.blake2b(digest_size=16)
    for table in ("cases", "parts"):
        for row in database.execute(f"SELECT * FROM {table} ORDER BY 1, 2"):  # noqa: S608
            digest.update(repr(row).encode("utf-8", "backslashreplace"))
    state = database.execute("SELECT version, covered, mark, pass FROM state").fetchone()
    digest.update(repr(state).encode())
    return digest.hexdigest()


def _is_sound(entry: dict[str, Any]) -> bool:
    """Return whether the index can accept a journal line, which may come from anyone."""
    match entry:
        case {"kind": "record", "place": int(place), "record": dict(record)}:
            return (
                _is_number(place)
                and is_packed_record(record)
                and _are_texts(record["id"], record["fingerprint"])
            )
        case {"kind": "part", "id": identifier, "key": key, "fingerprint": fingerprint}:
            return _are_texts(identifier, key, fingerprint)
        case {"kind": "moved", "id": identifier, "place": int(place)}:
            return _is_number(place) and _are_texts(identifier)
        case {"kind": "dropped", "id": identifier}:
            return _are_texts(identifier)
    return False


def _is_number(place: int) -> bool:
    return -_LARGEST <= place <= _LARGEST


def _are_texts(*values: Any) -> bool:
    """Return whether sqlite accepts these strings: they must be encodable as UTF-8."""
    return all(isinstance(one, str) and (one.isascii() or _has_utf8(one)) for one in values)


def _has_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def make_row(fields: Sequence[Any]) -> Row:
    """Return the row of what a query for `ROW_COLUMNS` found."""
    identifier, place, offset, length, outcome, code, fingerprint, score, duration = fields[:9]
    taken, passed, failed, early, repeated, tries = fields[9:]
    return Row(
        identifier,
        place,
        Span(offset, length),
        _OUTCOMES[outcome],
        code,
        fingerprint,
        score,
        duration,
        SampleCounts(taken, passed, failed, bool(early), repeated),
        tries,
    )
