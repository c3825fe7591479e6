"""The folder of a run: its manifest and journal, and how to read them."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import platform
import re
import secrets
import weakref
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from assay._version import __version__
from assay.documents import open_regular, read_record, replace_file
from assay.errors import InfrastructureError, InputError, nearest
from assay.extras import require_extra
from assay.findings import Baseline
from assay.model import CaseRecord, Outcome, SampleCounts
from assay.runs.index import Row, RunIndex
from assay.runs.journal import (
    JournalReader,
    check_links,
    complete_size,
    count_torn_bytes,
    make_damage_error,
)
from assay.tracebacks import first_problem

if TYPE_CHECKING:
    from assay.reports import Summary
    from assay.runs.compare import RunComparison

logger = logging.getLogger("assay")

RUNS_FOLDER = Path(".assay/runs")
MANIFEST = "run.json"
JOURNAL = "journal.jsonl"
BASELINE = "baseline.json"
# The start of the key of a part that is the conversation of a sample; the number follows.
CONVERSATION = "conversation "


def _versions() -> dict[str, str]:
    return {
        "assay": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
    }


class Gate(BaseModel):
    """A subject's pass rule for a finished run as a whole.

    Without one every case must pass. It is stored with the run, so that all its reports agree.
    """

    model_config = ConfigDict(extra="forbid")

    name: str
    is_met: bool
    reason: str


class Manifest(BaseModel):
    """The content of `run.json`: the request and its settings."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    subject: str
    # What was run, as the user named it: a file, a suite; for lists and headings.
    title: str = ""
    asked: dict[str, Any] = Field(default_factory=dict)
    # Whether `unverified` fails the gate is the subject's rule, and every report must agree on it.
    unverified_fails: bool = True
    # Whether only some of the cases were selected; the run says nothing about the others.
    is_partial: bool = False
    versions: dict[str, str] = Field(default_factory=_versions)
    gate: Gate | None = None
    started: AwareDatetime = Field(default_factory=lambda: datetime.now(UTC))
    finished: AwareDatetime | None = None
    # Seconds of all passes that have ended: a run that is resumed is not worked on in between.
    # None in runs of earlier versions.
    worked: float | None = None
    # When the current pass began.
    working_since: AwareDatetime | None = None
    # Of a finished run: how many cases it has, and the link of the last line of its journal.
    cases: int | None = None
    link: str | None = None
    # The names of the runs that it was merged from, if it was.
    merged_from: list[str] = Field(default_factory=list)


class Run:
    """A run that can be read, finished or not, at any time.

    Its verdict and its reports are made by `assay.reports`, which is imported when it is needed.
    """

    def __init__(self, path: str | os.PathLike[str], *, index: RunIndex | None = None) -> None:
        """Open a run. With an `index` of it, the journal is not checked: only what is read is."""
        path = Path(path)
        self.path = path
        self.manifest = read_manifest(path)
        self.baseline = Baseline.read(path / BASELINE) if (path / BASELINE).exists() else None
        self._index = self._open_index() if index is None else index
        self._reader = JournalReader(path / JOURNAL)
        # Also closed on garbage collection, for use in notebooks.
        self.close = weakref.finalize(self, _close_both, self._reader, self._index)

    def _open_index(self) -> RunIndex:
        """Return the index of the journal; raise InputError if the journal is damaged."""
        path = self.path
        complete_size(path / JOURNAL)
        is_written = is_being_written(path)
        link = "" if is_written else check_links(path / JOURNAL)
        index = RunIndex.for_reading(path)
        if not is_written:
            self._check_complete(index, link)
        if (torn := count_torn_bytes(path / JOURNAL)) and not is_written:
            logger.warning(
                "%s: the last line was torn by a crash; its case is missing until the run is "
                "resumed (%d bytes)",
                path / JOURNAL,
                torn,
            )
        return index

    def _check_complete(self, index: RunIndex, link: str) -> None:
        """Raise InputError if a finished run has lost lines."""
        manifest = self.manifest
        if manifest.finished is None or manifest.cases is None:
            return
        cases = sum(index.counts().values())
        has_changed = (cases, link) != (manifest.cases, manifest.link)
        # A run that is being resumed right now has changed legitimately.
        if has_changed and not self.is_being_written():
            index.close()
            raise InputError(
                f"the journal has {cases} cases; the run had {manifest.cases} when it finished"
                if cases != manifest.cases
                else "the journal is not the one the run finished with",
                where=str(self.path / JOURNAL),
                advice="restore the file, or run again what is missing: assay runs resume "
                + str(self.path),
            )

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def passed(self) -> bool:
        """Return whether the run has passed: its exit code is 0."""
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """Return the exit code that the command ends with."""
        return self.summary.exit_code

    @property
    def summary(self) -> Summary:
        """Return the totals and the verdict; computed anew, because a run may still grow."""
        from assay.reports import summarize

        return summarize(self)

    def compare(self, before: Run | str | os.PathLike[str]) -> RunComparison:
        """Compare with an earlier run of the same subject."""
        from assay.runs.compare import compare_runs

        return compare_runs(before, self)

    def report(self, format: str = "markdown") -> Any:  # noqa: A002 - the option's name
        """Return the report in a format of `assay report`; bytes if the format is binary."""
        from assay.reports import get_format, render_report

        report = b"".join(render_report(self, format))
        return report if get_format(format).is_binary else report.decode()

    def to_arrow(self) -> Any:
        """Return a pyarrow table with one row per sample of a case, as the parquet report."""
        from assay.reports import to_table

        return to_table(self)

    def to_pandas(self) -> Any:
        """Return the same as a pandas data frame; needs pandas."""
        require_extra("stats", "a data frame")
        return self.to_arrow().to_pandas()

    def _repr_html_(self) -> str:
        from assay.reports import render_table

        return render_table(self)

    def rows(self, *outcomes: Outcome) -> Iterator[Row]:
        """Yield a short row per case, in order; optionally only those with the given outcomes."""
        return self._index.rows(*outcomes)

    def records(self, *outcomes: Outcome) -> Iterator[CaseRecord]:
        """Return the records in the order of the cases, read one at a time."""
        return (self.read(row) for row in self.rows(*outcomes))

    def read(self, row: Row) -> CaseRecord:
        packed = self.read_packed(row)
        try:
            return CaseRecord.unpack(packed)
        except (KeyError, TypeError, AttributeError, ValueError):
            # The index may match this journal although its lines were edited.
            raise make_damage_error(self.path / JOURNAL, row.span.offset) from None

    def read_packed(self, row: Row) -> dict[str, Any]:
        """Return the record in the journal's compact form, for reading very many."""
        packed: dict[str, Any] = self._reader.read(row.span)["record"]
        return packed

    @property
    def has_conversations(self) -> bool:
        """Return whether conversations of any case are kept."""
        return self._index.has_parts(CONVERSATION)

    def conversations(self, row: Row) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the kept conversations of a case, each with the number of its sample, from 1."""
        for key, span in self._index.list_parts(row.id, CONVERSATION, row.fingerprint):
            number = key.removeprefix(CONVERSATION)
            value = self._reader.read(span).get("value")
            if number.isascii() and number.isdecimal() and isinstance(value, dict):
                yield int(number), value

    def all_packed(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield every record in compact form, in order, with the length of its line."""
        for span in self._index.spans():
            yield span[1], self._reader.read(span)["record"]

    def scores(self) -> Iterator[tuple[Outcome, float]]:
        """Return the outcome and the score of every case, in order."""
        return self._index.scores()

    def find(self, identifier: str) -> Row | None:
        """Return the row of one case, if the run has it."""
        found = self._index.find(identifier)
        return None if found is None else found[0]

    def row(self, identifier: str) -> Row:
        """Return the row of one case, or raise an InputError that names the nearest."""
        row = self.find(identifier)
        if row is None:
            raise InputError(
                f"no case {identifier!r} in this run",
                where=str(self.path),
                advice=nearest(identifier, (row.id for row in self.rows())),
            )
        return row

    def record(self, identifier: str) -> CaseRecord:
        """Return the record of one case."""
        return self.read(self.row(identifier))

    def counts(self) -> dict[Outcome, int]:
        """Return the number of cases per outcome."""
        return self._index.counts()

    def count_samples(self) -> tuple[SampleCounts, int]:
        """Return the samples of all cases together, and how many cases ran more than once."""
        return self._index.count_samples()

    def repeated_rows(self) -> Iterator[Row]:
        """Return the cases that ran more than once, or for which requests were repeated."""
        return self._index.repeated_rows()

    def is_known(self, row: Row) -> bool:
        """Return whether the baseline accepts the finding of this case."""
        return self.baseline is not None and self.baseline.accepts(row)

    def fails(self, outcome: Outcome) -> bool:
        """Return whether this outcome of a case makes the run fail."""
        return outcome is Outcome.FAILED or (
            outcome is Outcome.UNVERIFIED and self.manifest.unverified_fails
        )

    def is_being_written(self) -> bool:
        """Return whether a process has this run open for writing."""
        return is_being_written(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _close_both(reader: JournalReader, index: RunIndex) -> None:
    reader.close()
    index.close()


def is_being_written(path: Path) -> bool:
    """Return whether a process has the run in this folder open for writing."""
    with open_regular(path / JOURNAL, follow=False) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        return False


def check_resumable(path: Path) -> None:
    """Raise an InputError if the run cannot be continued: it is being written, damaged, or merged.

    A merged run has cases that its request does not select; they would be dropped.
    """
    check_readable(path)
    if read_manifest(path).merged_from:
        raise InputError(
            "was merged from other runs and cannot be resumed",
            where=str(path),
            advice="resume these runs, and merge them again",
        )


def check_readable(path: Path) -> None:
    """Raise an InputError if the run is being written, or damaged."""
    complete_size(path / JOURNAL)
    if is_being_written(path):
        raise InputError("another process is writing this run", where=str(path))
    check_links(path / JOURNAL)


def read_manifest(path: Path) -> Manifest:
    """Return the content of `run.json`; raise InputError if the folder is not a run."""
    try:
        return Manifest.model_validate(json.loads(read_record(path / MANIFEST)))
    except FileNotFoundError:
        raise InputError(
            "is not a run: it has no run.json", where=str(path), advice="see: assay runs list"
        ) from None
    except (ValueError, RecursionError) as error:
        problem = first_problem(error) if isinstance(error, ValidationError) else str(error)
        raise InputError(
            f"run.json is not one Assay wrote: {problem}",
            where=str(path / MANIFEST),
        ) from None


def begin_pass(manifest: Manifest, last_write: float | None) -> None:
    """Start a pass over the cases; `last_write` is when the journal last grew, if it ever did.

    The last pass may have been killed, or be of a version that did not measure it.
    """
    last = None if last_write is None else datetime.fromtimestamp(last_write, UTC)
    if manifest.worked is None:
        end = manifest.finished or last
        manifest.worked = 0.0 if end is None else _seconds(manifest.started, end)
    elif manifest.working_since is not None and last is not None:
        manifest.worked += _seconds(manifest.working_since, last)
    manifest.working_since = datetime.now(UTC)


def end_pass(manifest: Manifest) -> None:
    """End the current pass and count its seconds."""
    if manifest.working_since is not None:
        since, manifest.working_since = manifest.working_since, None
        manifest.worked = (manifest.worked or 0.0) + _seconds(since, datetime.now(UTC))


def _seconds(start: datetime, end: datetime) -> float:
    """Return the seconds between two moments; none if the clock was set back in between."""
    return max(0.0, (end - start).total_seconds())


def write_gate(path: Path, gate: Gate) -> None:
    """Store with a finished run whether its gate was met."""
    write_manifest(path, read_manifest(path).model_copy(update={"gate": gate}))


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Replace `run.json` atomically, so that no reader sees half of it."""
    # Not with pydantic, which cannot serialize every possible folder name.
    text = json.dumps(manifest.model_dump(mode="json"), indent=2) + "\n"
    replace_file(path / MANIFEST, [text.encode()])


def create_folder(out: Path | None, manifest: Manifest, runs_folder: Path = RUNS_FOLDER) -> Path:
    """Return a new run folder: the requested one, or a new one under the runs folder."""
    path = out if out is not None else runs_folder / _new_name(manifest)
    try:
        path.mkdir(parents=True, exist_ok=True)
        if out is None:
            ignore_in_git(runs_folder)
        if (path / MANIFEST).exists():
            raise InputError(
                "already holds a run",
                where=str(path),
                advice=f"continue it with: assay runs resume {path}, or give another --out",
            )
        (path / JOURNAL).touch()
        write_manifest(path, manifest)
    except OSError as error:
        raise InfrastructureError(
            f"no run can be kept there: {error.strerror}", where=str(path)
        ) from None
    except ValueError as error:
        raise InputError(f"no run can be kept there: {error}", where=str(path)) from None
    return path


def _new_name(manifest: Manifest) -> str:
    moment = manifest.started.strftime("%Y%m%d-%H%M%S")
    words = re.sub(r"[^A-Za-z0-9]+", "-", Path(manifest.title).stem).strip("-")[:40]
    return f"{moment}-{words or manifest.subject}-{secrets.token_hex(2)}"


def ignore_in_git(runs_folder: Path) -> None:
    """Keep a runs folder in its usual place out of version control."""
    ignore = runs_folder.parent / ".gitignore"
    if runs_folder.parent.name == ".assay" and not ignore.exists():
        ignore.write_text("*\n")
