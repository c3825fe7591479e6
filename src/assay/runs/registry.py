"""Finds runs: those in the runs folder, and those that were written elsewhere with --out.

A run that is written elsewhere adds its path to a file in the runs folder. Paths that no longer
lead to a run are skipped, so folders may be moved or deleted at any time.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from assay.documents import MEGABYTE, read_bytes
from assay.errors import InputError, nearest
from assay.runs.folder import MANIFEST, RUNS_FOLDER, ignore_in_git, read_manifest

logger = logging.getLogger("assay")

ELSEWHERE = "elsewhere.jsonl"
_LARGEST = MEGABYTE
# Above this size, lines that are doubled or lead nowhere are removed.
_TIDY_ABOVE = 100_000


def remember_run(path: Path, runs_folder: Path, *, creates: bool = False) -> None:
    """Let `latest` and the lists of runs find a run that was written elsewhere.

    Without a runs folder nothing is remembered, unless `creates` says that one may be made.
    """
    place = path.absolute()
    if place.parent == runs_folder.absolute() or not (creates or runs_folder.is_dir()):
        return
    try:
        runs_folder.mkdir(parents=True, exist_ok=True)
        ignore_in_git(runs_folder)
        _append(runs_folder / ELSEWHERE, str(place))
    except (OSError, InputError) as error:
        reason = getattr(error, "strerror", None) or error
        logger.warning("%s: `latest` will not find this run: %s", path, reason)


def _append(file: Path, line: str) -> None:
    # A link would redirect the write to another file.
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(file, flags, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_size > _TIDY_ABOVE:
            places = list(dict.fromkeys(_read_places(file)))
            os.ftruncate(descriptor, 0)
            kept = [json.dumps(str(place)) for place in places if _is_run(place)]
            os.write(descriptor, "".join(f"{one}\n" for one in kept).encode())
        end = os.fstat(descriptor).st_size
        # A process that was killed may have left half a line.
        is_torn = end > 0 and os.pread(descriptor, 1, end - 1) != b"\n"
        os.write(descriptor, f"{chr(10) * is_torn}{json.dumps(line)}\n".encode())
    finally:
        os.close(descriptor)


def list_elsewhere(runs_folder: Path) -> Iterator[Path]:
    """Yield where runs were written that a runs folder remembers; they may be gone."""
    return _read_places(runs_folder / ELSEWHERE)


def _read_places(file: Path) -> Iterator[Path]:
    """Yield the paths of a registry; a line that is not one is skipped."""
    try:
        text = read_bytes(file, _LARGEST, follow=False)
    except (FileNotFoundError, NotADirectoryError):
        return
    for line in text.splitlines():
        try:
            place = json.loads(line)
        except (ValueError, RecursionError):
            # Half a line of a process that was killed.
            continue
        if isinstance(place, str) and place.startswith("/") and "\0" not in place:
            yield Path(place)


def _is_run(path: Path) -> bool:
    try:
        return (path / MANIFEST).is_file()
    except OSError:
        return False


def run_folders(runs_folder: Path, *, elsewhere: bool = True) -> list[Path]:
    """Return the runs kept under a folder, oldest first, and those it knows of elsewhere."""
    inside = runs_folder.iterdir() if runs_folder.is_dir() else iter(())
    # Hidden folders are being deleted or imported.
    paths = [path for path in inside if not path.name.startswith(".") and _is_run(path)]
    if elsewhere:
        known = {path.absolute() for path in paths}
        others = dict.fromkeys(list_elsewhere(runs_folder))
        paths += [_shorten(path) for path in others if path not in known and _is_run(path)]
    return sorted(paths, key=lambda path: (_read_start(path), path.name))


def _shorten(path: Path) -> Path:
    """Return the path from the current folder, if it is in it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _read_start(path: Path) -> datetime:
    """Return when a run was started; of a damaged one, when it was last written."""
    try:
        return read_manifest(path).started
    except InputError:
        return datetime.fromtimestamp((path / MANIFEST).stat().st_mtime, UTC)


def find_run(name: str, runs_folder: Path = RUNS_FOLDER) -> Path:
    """Return the run folder for a path, a name, a prefix of a name or `latest`.

    `latest` is the run that was started last, wherever it was written.
    """
    if (Path(name) / MANIFEST).is_file():
        return Path(name)
    known = run_folders(runs_folder)
    if name == "latest" and known:
        return known[-1]
    matching = [path for path in known if path.name.startswith(name)]
    exact = [path for path in matching if path.name == name]
    if len(exact or matching) == 1:
        return (exact or matching)[0]
    if matching:
        names = ", ".join(str(path) if exact else path.name for path in (exact or matching)[:5])
        advice = "give the path" if exact else "give more of it"
        raise InputError(f"{name!r} means {len(exact or matching)} runs: {names}", advice=advice)
    if os.path.isdir(name):  # noqa: PTH112 - a plain question about a word of the command line
        raise InputError("is not a run: it has no run.json", where=name)
    raise InputError(
        f"no run {name!r} in {runs_folder}",
        advice=nearest(name, (path.name for path in known)) if known else "there are no runs yet",
    )
