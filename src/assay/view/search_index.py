"""The viewer's own index of a run: what a page, a filter or a search asks for, in milliseconds.

It is a sqlite database in the user's cache, never in the run folder. It grows with the journal,
from where it stopped before: first every case with its group and labels, then their texts, from
which sqlite makes an index of trigrams. It is made anew if it does not match the journal.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from assay._version import __version__
from assay.runs import CONVERSATION, JOURNAL, JournalReader, RunIndex, Span, complete_size, mark_at
from assay.view.record_text import find_group, find_labels, fold, gather_text

REASON_CHARACTERS = 400
_STEP_BYTES = 2_000_000
# Few commits: each of them writes a piece of the index of trigrams, which is merged with others.
_TEXTS_PER_STEP = 1_000
_TEXT_PER_STEP = 1_000_000

# Of each column; those of RunIndex first.
_KINDS = (
    "id TEXT UNIQUE, place INTEGER, offset INTEGER PRIMARY KEY, length INTEGER, outcome TEXT, "
    "code TEXT, fingerprint TEXT, score REAL, duration REAL, samples INTEGER, passed INTEGER, "
    "failed INTEGER, early INTEGER, repeated INTEGER, tries INTEGER, pass INTEGER, "
    "key TEXT, grp TEXT, reason TEXT, is_cut INTEGER"
)
_NAMES = [kind.split()[0] for kind in _KINDS.split(", ")]
_FIRST_NAMES = _NAMES[:-1]
# A case that ran again with the same input keeps the number of its tries; its texts are new.
_ADD = (
    f"INSERT INTO cases ({', '.join(_FIRST_NAMES)}) "  # noqa: S608 - constant text
    f"VALUES ({', '.join('?' * len(_FIRST_NAMES))}) ON CONFLICT (id) DO UPDATE SET is_cut = NULL, "
    "tries = CASE WHEN fingerprint = excluded.fingerprint THEN tries + 1 ELSE 1 END, "
    + ", ".join(f"{name} = excluded.{name}" for name in _FIRST_NAMES if name not in ("id", "tries"))
)
# `cases`, `parts` and `state` have the columns of RunIndex, whose queries work here too. A line of
# journal has one offset: a record that replaces another has its own, so nothing has to be removed
# from the tables beside `cases`; what no case refers to is never found.
_TABLES = (
    f"CREATE TABLE cases ({_KINDS})",
    "CREATE INDEX cases_by_place ON cases (place, id)",
    "CREATE INDEX cases_by_key ON cases (key)",
    "CREATE INDEX cases_by_outcome ON cases (outcome, code, grp)",
    # Whose texts are not searched yet.
    "CREATE INDEX cases_waiting ON cases (offset) WHERE is_cut IS NULL",
    "CREATE TABLE parts (id TEXT, key TEXT, fingerprint TEXT, offset INTEGER, length INTEGER, "
    "PRIMARY KEY (id, key)) WITHOUT ROWID",
    "CREATE TABLE labels (label TEXT, offset INTEGER, PRIMARY KEY (label, offset)) WITHOUT ROWID",
    "CREATE TABLE state (version INTEGER, covered INTEGER, mark BLOB, pass INTEGER, seal TEXT)",
    # Which run it is of, to remove it with the run; and when the journal was last changed.
    "CREATE TABLE about (version TEXT, run BLOB, changed INTEGER)",
)
_TRIGRAMS = (
    "CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='trigram case_sensitive 1', detail=none)"
)
# For a sqlite that was built without FTS5: every text is read, which is slower and finds the same.
_PLAIN_TEXTS = "CREATE TABLE texts (text TEXT)"


# What another version of Assay has made is made anew.
_VERSION = " ".join((__version__, *_TABLES))


class Progress(NamedTuple):
    """How much of a run the index has."""

    covered: int
    size: int
    cases: int
    texts: int

    @property
    def has_cases(self) -> bool:
        return self.covered >= self.size

    @property
    def is_complete(self) -> bool:
        return self.has_cases and self.texts >= self.cases


def make_key(identifier: str) -> str:
    """Return the name that a case has in addresses: the same in every run, and safe anywhere."""
    return hashlib.blake2b(identifier.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()


class SearchIndex(RunIndex):
    """The index of one run; one process writes it, any number of connections read."""

    def __init__(self, database: sqlite3.Connection) -> None:
        super().__init__(database)
        # Unlike that of a run, it is not checked as a whole when it is opened.
        database.execute("PRAGMA synchronous = NORMAL")
        database.create_function("fold", 1, _fold, deterministic=True)
        self._labels: list[tuple[str, int]] = []

    @classmethod
    def for_viewing(cls, path: Path) -> SearchIndex:
        """Open an index that exists, to read it."""
        # By its address, because sqlite would make a file that is not there.
        database = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw", uri=True, check_same_thread=False
        )
        database.execute("PRAGMA query_only = ON")
        return cls(database)

    @property
    def database(self) -> sqlite3.Connection:
        return self._database

    @property
    def has_trigrams(self) -> bool:
        (made_by,) = self._database.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'texts'"
        ).fetchone()
        return str(made_by).startswith("CREATE VIRTUAL")

    def measure_progress(self, journal: Path) -> Progress:
        """Return how much of the journal the index has now."""
        cases, waiting = self._database.execute(
            "SELECT (SELECT count(*) FROM cases), (SELECT count(*) FROM cases WHERE is_cut IS NULL)"
        ).fetchone()
        return Progress(self.read_covered(), complete_size(journal), cases, cases - waiting)

    def extend(self, journal: Path) -> bool:
        """Add the next lines of the journal or the next texts; return whether there may be more."""
        if self.read_covered() < complete_size(journal):
            self.cover(journal, _STEP_BYTES)
            self._database.execute("UPDATE about SET changed = ?", (_read_changed(journal),))
            self._database.commit()
            return True
        return self._add_texts(journal)

    def _add_case(self, span: Span, place: int, record: dict[str, Any]) -> None:
        super()._add_case(span, place, record)
        reason = record["reason"][:REASON_CHARACTERS]
        more = make_key(record["id"]), _encodable(find_group(record)), _encodable(reason)
        self._pending[record["id"]] += more
        self._labels += [(_encodable(label), span.offset) for label in find_labels(record)]

    def _flush(self) -> None:
        self._database.executemany(_ADD, self._pending.values())
        self._database.executemany("INSERT OR IGNORE INTO labels VALUES (?, ?)", self._labels)
        self._pending.clear()
        self._labels.clear()

    def _add_texts(self, journal: Path) -> bool:
        waiting = self._database.execute(
            "SELECT offset, length, id, fingerprint FROM cases WHERE is_cut IS NULL LIMIT ?",
            (_TEXTS_PER_STEP,),
        ).fetchall()
        if not waiting:
            return False
        length_of_texts = 0
        with contextlib.closing(JournalReader(journal)) as reader:
            for offset, length, identifier, fingerprint in waiting:
                record = reader.read((offset, length))["record"]
                parts = self.list_parts(identifier, CONVERSATION, fingerprint)
                conversations = (reader.read(span).get("value") for _, span in parts)
                text, is_cut = gather_text(record, conversations)
                self._database.execute(
                    "INSERT INTO texts (rowid, text) VALUES (?, ?)", (offset, _encodable(text))
                )
                self._database.execute(
                    "UPDATE cases SET is_cut = ? WHERE offset = ?", (is_cut, offset)
                )
                length_of_texts += len(text)
                if length_of_texts >= _TEXT_PER_STEP:
                    break
        self._database.commit()
        return True


def _fold(text: str | None) -> str:
    return fold(text or "")


def _encodable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _read_changed(journal: Path) -> int:
    return journal.lstat().st_mtime_ns


@contextmanager
def write_index(path: Path, run: Path) -> Iterator[SearchIndex | None]:
    """Open the index of a run to extend it; None while another process does."""
    with path.with_suffix(".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        index = _open_matching(path, run) or _make(path, run)
        with contextlib.closing(index):
            yield index


def _open_matching(path: Path, run: Path) -> SearchIndex | None:
    """Return the index that exists, if it is of this version and matches the journal."""
    if not path.exists():
        return None
    journal = run / JOURNAL
    database = sqlite3.connect(path, check_same_thread=False)
    try:
        index = SearchIndex(database)
        version, _, changed = index.database.execute("SELECT * FROM about").fetchone()
        _, covered, mark, *_ = index.database.execute("SELECT * FROM state").fetchone()
        size = complete_size(journal)
        if (
            version == _VERSION
            and covered <= size
            and mark_at(journal, covered) == mark
            and (covered < size or changed == _read_changed(journal))
        ):
            os.utime(path)
            return index
    except (sqlite3.Error, TypeError, ValueError):
        pass
    database.close()
    return None


def _make(path: Path, run: Path) -> SearchIndex:
    for each in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        each.unlink(missing_ok=True)
    database = sqlite3.connect(path, check_same_thread=False)
    # Readers see the last commit while the next one is written.
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("BEGIN")
    for statement in _TABLES:
        database.execute(statement)
    try:
        database.execute(_TRIGRAMS)
    except sqlite3.OperationalError:
        database.execute(_PLAIN_TEXTS)
    database.execute("INSERT INTO state VALUES (0, 0, x'', 0, NULL)")
    database.execute("INSERT INTO about VALUES (?, ?, 0)", (_VERSION, os.fsencode(run.absolute())))
    database.commit()
    return SearchIndex(database)
