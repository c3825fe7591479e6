"""Deletes old runs of a runs folder and keeps the newest of every title."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from assay.documents import open_regular
from assay.errors import AssayError, InfrastructureError, InputError
from assay.runs.folder import JOURNAL, RUNS_FOLDER, Manifest, is_being_written, read_manifest
from assay.runs.registry import run_folders

_DELETING = ".deleting-"


class LeftRun(NamedTuple):
    """A run that was not deleted although it is old, and why."""

    path: Path
    reason: str


@dataclass
class Pruning:
    """What was deleted, or would be."""

    deleted: list[Path] = field(default_factory=list)
    left: list[LeftRun] = field(default_factory=list)
    kept: int = 0


def prune_runs(
    keep: int,
    runs: str | os.PathLike[str] = RUNS_FOLDER,
    *,
    title: str | None = None,
    unfinished: bool = False,
    dry_run: bool = False,
) -> Pruning:
    """Delete all but the newest `keep` runs of every title and subject from a runs folder.

    Runs that were written elsewhere are never deleted, nor are runs that are being written or
    cannot be read. Unfinished runs are only with `unfinished`.
    """
    if keep < 1:
        raise InputError(f"keep must be at least 1, not {keep}")
    pruning = Pruning()
    for path in _choose(Path(runs), keep, title, unfinished, pruning):
        if dry_run or _delete(path, pruning):
            pruning.deleted.append(path)
    if not dry_run:
        _delete_leftovers(Path(runs))
    return pruning


def _choose(
    runs: Path, keep: int, title: str | None, unfinished: bool, pruning: Pruning
) -> Iterator[Path]:
    """Yield what is to be deleted, oldest first."""
    kinds: dict[tuple[str, str, bool], list[Path]] = defaultdict(list)
    for path in run_folders(runs, elsewhere=False):
        manifest = _read(path, title, unfinished, pruning)
        if manifest is not None:
            # Runs of some cases do not take the place of runs of all.
            kinds[manifest.subject, manifest.title, manifest.is_partial].append(path)
    for paths in kinds.values():
        pruning.kept += min(keep, len(paths))
        yield from paths[:-keep]


def _read(path: Path, title: str | None, unfinished: bool, pruning: Pruning) -> Manifest | None:
    """Return the manifest of a run that may be deleted; note why another one may not."""
    try:
        if path.is_symlink():
            raise InputError("is a symbolic link")
        manifest = read_manifest(path)
        if title is not None and manifest.title != title:
            return None
        if is_being_written(path):
            raise InputError("is being written")
        if manifest.finished is None and not unfinished:
            raise InputError("is not finished; delete it with --unfinished")
    except (AssayError, OSError) as error:
        what = error.what if isinstance(error, AssayError) else str(error)
        pruning.left.append(LeftRun(path, what))
        return None
    return manifest


def _delete(path: Path, pruning: Pruning) -> bool:
    """Delete a run unless a process starts to write it; return whether it is gone."""
    with contextlib.ExitStack() as opened:
        try:
            journal = opened.enter_context(open_regular(path / JOURNAL, follow=False))
            fcntl.flock(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (OSError, InputError):
            pruning.left.append(LeftRun(path, "is being written"))
            return False
        # Half a folder must never be taken for a run.
        doomed = path.with_name(f"{_DELETING}{secrets.token_hex(8)}")
        _remove(path.rename(doomed), path)
    return True


def _delete_leftovers(runs: Path) -> None:
    """Delete what an interrupted deletion left behind."""
    for path in runs.glob(f"{_DELETING}*"):
        if path.is_dir() and not path.is_symlink():
            _remove(path, path)


def _remove(folder: Path, named: Path) -> None:
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise InfrastructureError(
            f"could not be deleted: {error.strerror}", where=str(named)
        ) from None
