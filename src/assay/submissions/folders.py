"""Whole folders: the copy of a submission, and the digest of a problem."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeAlias

from assay.documents import open_regular
from assay.errors import InputError
from assay.sandbox import check_depth, copy_file
from assay.submissions.config import ProblemConfig

LARGEST_SUBMISSION = 4 * 2**30
"""All its files together; each set-up copies them."""


def copy_submission(
    source: Path, target: Path, *, ignore: Sequence[str] = (), keep: Sequence[str] = ()
) -> str:
    """Copy a folder into an existing empty one and return the digest of its content.

    A link is copied as a link, wherever it points: in the sandbox it reaches nothing of this
    machine. Anything but files, folders and links is left out. Raises TooDeepError, and InputError
    for unreadable or too large content.
    """
    if not source.is_dir():
        raise InputError("is not the folder of a submission", where=str(source))
    digest, size = hashlib.blake2b(digest_size=12), 0
    for path, found in _files(source, ignore, keep):
        # A file with holes takes no room where it is, and all of its size where it is copied to.
        size += found.st_size if stat.S_ISREG(found.st_mode) else 0
        if size > LARGEST_SUBMISSION:
            raise InputError(
                f"the submission is larger than {LARGEST_SUBMISSION:,} bytes",
                where=str(source / path),
                advice="leave out what is not needed with `snapshot: {ignore_globs: […]}` of the "
                "environment",
            )
        new = target / path
        new.parent.mkdir(parents=True, exist_ok=True)
        try:
            kind, content = _copy(source / path, new, found)
        except OSError as error:
            where = str(source / path)
            raise InputError(f"cannot be copied: {error.strerror}", where=where) from None
        digest.update(f"{kind} {path}\0".encode("utf-8", "surrogateescape") + content + b"\0")
    return digest.hexdigest()


def _files(
    source: Path, ignore: Sequence[str], keep: Sequence[str]
) -> Iterator[tuple[str, os.stat_result]]:
    """Paths beneath the source in a stable order, and what each is; a folder before its files."""
    waiting = _inside(source, "")
    while waiting:
        path = waiting.pop()
        check_depth(path)
        found = (source / path).lstat()
        if stat.S_ISDIR(found.st_mode):
            is_ignored = _matches(path, ignore) or _matches(f"{path}/\0", ignore)
            if not is_ignored:
                yield path, found
            if keep or not is_ignored:
                waiting += _inside(source, f"{path}/")
        elif (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)) and (
            _matches(path, keep) or not _matches(path, ignore)
        ):
            yield path, found


def _inside(source: Path, above: str) -> list[str]:
    """Return the paths in a folder, the first at the end of the list."""
    try:
        names = sorted((entry.name for entry in (source / above).iterdir()), reverse=True)
    except OSError as error:
        where = str(source / above)
        raise InputError(f"cannot be copied: {error.strerror}", where=where) from None
    return [f"{above}{name}" for name in names]


def _matches(path: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(path, glob.removeprefix("./")) for glob in globs)


def _copy(source: Path, target: Path, found: os.stat_result) -> tuple[str, bytes]:
    """Return what was copied, and what identifies its content."""
    if stat.S_ISDIR(found.st_mode):
        target.mkdir(exist_ok=True)
        return "folder", b""
    if stat.S_ISLNK(found.st_mode):
        leads_to = source.readlink()
        target.symlink_to(leads_to)
        return "link", os.fsencode(leads_to)
    copy_file(str(source), str(target), found)
    with target.open("rb") as file:
        content = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=12)).digest()
    return "program" if found.st_mode & 0o100 else "file", content


Identity: TypeAlias = tuple[int, int]

# Left by tools, or by runs; no case depends on them.
_NOT_OF_THE_PROBLEM = frozenset({"__pycache__", ".git", ".hg", ".svn", ".jj", ".assay"})
_RUN_FILES = ("run.json", "journal.jsonl")
_SOLUTION = "solution"


def digest_problem(problem: ProblemConfig) -> str:
    """Return the digest of a problem without its solutions, with the external files it uses."""
    digest = hashlib.sha256()
    try:
        for name, content in _contents(problem):
            for part in (name.encode("utf-8", "surrogateescape"), content):
                digest.update(f"{len(part)}:".encode() + part)
    except OSError as error:
        where = str(error.filename or problem.path)
        raise InputError(f"cannot be read: {error.strerror}", where=where) from None
    return digest.hexdigest()


def _contents(problem: ProblemConfig) -> Iterator[tuple[str, bytes]]:
    checkpoints = problem.checkpoints.items()
    solutions = {
        _identity(one.path / _SOLUTION) for _, one in checkpoints if (one.path / _SOLUTION).is_dir()
    }
    seen = set(solutions)

    def is_read(link: Path) -> bool:
        """Return whether a link is followed; what is refused to cases is not read for this."""
        try:
            problem.check_inside(link)
        except InputError:
            return False
        return True

    yield from _problem_files("problem", problem.path, seen, is_read)
    for name, checkpoint in checkpoints:
        yield from _problem_files(f"checkpoint {name}", checkpoint.path, seen, is_read)
    # An asset counts wherever it is.
    seen -= solutions
    for name, asset in sorted(problem.static_assets.items()):
        yield from _problem_files(f"asset {name}", problem.path / asset.path, seen, is_read)


def _problem_files(
    name: str, path: Path, seen: set[Identity], is_read: Callable[[Path], bool]
) -> Iterator[tuple[str, bytes]]:
    """Yield every file with its digest; no folder twice, so that loops come to an end."""
    waiting = [(name, path)]
    while waiting:
        name, path = waiting.pop()
        if path.is_symlink():
            yield f"{name} ->", str(path.readlink()).encode("utf-8", "surrogateescape")
            if not is_read(path):
                continue
        if path.is_file():
            with open_regular(path) as file:
                yield name, hashlib.file_digest(file, "sha256").digest()
        elif path.is_dir() and _identity(path) not in seen and not _is_run(path):
            seen.add(_identity(path))
            inner = sorted(one for one in path.iterdir() if one.name not in _NOT_OF_THE_PROBLEM)
            waiting += [(f"{name}/{one.name}", one) for one in reversed(inner)]


def _identity(folder: Path) -> Identity:
    about = folder.stat()
    return about.st_dev, about.st_ino


def _is_run(folder: Path) -> bool:
    """Return whether a folder is a run, which changes while it is in progress."""
    return all((folder / name).is_file() for name in _RUN_FILES)
