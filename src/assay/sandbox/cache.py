"""The cache on disk: folders that are built once, completely or not at all."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import random
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assay.documents import LARGEST_RECORD, MEGABYTE, UnreadableFileError, read_bytes
from assay.errors import InfrastructureError

# Written last into a folder before it gets its name: a folder without it was never finished.
MARKER = "built.json"
_UNFINISHED = ".building-"
_LARGEST_LIST = 128 * MEGABYTE
"""A digest for every file of an environment, of which there may be hundreds of thousands."""


def cache_folder() -> Path:
    """Return the folder for data that can be rebuilt: `ASSAY_CACHE`, or the user's cache."""
    named = os.environ.get("ASSAY_CACHE")
    if named:
        return Path(named).absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "assay"


@contextmanager
def exclusive(name: str, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold a named lock across all processes that share the cache; it ends with its holder."""
    folder = cache_folder() / "guards"
    with _writable(folder):
        folder.mkdir(parents=True, exist_ok=True)
        guard = (folder / name).open("a")
    with guard:
        try:
            fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waiting:
                waiting()
            fcntl.flock(guard, fcntl.LOCK_EX)
        yield


def read_facts(kind: str, key: str) -> dict[str, Any] | None:
    """Return the metadata of a finished folder; None if there is no such folder."""
    try:
        facts = json.loads(read_bytes(cache_folder() / kind / key / MARKER, LARGEST_RECORD))
    except (OSError, ValueError, UnreadableFileError):
        return None
    return facts if isinstance(facts, dict) else None


def build_once(
    kind: str,
    key: str,
    build: Callable[[Path], dict[str, Any]],
    waiting: Callable[[], None] | None = None,
) -> tuple[Path, dict[str, Any]]:
    """Return the folder for a key and its metadata; call `build` if it does not exist yet."""
    final = cache_folder() / kind / key
    facts = read_facts(kind, key)
    if facts is not None:
        return final, facts
    with exclusive(f"{kind}-{key}", waiting), _writable(final.parent):
        facts = read_facts(kind, key)
        if facts is None:
            facts = _build(final, build)
    return final, facts


def _build(final: Path, build: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    final.parent.mkdir(parents=True, exist_ok=True)
    # The lock is held: whatever is unfinished under this key belongs to a build that was killed.
    for leftover in [*final.parent.glob(f"{_UNFINISHED}{final.name}-*"), final]:
        shutil.rmtree(leftover, ignore_errors=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f"{_UNFINISHED}{final.name}-", dir=final.parent))
    try:
        # A proof may run as a different user than the builder; the folder holds no secret.
        unfinished.chmod(0o755)
        facts = build(unfinished)
        facts["bytes"] = size(unfinished)
        write_whole(_digests_of(final), json.dumps(dict(_entries(unfinished))))
        _write_synced(unfinished / MARKER, json.dumps(facts, indent=1, sort_keys=True))
        unfinished.rename(final)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return facts


def list_keys(kind: str) -> list[str]:
    """Return the keys of all finished folders of a kind."""
    folder = cache_folder() / kind
    if not folder.is_dir():
        return []
    return sorted(entry.name for entry in folder.iterdir() if (entry / MARKER).is_file())


def remove(kind: str, key: str) -> int:
    """Remove a finished folder and return its size in bytes."""
    final = cache_folder() / kind / key
    with exclusive(f"{kind}-{key}"), _writable(final.parent):
        held = size(final)
        # Renamed first: a removal that is killed half way must not leave half a folder.
        doomed = final.with_name(f"{_UNFINISHED}{key}-removed-{os.getpid()}")
        final.rename(doomed)
        _digests_of(final).unlink(missing_ok=True)
        shutil.rmtree(doomed, ignore_errors=True)
    return held


def find_changes(kind: str, key: str, sample: int | None = None) -> list[str] | None:
    """Return what changed in a finished folder since it was built; None if that is unknown.

    With `sample` only that many files, chosen at random, are compared, and added files are ignored.
    """
    final = cache_folder() / kind / key
    try:
        recorded: dict[str, str] = json.loads(read_bytes(_digests_of(final), _LARGEST_LIST))
    except (OSError, ValueError, UnreadableFileError):
        return None
    if sample is None:
        found = dict(_entries(final))
    else:
        names = random.sample(sorted(recorded), min(sample, len(recorded)))
        recorded = {name: recorded[name] for name in names}
        found = {name: _digest(f"{final}/{name}") for name in names}
    return sorted(
        name for name in recorded.keys() | found.keys() if recorded.get(name) != found.get(name)
    )


def check_unchanged(kind: str, key: str, sample: int | None = None) -> None:
    """Raise InfrastructureError if a finished folder was changed; see above."""
    changed = find_changes(kind, key, sample)
    if changed:
        raise InfrastructureError(
            f"{len(changed)} files were changed after this folder was built, {changed[0]!r} first",
            where=str(cache_folder() / kind / key),
            advice="find out who did that, then remove the folder: it is built again when needed",
        )


def _digests_of(final: Path) -> Path:
    # Not in the folder itself: a process that can write there must not be able to write this too.
    return final.parent.parent / "digests" / final.parent.name / f"{final.name}.json"


def _entries(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield every file and link below a folder, by its path, with its digest."""
    top = f"{folder}/"
    for place, folders, names in os.walk(folder):
        paths = [f"{place}/{name}" for name in (*names, *folders)]
        for path in paths[: len(names)] + [one for one in paths[len(names) :] if _is_link(one)]:
            relative = path.removeprefix(top)
            if relative != MARKER:
                yield relative, _digest(path)


def _is_link(path: str) -> bool:
    return stat.S_ISLNK(os.lstat(path).st_mode)


def _digest(path: str) -> str:
    # Without pathlib: a hot loop.
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            return f"link to {os.readlink(path)}"  # noqa: PTH115
        if not stat.S_ISREG(mode):
            return "no file"
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"not readable: {error.strerror}"


def size(folder: Path) -> int:
    """Return the bytes of all files below a folder; a file with two names counts once."""
    seen: set[tuple[int, int]] = set()
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            status = os.lstat(os.path.join(place, name))  # noqa: PTH118 - a hot loop
            identity = (status.st_dev, status.st_ino)
            if identity not in seen:
                seen.add(identity)
                total += status.st_size
    return total


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically: a reader sees the old text or the new one, never a part."""
    with _writable(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".writing-", dir=path.parent)
        os.close(handle)
        _write_synced(Path(name), text)
        Path(name).replace(path)


def _write_synced(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _writable(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InfrastructureError(
            f"the cache cannot be written: {error.strerror or error}",
            where=str(folder),
            advice="free some space, or name another folder with ASSAY_CACHE",
        ) from error
