"""The digest of a problem: of every file that its verdicts stand on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from assay.documents import open_regular
from assay.errors import InputError
from assay.submissions.config import ProblemConfig

Identity: TypeAlias = tuple[int, int]

# Left by tools, or by runs; no case depends on them.
_NOT_OF_THE_PROBLEM = frozenset({"__pycache__", ".git", ".hg", ".svn", ".jj", ".assay"})
_RUN_FILES = ("run.json", "journal.jsonl")
_SOLUTION = "solution"


def problem_digest(problem: ProblemConfig) -> str:
    """Of the problem's folder without its solutions, and of what it uses from elsewhere."""
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

    yield from _files("problem", problem.path, seen, is_read)
    for name, checkpoint in checkpoints:
        yield from _files(f"checkpoint {name}", checkpoint.path, seen, is_read)
    # An asset counts wherever it is.
    seen -= solutions
    for name, asset in sorted(problem.static_assets.items()):
        yield from _files(f"asset {name}", problem.path / asset.path, seen, is_read)


def _files(
    name: str, path: Path, seen: set[Identity], is_read: Callable[[Path], bool]
) -> Iterator[tuple[str, bytes]]:
    """Every file with what tells it from another; no folder twice, so that loops come to an end."""
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
    """Whether a run is kept there, which changes while it goes on."""
    return all((folder / name).is_file() for name in _RUN_FILES)
