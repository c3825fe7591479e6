"""Exports a run as one file, and imports such a file, which may be somebody else's."""

from __future__ import annotations

import calendar
import os
import secrets
import shutil
import stat
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from assay.documents import MEGABYTE, open_regular
from assay.errors import AssayError, InfrastructureError, InputError
from assay.escaping import escape_hidden
from assay.runs.folder import JOURNAL, MANIFEST, RUNS_FOLDER, Run, check_readable
from assay.runs.index import RunIndex
from assay.runs.registry import remember_run

MOST_FILES = 50_000
LARGEST_RUN = 4_000 * MEGABYTE
"""Bytes of all files of an imported run, unless more are allowed."""
_LARGEST_DIRECTORY = 16 * MEGABYTE
_LONGEST_NAME = 200
_DEEPEST = 8
_PIECE = 1 << 20
_INDEX = "index.sqlite"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGES = (
    zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError,
    IndexError, KeyError,
)  # fmt: skip


@dataclass(frozen=True)
class Exported:
    """A run in a file."""

    file: Path
    files: int
    bytes: int
    left_out: list[str]
    """What is in the folder and not in the file: links, pipes, devices."""


def export_run(run: str | os.PathLike[str], file: str | os.PathLike[str]) -> Exported:
    """Write a run and all files in its folder into one new file, a ZIP archive."""
    folder, target = Path(run), Path(file)
    check_readable(folder)
    with Run(folder):
        pass  # A damaged run is not handed on.
    left_out: list[str] = []
    files = list(_list_files(folder, left_out))
    if len(files) > MOST_FILES:
        raise InputError(f"has more than {MOST_FILES:,} files", where=str(folder))
    name = _check_name(folder.absolute().name, "the name of the run")
    try:
        with target.open("xb") as stream:
            size = _write_archive(stream, name, folder, files)
    except FileExistsError:
        raise InputError("is there already", where=str(target), advice="name another") from None
    except OSError as error:
        raise InfrastructureError(
            f"the run could not be exported: {error.strerror}", where=str(target)
        ) from None
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return Exported(target, len(files), size, left_out)


def _list_files(folder: Path, left_out: list[str]) -> Iterator[PurePosixPath]:
    """Yield the regular files of a folder, the manifest and the journal first; follow no link."""
    yield PurePosixPath(MANIFEST)
    yield PurePosixPath(JOURNAL)
    for place, folders, names in os.walk(folder):
        here = Path(place)
        for name in sorted([*names, *(one for one in folders if (here / one).is_symlink())]):
            path = here / name
            relative = PurePosixPath(path.relative_to(folder))
            if str(relative) in (MANIFEST, JOURNAL) or str(relative).startswith(_INDEX):
                continue
            if stat.S_ISREG(path.lstat().st_mode) and not _find_fault(relative):
                yield relative
            else:
                left_out.append(str(relative))


def _write_archive(stream: IO[bytes], name: str, folder: Path, files: list[PurePosixPath]) -> int:
    size = 0
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for relative in files:
            path = folder / relative
            changed = time.gmtime(max(path.lstat().st_mtime, _EARLIEST))
            about = zipfile.ZipInfo(f"{name}/{relative}", changed[:6])
            about.compress_type = zipfile.ZIP_DEFLATED
            about.external_attr = 0o644 << 16
            with (
                open_regular(path, follow=False) as source,
                archive.open(about, "w", force_zip64=True) as member,
            ):
                shutil.copyfileobj(source, member, _PIECE)
            size += about.file_size
    return size


# ZIP has no earlier time.
_EARLIEST = calendar.timegm((1980, 1, 1, 0, 0, 0))


def import_run(
    file: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    runs: str | os.PathLike[str] = RUNS_FOLDER,
    most_bytes: int = LARGEST_RUN,
    creates_runs: bool = False,
) -> Path:
    """Unpack an exported run into the runs folder, or into the new folder `out`.

    Nothing that exists is overwritten. The file may be anybody's: names that lead elsewhere, links,
    and more than `most_bytes` are refused before anything is written, and what is not a whole run
    is removed again.
    """
    source = Path(file)
    with _explain_damage(source), _open_archive(source) as archive:
        name, members = _check_members(archive, most_bytes)
        place = Path(runs) / name if out is None else Path(out)
        with _claim(place) as folder:
            _extract(archive, members, folder)
            _check_run(folder, source)
    remember_run(place, Path(runs), creates=creates_runs)
    return place


@contextmanager
def _open_archive(file: Path) -> Iterator[zipfile.ZipFile]:
    with open_regular(file) as stream:
        # A single read that is larger than that can only be a forged directory.
        bounded: Any = _BoundedReads(stream, _LARGEST_DIRECTORY)
        with zipfile.ZipFile(bounded) as archive:
            yield archive


class _BoundedReads:
    """A file that refuses to read very much at once."""

    def __init__(self, stream: IO[bytes], most: int) -> None:
        self._stream, self._most = stream, most
        self.tell = stream.tell
        self.seekable = stream.seekable

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        try:
            return self._stream.seek(offset, whence)
        except (OSError, ValueError):
            raise zipfile.BadZipFile("its directory names places that are not there") from None

    def read(self, size: int = -1) -> bytes:
        if size > self._most:
            raise zipfile.BadZipFile("its directory is too large")
        found = self._stream.read(size if size >= 0 else self._most + 1)
        if len(found) > self._most:
            raise zipfile.BadZipFile("its directory is too large")
        return found


@contextmanager
def _explain_damage(file: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise InputError("there is no such file", where=str(file)) from None
    except _DAMAGES as error:
        raise InputError(
            f"is not a run that was exported: {escape_hidden(str(error)) or type(error).__name__}",
            where=str(file),
            advice="export it again: assay runs export RUN FILE",
        ) from None
    except AssayError as error:
        error.where = error.where or str(file)
        raise
    except OSError as error:
        raise InfrastructureError(
            f"the run could not be unpacked: {error.strerror}", where=str(file)
        ) from None


def _check_members(
    archive: zipfile.ZipFile, most_bytes: int
) -> tuple[str, dict[PurePosixPath, zipfile.ZipInfo]]:
    """Return the name of the run and its files; raise InputError for anything unusual."""
    entries = archive.infolist()
    if len(entries) > MOST_FILES:
        raise InputError(f"has more than {MOST_FILES:,} files")
    size = sum(entry.file_size for entry in entries)
    if size > most_bytes:
        raise InputError(
            f"its files have {size:,} bytes, more than the {most_bytes:,} that are allowed",
            advice="if you trust it, allow more with --max-size",
        )
    members: dict[PurePosixPath, zipfile.ZipInfo] = {}
    names = set()
    for entry in entries:
        name, relative = _check_entry(entry)
        names.add(name)
        if relative in members:
            raise InputError(f"has two files of the name {_show(entry.filename)}")
        members[relative] = entry
    if len(names) != 1 or not {PurePosixPath(MANIFEST), PurePosixPath(JOURNAL)} <= set(members):
        raise InputError(f"is not a run: it needs one folder with {MANIFEST} and {JOURNAL}")
    return names.pop(), members


def _check_entry(entry: zipfile.ZipInfo) -> tuple[str, PurePosixPath]:
    """Return the folder and the path in it of an entry; raise InputError unless it is plain."""
    shown, kind = _show(entry.filename), entry.external_attr >> 16
    if stat.S_IFMT(kind) not in (0, stat.S_IFREG):
        what = "a link" if stat.S_ISLNK(kind) else "not a file"
        raise InputError(f"{shown} is {what}")
    if entry.flag_bits & 0x1:
        raise InputError(f"{shown} is encrypted")
    if entry.compress_type not in _METHODS:
        raise InputError(f"{shown} is compressed in an unusual way")
    name, _, rest = entry.filename.partition("/")
    _check_name(name, shown)
    if not rest or (fault := _find_fault(PurePosixPath(rest))) or str(PurePosixPath(rest)) != rest:
        raise InputError(f"{shown} {fault if rest and fault else 'is not the name of a file'}")
    if rest.startswith(_INDEX):
        raise InputError(f"{shown} is not part of an exported run")
    return name, PurePosixPath(rest)


def _check_name(name: str, what: str) -> str:
    if fault := _find_fault(PurePosixPath(name)):
        raise InputError(f"{what} {fault}", advice="rename the folder of the run, and export again")
    return name


def _find_fault(path: PurePosixPath) -> str:
    """Return why a path is not one that may be unpacked; empty if it may."""
    if path.is_absolute() or not path.parts:
        return "is not a name in the folder of a run"
    if len(path.parts) > _DEEPEST:
        return f"is deeper than {_DEEPEST} folders"
    for part in path.parts:
        if part.startswith("."):
            return "leads elsewhere or is hidden"
        if len(os.fsencode(part)) > _LONGEST_NAME:
            return f"is longer than {_LONGEST_NAME} bytes"
        if part != escape_hidden(part) or set(part) & set("\\:\n\t"):
            return "has characters that no run has"
    return ""


def _show(name: str) -> str:
    return repr(escape_hidden(name[:_LONGEST_NAME]))


@contextmanager
def _claim(place: Path) -> Iterator[Path]:
    """Give a new folder to unpack into, which becomes `place` if all goes well."""
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        # From here on nobody else can have this name.
        place.mkdir()
    except FileExistsError:
        raise InputError(
            "is there already", where=str(place), advice="name another folder with --out"
        ) from None
    new = place.with_name(f".importing-{secrets.token_hex(8)}")
    try:
        new.mkdir(mode=0o755)
        yield new
        new.rename(place)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        place.rmdir()
        raise


def _extract(
    archive: zipfile.ZipFile, members: dict[PurePosixPath, zipfile.ZipInfo], folder: Path
) -> None:
    free = shutil.disk_usage(folder).free
    if (size := sum(entry.file_size for entry in members.values())) > free:
        raise InfrastructureError(
            f"needs {size:,} bytes, and the disk has {free:,}", where=str(folder.parent)
        )
    for relative, entry in members.items():
        path = folder / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(entry) as source, path.open("xb") as file:
            shutil.copyfileobj(source, file, _PIECE)
        if path.stat().st_size != entry.file_size:
            raise zipfile.BadZipFile(f"{_show(entry.filename)} is not as large as it says")
        # When a pass was killed is read off the journal.
        changed = min(calendar.timegm((*entry.date_time, 0, 0, 0)), time.time())
        os.utime(path, (changed, changed))


def _check_run(folder: Path, source: Path) -> None:
    """Raise InputError unless the folder is a whole run; make its index."""
    try:
        with Run(folder) as run:
            run.counts()
    except InputError as error:
        raise InputError(f"the run in it cannot be used: {error.what}", where=str(source)) from None
    index = RunIndex.for_writing(folder)
    index.seal()
    index.close()
