"""The runs that the viewer shows: found in a folder, indexed in the background, read only.

A run has a key, which is its name in addresses. Addresses are looked up among the keys and never
made into paths, so that nothing outside of the folder can be named.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import sqlite3
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from assay.errors import AssayError, InputError
from assay.model import Outcome, SampleCounts, Share
from assay.reports import (
    Html,
    Matrix,
    MatrixRow,
    Summary,
    draw_matrix,
    find_matrix,
    render_overview,
    summarize,
)
from assay.runs import (
    BASELINE,
    JOURNAL,
    MANIFEST,
    Manifest,
    Run,
    complete_size,
    is_being_written,
    list_elsewhere,
    read_manifest,
)
from assay.sandbox import cache_folder
from assay.view.queries import Facets, read_facets
from assay.view.search_index import Progress, SearchIndex, write_index

logger = logging.getLogger("assay")

KIND = "view"
# The name of a folder that can stand in an address as it is; others have a digest.
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_STEP_SECONDS = 0.2
_MATRIX_ROWS = 200
# So few cases are described while a page waits, which is not noticed.
_DESCRIBED_AT_ONCE = 500
_IDLE_SECONDS = 0.5
_SCAN_SECONDS = 0.5
_PATIENCE_SECONDS = 2.0
_UNUSED_SECONDS = 30 * 24 * 3600


class Stamp(NamedTuple):
    """What changes whenever a run does."""

    manifest: int
    size: int
    changed: int
    is_live: bool


class RunViews(NamedTuple):
    """A run as a whole, as HTML: by the rules of its subject, and its matrix; may be empty."""

    overview: Html
    matrix: Html


@dataclass(frozen=True)
class RunState:
    """What is known about a run so far; replaced as a whole."""

    problem: str = ""
    """Why the run cannot be shown; a message of Assay."""
    manifest: Manifest | None = None
    stamp: Stamp | None = None
    progress: Progress = field(default_factory=lambda: Progress(0, 0, 0, 0))
    counts: dict[Outcome, int] = field(default_factory=dict)
    samples: SampleCounts | None = None
    whole: RunViews | None = None
    """What its subject says of the run as a whole; made once it is finished and read."""
    exit_code: int | None = None
    """Of a run whose cases have all been read; None before."""
    checked: Stamp | None = None
    """The stamp at which the whole journal was found undamaged."""

    @property
    def is_live(self) -> bool:
        return self.stamp is not None and self.stamp.is_live

    @property
    def share(self) -> Share:
        return Share(self.counts.get(Outcome.PASSED, 0), sum(self.counts.values()))

    @property
    def has_samples(self) -> bool:
        """Return whether cases have several samples, whose rate says more than that of cases."""
        return self.samples is not None and self.samples.taken > sum(self.counts.values())

    @property
    def duration(self) -> float | None:
        """Seconds that were worked on a finished run."""
        manifest = self.manifest
        if manifest is None or manifest.finished is None:
            return None
        if manifest.worked is not None:
            return manifest.worked
        return max(0.0, (manifest.finished - manifest.started).total_seconds())

    @property
    def judged(self) -> Share:
        """Return the passed cases of those that say something about the subject."""
        counts = self.counts
        fails = self.manifest is not None and self.manifest.unverified_fails
        failed = counts.get(Outcome.FAILED, 0) + fails * counts.get(Outcome.UNVERIFIED, 0)
        passed = counts.get(Outcome.PASSED, 0)
        return Share(passed, passed + failed)

    @property
    def sample_rate(self) -> Share | None:
        """Return the samples that passed, where cases have several and all of them were taken."""
        if self.samples is None or not self.has_samples or self.samples.is_early:
            return None
        return self.samples.share

    @property
    def is_current(self) -> bool:
        return self.stamp is not None and self.progress.covered >= self.stamp.size

    @property
    def token(self) -> str:
        """Return a short text that differs whenever a page about the run would."""
        covered, _, cases, texts = self.progress
        # Not for every text that is indexed: a page would be loaded all the time.
        tenths = 10 * texts // max(cases, 1)
        seen = (self.stamp, covered, tenths, self.problem, self.exit_code, self.whole is None)
        return hashlib.blake2b(repr(seen).encode(), digest_size=6).hexdigest()


class RunEntry:
    """A folder of the list: a run, or something that claims to be one."""

    def __init__(self, path: Path, key: str, database: Path) -> None:
        self.path, self.key, self.database = path, key, database
        self.state = RunState()
        self.wanted_at = 0.0
        self._updating = threading.Lock()
        self._summary: tuple[str, Summary] | None = None
        self._facets: tuple[tuple[int, bool], Facets] | None = None

    @property
    def name(self) -> str:
        return self.path.name

    def update(self, **changes: Any) -> None:
        """Change what is known; requests and the indexing thread both do."""
        with self._updating:
            self.state = replace(self.state, **changes)

    @property
    def title_key(self) -> str:
        """Return the name of the title in addresses; runs of other subjects have others."""
        manifest = self.state.manifest
        about = ("", "") if manifest is None else (manifest.subject, manifest.title)
        return hashlib.blake2b(repr(about).encode(), digest_size=9).hexdigest()

    @contextmanager
    def open(self) -> Iterator[tuple[Run, SearchIndex]]:
        """Open the run with the viewer's index; raise InputError if it cannot be shown."""
        if self.state.problem:
            raise InputError(self.state.problem)
        index = SearchIndex.for_viewing(self.database)
        try:
            run = Run(self.path, index=index)
        except BaseException:
            index.close()
            raise
        with run:
            yield run, index

    def summarize(self, run: Run) -> Summary:
        """Return the totals of the run, computed once for each state of it."""
        token = self.state.token
        if self._summary is None or self._summary[0] != token:
            self._summary = (token, summarize(run))
        return self._summary[1]

    def read_facets(self, index: SearchIndex) -> Facets:
        """Return what its cases can be filtered by, counted once for each state of the index."""
        progress = self.state.progress
        seen = (progress.covered, progress.is_complete)
        if self._facets is None or self._facets[0] != seen:
            self._facets = (seen, read_facets(index))
        return self._facets[1]


class RunLibrary:
    """The runs of a folder; a thread indexes them, those that are looked at first.

    With `elsewhere`, also those that were written elsewhere and that the folder remembers.
    """

    def __init__(self, folder: Path, *, elsewhere: bool = False) -> None:
        self.folder = folder
        self._elsewhere = elsewhere
        self._temporary: str | None = None
        self._cache = self._prepare_cache()
        self._entries: dict[str, RunEntry] = {}
        self._scanned_at = float("-inf")
        self._changed = threading.Condition()
        self._is_closed = False
        self._thread = threading.Thread(target=self._work, name="index", daemon=True)

    def start(self) -> None:
        """Start to index in the background."""
        self._thread.start()

    def close(self) -> None:
        """Stop indexing; what is there is kept for the next time."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def finish(self, texts_of: Callable[[RunEntry], bool] = lambda entry: False) -> None:
        """Index everything now, in this thread; for those who cannot wait and watch."""
        for entry in self.entries():
            if texts_of(entry):
                entry.wanted_at = time.monotonic()
        while (chosen := self._choose()) is not None:
            self._advance(chosen)

    def entries(self) -> list[RunEntry]:
        """Return all folders of the list, newest name last."""
        with self._changed:
            now = time.monotonic()
            if now - self._scanned_at >= _SCAN_SECONDS:
                self._entries = {
                    one.key: one for one in map(self._keep_entry, self._list_folders())
                }
                self._scanned_at = now
                for entry in self._entries.values():
                    _look(entry)
                self._changed.notify_all()
            return list(self._entries.values())

    def get(self, key: str) -> RunEntry | None:
        """Return a folder of the list by its key, as it is now, and want its texts."""
        self.entries()
        entry = self._entries.get(key)
        if entry is not None:
            entry.wanted_at = time.monotonic()
            with self._changed:
                _look(entry)
                self._changed.notify_all()
            # After one step there is something to see: better than a page that changes at once.
            if self._thread.is_alive() and not _is_worth_showing(entry.state):
                self._wait_for_cases(entry)
        return entry

    def _wait_for_cases(self, entry: RunEntry) -> None:
        with self._changed:
            self._changed.wait_for(
                lambda: _is_worth_showing(entry.state), timeout=_PATIENCE_SECONDS
            )

    def _list_folders(self) -> list[Path]:
        if (self.folder / MANIFEST).exists():
            return [self.folder]
        try:
            found = [one for one in self.folder.iterdir() if _is_like_a_run(one)]
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", where=str(self.folder)) from None
        if self._elsewhere:
            known = {one.absolute() for one in found}
            others = dict.fromkeys(list_elsewhere(self.folder))
            found += [one for one in others if one not in known and _is_like_a_run(one)]
        return sorted(found, key=lambda one: one.name)

    def _keep_entry(self, path: Path) -> RunEntry:
        key = _make_key(path, is_inside=path.parent == self.folder or path == self.folder)
        if (known := self._entries.get(key)) is not None:
            return known
        named = hashlib.blake2b(os.fsencode(path.absolute()), digest_size=12).hexdigest()
        return RunEntry(path, key, self._cache / f"{named}.sqlite")

    def _prepare_cache(self) -> Path:
        """Return the folder of the indexes: private, because they hold texts of runs."""
        folder = cache_folder() / KIND
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
            _remove_unused(folder)
            (folder / ".lock").touch()
        except OSError as error:
            self._temporary = tempfile.mkdtemp(prefix="assay-view-")
            logger.warning(
                "%s: cannot be written (%s); runs are indexed in a temporary folder",
                folder,
                error.strerror,
            )
            return Path(self._temporary)
        return folder

    def _work(self) -> None:
        while True:
            with self._changed:
                if self._is_closed:
                    return
                entry = self._choose()
                if entry is None:
                    self._changed.wait(_IDLE_SECONDS)
                    continue
            self._advance(entry)
            with self._changed:
                self._changed.notify_all()

    def _choose(self) -> RunEntry | None:
        """Return the run with the most urgent work, if any has some."""
        newest = sorted(self._entries.values(), key=lambda one: one.name, reverse=True)
        newest.sort(key=lambda one: -one.wanted_at)
        urgent = [one for one in newest if not one.state.problem and one.state.stamp is not None]
        for needs in (_needs_cases, _needs_views, _needs_texts, _needs_check):
            for entry in urgent:
                if needs(entry):
                    return entry
        return None

    def _advance(self, entry: RunEntry) -> None:
        """Do a little of what a run needs, and note what is known then."""
        try:
            if _needs_cases(entry):
                self._extend(entry)
            elif _needs_views(entry):
                _make_views(entry)
            elif _needs_texts(entry):
                self._extend(entry)
            else:
                _check(entry)
        except (AssayError, OSError, sqlite3.Error) as error:
            if type(error) is sqlite3.DatabaseError:
                # The index is damaged, not the run; the next viewer makes it anew.
                entry.database.unlink(missing_ok=True)
            entry.update(problem=_explain(entry, error))

    def _extend(self, entry: RunEntry) -> None:
        journal = entry.path / JOURNAL
        wants_texts = bool(entry.wanted_at)
        with write_index(entry.database, entry.path) as index:
            if index is None:
                # Another viewer has it in hand.
                time.sleep(_STEP_SECONDS)
                if not entry.database.exists():
                    return
                index = SearchIndex.for_viewing(entry.database)
            else:
                end = time.monotonic() + _STEP_SECONDS
                while time.monotonic() < end:
                    has_cases = index.measure_progress(journal).has_cases
                    if (has_cases and not wants_texts) or not index.extend(journal):
                        break
            _note(entry, index)


def _is_worth_showing(state: RunState) -> bool:
    """Return whether a page has cases, and what little may be said of a small run."""
    if state.problem or not state.is_current:
        return bool(state.problem or state.progress.cases)
    if state.progress.cases > _DESCRIBED_AT_ONCE or state.is_live:
        return True
    return state.whole is not None and state.progress.is_complete


def _make_key(path: Path, *, is_inside: bool) -> str:
    if is_inside and _PLAIN_NAME.fullmatch(path.name):
        return path.name
    named = path.name if is_inside else path.absolute()
    return "~" + hashlib.blake2b(os.fsencode(named), digest_size=9).hexdigest()


def _is_like_a_run(path: Path) -> bool:
    """Return whether a folder is a run or was one; it is named even if it cannot be shown."""
    if not path.is_dir():
        return False
    is_closed = not os.access(path, os.R_OK | os.X_OK)
    return is_closed or any(os.path.lexists(path / name) for name in (MANIFEST, JOURNAL))


def _look(entry: RunEntry) -> None:
    """Note whether a run has changed; raises nothing."""
    try:
        stamp = _stamp(entry.path)
        if stamp != entry.state.stamp:
            # What has changed may have been repaired.
            manifest = read_manifest(entry.path)
            entry.update(problem="", manifest=manifest, stamp=stamp, exit_code=None, whole=None)
    except (AssayError, OSError) as error:
        entry.update(problem=_explain(entry, error), stamp=None)


def _stamp(path: Path) -> Stamp:
    """Return the stamp of a run; raise InputError if a part of it is not a plain file."""
    if path.is_symlink():
        raise InputError("is a symbolic link, which the viewer does not follow", where=path.name)
    changed = {name: _stat_file(path / name).st_mtime_ns for name in (MANIFEST, JOURNAL)}
    if os.path.lexists(path / BASELINE):
        changed[MANIFEST] += _stat_file(path / BASELINE).st_mtime_ns
    journal = path / JOURNAL
    return Stamp(
        changed[MANIFEST], complete_size(journal), changed[JOURNAL], is_being_written(path)
    )


def _stat_file(path: Path) -> os.stat_result:
    try:
        found = path.lstat()
    except FileNotFoundError:
        raise InputError(f"is not a run: it has no {path.name}", where=path.parent.name) from None
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"its {path.name} is not a plain file", where=path.parent.name)
    return found


def _needs_cases(entry: RunEntry) -> bool:
    state = entry.state
    return not state.is_current or (state.exit_code is None and not state.is_live)


def _needs_texts(entry: RunEntry) -> bool:
    return bool(entry.wanted_at) and not entry.state.progress.is_complete


def _needs_views(entry: RunEntry) -> bool:
    state = entry.state
    is_settled = state.is_current and not state.is_live
    return bool(entry.wanted_at) and is_settled and state.whole is None


def _needs_check(entry: RunEntry) -> bool:
    return entry.state.checked != entry.state.stamp and not entry.state.is_live


def _note(entry: RunEntry, index: SearchIndex) -> None:
    """Note what the index says of a run now."""
    progress = index.measure_progress(entry.path / JOURNAL)
    samples, _ = index.count_samples()
    entry.update(progress=progress, counts=index.counts(), samples=samples)
    # While a run is written this would be work for every new case.
    if entry.state.is_current and entry.state.exit_code is None and not entry.state.is_live:
        with entry.open() as (run, _):
            entry.update(exit_code=entry.summarize(run).exit_code)


def _make_views(entry: RunEntry) -> None:
    """Note what the subject says of the whole run, for which it may read every record."""
    with entry.open() as (run, index):
        overview, matrix = render_overview(run), find_matrix(run)
        prefix = entry.read_facets(index).prefix
        drawn = "" if matrix is None else "".join(_draw(matrix, prefix))
    entry.update(whole=RunViews(overview, Html(drawn)))


def _draw(matrix: Matrix, prefix: str) -> Iterator[Html]:
    """Draw a matrix whose rows are named without what all ids begin with, as in the list."""

    def list_rows() -> Iterator[MatrixRow]:
        for row in matrix.rows():
            yield replace(row, label=row.label.removeprefix(prefix))

    return iter(draw_matrix(replace(matrix, rows=list_rows), _MATRIX_ROWS))


def _check(entry: RunEntry) -> None:
    """Open the run as every other command does, which reads all of its journal."""
    stamp = entry.state.stamp
    Run(entry.path).close()
    entry.update(checked=stamp)


def _explain(entry: RunEntry, error: Exception) -> str:
    if isinstance(error, AssayError):
        return f"{error.what}"
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror or error}"
    return f"cannot be indexed: {error} (in {entry.database})"


def _remove_unused(folder: Path) -> None:
    """Remove the indexes of runs that are gone, or that nobody has looked at for a month."""
    for path in folder.glob("*.sqlite"):
        with suppress(OSError, sqlite3.Error, TypeError):
            index = SearchIndex.for_viewing(path)
            try:
                (run,) = index.database.execute("SELECT run FROM about").fetchone()
            finally:
                index.close()
            is_old = time.time() - path.stat().st_mtime > _UNUSED_SECONDS
            if is_old or not os.path.isdir(os.fsdecode(run)):  # noqa: PTH112 - bytes of a name
                for end in ("", "-wal", "-shm"):
                    path.with_name(f"{path.name}{end}").unlink(missing_ok=True)
                path.with_suffix(".lock").unlink(missing_ok=True)
