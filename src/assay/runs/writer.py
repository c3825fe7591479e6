"""Writes a run: skips finished cases, selects those to run again, and adds each record once."""

from __future__ import annotations

import contextlib
import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

from assay.documents import MEGABYTE, has_too_many_parts
from assay.errors import InputError
from assay.model import CaseRecord, FinishedCase, Outcome, encode_bytes, is_plain
from assay.runs.folder import JOURNAL, begin_pass, end_pass, read_manifest, write_manifest
from assay.runs.index import DoubledCaseError, RunIndex
from assay.runs.journal import (
    LONGEST_LINE,
    Journal,
    TooLargeError,
    check_links,
    is_too_large,
    mark_at,
    shorten_record,
    shorten_report,
)
from assay.tracebacks import describe
from assay.traces import trace_case

logger = logging.getLogger("assay")

COMMIT_EVERY = 500
NAMED_AT_MOST = 20


class Unit(NamedTuple):
    """One case to run: id, position, fingerprint of its input, and payload."""

    id: str
    place: int
    fingerprint: str
    payload: Any


class Parts:
    """Finished parts of an unfinished case, such as samples; a resumed run does not repeat them."""

    def __init__(self, writer: RunWriter, unit: Unit) -> None:
        self._writer = writer
        self._unit = unit

    def get(self, key: str) -> Any:
        """Return the value stored under a key for exactly this input, or None."""
        return self._writer.part(self._unit, key)

    def get_all(self) -> dict[str, Any]:
        """Return all values stored for exactly this input, by key."""
        return self._writer.parts(self._unit)

    def keep(self, key: str, value: Any) -> None:
        self._writer.keep_part(self._unit, key, value)


class RunWriter:
    """The only writer of a run; opening an existing run resumes it."""

    def __init__(self, path: Path) -> None:
        # Absolute, because the user's code may change the current directory.
        self.path = path.absolute()
        self.manifest = read_manifest(path)
        last_write = _find_last_write(self.path / JOURNAL)
        self._journal = Journal(self.path / JOURNAL)
        try:
            check_links(self.path / JOURNAL)
            self._index = RunIndex.for_writing(self.path)
        except BaseException:
            self._journal.close()
            raise
        self._index.begin_pass()
        # Most runs have none, and then nobody looks for them.
        self._has_parts = self._index.has_parts()
        self._running: set[str] = set()
        self._uncommitted = 0
        self.changed: list[str] = []
        begin_pass(self.manifest, last_write)
        # A resumed run is unfinished again until it has gone through all cases.
        self.manifest.finished = self.manifest.gate = None
        self.manifest.cases = self.manifest.link = None
        write_manifest(self.path, self.manifest)
        if self._journal.torn:
            logger.warning(
                "%s: the last line was torn by a crash; %d bytes were cut off, its case runs again",
                path / JOURNAL,
                self._journal.torn,
            )

    def wants(self, unit: Unit) -> bool:
        """Return whether the case must run: it is new, ended in an error, or its input changed."""
        if unit.id in self._running:
            raise _make_repeat_error(unit.id, self.path)
        found = self._index.find(unit.id)
        if found is None:
            self._running.add(unit.id)
            return True
        row, met = found
        if met:
            raise _make_repeat_error(unit.id, self.path)
        if row.fingerprint != unit.fingerprint:
            self.changed.append(unit.id)
        elif row.outcome is not Outcome.ERROR:
            self._keep(unit, row.place)
            return False
        self._running.add(unit.id)
        return True

    def has(self, unit: Unit) -> bool:
        """Return whether there is a record for exactly this input that need not be repeated."""
        found = self._index.find(unit.id)
        if found is None:
            return False
        row = found[0]
        return row.fingerprint == unit.fingerprint and row.outcome is not Outcome.ERROR

    def _keep(self, unit: Unit, place: int) -> None:
        if place != unit.place:
            self._write({"kind": "moved", "id": unit.id, "place": unit.place})
        self._index.touch(unit.id)

    def add(self, unit: Unit, record: CaseRecord | FinishedCase) -> None:
        """Write the record of a case that has run."""
        try:
            packed = record.pack()
            try:
                self._write_record(unit, packed)
            except TooLargeError:
                logger.warning("%s: too large for the journal; evidence is left out", unit.id)
                self._write_record(unit, shorten_record(packed, _fits))
        except (TypeError, ValueError, ArithmeticError, RecursionError) as error:
            # The content of one case must not affect the others.
            what = f"its result cannot be kept: {describe(error)}"
            packed = make_error_record(unit, self.manifest.subject, what).pack()
            self._write_record(unit, packed)
        self._running.discard(unit.id)
        trace_case(packed)

    def _write_record(self, unit: Unit, packed: dict[str, Any]) -> None:
        plain = packed["detail"] is None and all(map(is_plain, packed["reports"]))
        entry = {"kind": "record", "place": unit.place, "record": packed}
        self._write(entry, is_plain=plain)

    def keep_part(self, unit: Unit, key: str, value: Any) -> None:
        entry = {
            "kind": "part",
            "id": unit.id,
            "fingerprint": unit.fingerprint,
            "key": key,
            "value": value,
        }
        self._has_parts = True
        try:
            self._write(entry)
        except TooLargeError:
            # A part that is not a report, or stays too large, is made again by a resumed run.
            is_report = isinstance(value, dict) and "results" in value
            if is_report and (short := shorten_report(value, _fits)) is not None:
                self._write(entry | {"value": short})

    def part(self, unit: Unit, key: str) -> Any:
        span = self._index.part(unit.id, key, unit.fingerprint)
        return None if span is None else self._journal.read(span)["value"]

    def parts(self, unit: Unit) -> dict[str, Any]:
        if not self._has_parts:
            return {}
        found = self._index.list_parts(unit.id, "", unit.fingerprint)
        return {key: self._journal.read(span)["value"] for key, span in found}

    def _write(self, entry: dict[str, Any], *, is_plain: bool = False) -> None:
        self._index.add(self._journal.append(entry, is_plain=is_plain), entry)
        self._uncommitted += 1
        if self._uncommitted >= COMMIT_EVERY:
            self._commit()

    def _commit(self) -> None:
        self._uncommitted = 0
        try:
            self._index.commit(self._journal.end, mark_at(self._journal.path, self._journal.end))
        except DoubledCaseError as doubled:
            raise _make_repeat_error(str(doubled), self.path) from None

    def sync(self) -> None:
        """Flush written data to disk."""
        self._journal.sync()

    def finish(self) -> None:
        """Drop the cases that are gone, and mark the run as complete."""
        self._commit()
        gone = self._index.list_untouched()
        for identifier in gone:
            self._write({"kind": "dropped", "id": identifier})
        if gone:
            logger.warning("no longer among the cases and left out: %s", name_some(gone))
        if self.changed:
            logger.warning("changed since and run again: %s", name_some(self.changed))
        # On disk before run.json marks the run as complete.
        self._journal.sync()
        self.manifest.cases = sum(self._index.counts().values())
        self.manifest.link = (self._journal.link or b"").decode()
        end_pass(self.manifest)
        self.manifest.finished = datetime.now(UTC)
        write_manifest(self.path, self.manifest)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # An interrupt may have occurred between writing the journal and the index; the next process
        # that opens the run adds what the index lacks.
        try:
            if kind is None:
                self._commit()
                self._index.seal()
        finally:
            self._index.close()
            if self.manifest.working_since is not None:
                # Without it, as after a kill, the pass ends with the last line of the journal.
                with contextlib.suppress(OSError):
                    end_pass(self.manifest)
                    write_manifest(self.path, self.manifest)
            self._journal.close()


def _find_last_write(journal: Path) -> float | None:
    """Return when the journal last grew; None if nothing is in it."""
    try:
        found = journal.lstat()
    except OSError:
        return None
    return found.st_mtime if found.st_size else None


def _fits(value: dict[str, Any]) -> bool:
    if is_too_large(value):
        return False
    line = encode_bytes(value)
    # With room for the rest of the entry.
    return len(line) + MEGABYTE <= LONGEST_LINE and not has_too_many_parts(line)


def make_error_record(unit: Unit, subject: str, reason: str) -> CaseRecord:
    """Return the record of a case that has no result, through no fault of what it is about."""
    return CaseRecord(
        id=unit.id,
        subject=subject,
        outcome=Outcome.ERROR,
        code=Outcome.ERROR.value,
        reason=reason,
        fingerprint=unit.fingerprint,
    )


def name_some(names: list[str]) -> str:
    """Return a readable list of names, shortened if it is long."""
    shown = ", ".join(names[:NAMED_AT_MOST])
    more = len(names) - NAMED_AT_MOST
    return f"{shown} and {more} more" if more > 0 else shown


def _make_repeat_error(identifier: str, path: Path) -> InputError:
    return InputError(
        f"the case id {identifier!r} occurs twice",
        where=str(path),
        advice="give every case its own id",
    )
