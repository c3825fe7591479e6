"""Finds the test files meant by files, folders and globs, and reads them all."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from assay.agents.model import AgentFile
from assay.agents.testfile.reading import INTERACTIONS, ReadFile, read_file
from assay.agents.testfile.source import is_document, is_hocon
from assay.documents import LARGEST_DOCUMENT, UnreadableFileError, read_bytes
from assay.errors import InputError
from assay.escaping import escape_hidden
from assay.findings import Finding


@dataclass(frozen=True)
class SkippedFile:
    """A file in a folder that looks like a test but is not one, with the reason."""

    path: Path
    why: str

    def __str__(self) -> str:
        return escape_hidden(f"{self.path}: {self.why}, skipped")


@dataclass(frozen=True)
class FileSet:
    """The test files found, their problems, and the files that are not tests."""

    found: list[ReadFile]
    """In the order in which they were named."""
    skipped: list[SkippedFile] = field(default_factory=list)
    """HOCON, JSON and YAML files of a folder that are no tests, and folders not looked into."""

    @property
    def files(self) -> list[AgentFile]:
        """The files without a problem."""
        return [one.file for one in self.found if one.file is not None]

    @property
    def problems(self) -> list[Finding]:
        return [problem for one in self.found for problem in one.problems]


def read_files(paths: Iterable[str | Path]) -> FileSet:
    """Read the test files that files, folders and globs name, each once, in the order named."""
    paths = list(paths)
    found: dict[Path, tuple[ReadFile, bool]] = {}
    links: list[SkippedFile] = []
    for given in paths:
        for path, is_named in _expand(given):
            # Not `resolve`, which raises for a link that points to itself.
            key = Path(os.path.realpath(path))
            if path.is_dir():
                links.append(SkippedFile(path, "is a link to a folder"))
            elif key not in found:
                found[key] = (read_file(path) if is_named else _read_found(path), is_named)
    over = [one for one, is_named in found.values() if not one.has_interactions and not is_named]
    tests = [one for one, is_named in found.values() if one.has_interactions or is_named]
    if not tests:
        names = ", ".join(map(str, paths))
        advice = "a test file is HOCON, JSON or YAML with the key `interactions`"
        raise InputError("no test files: none has `interactions`", where=names, advice=advice)
    return FileSet(
        tests,
        [*(SkippedFile(one.path, "has no `interactions`") for one in over), *links],
    )


def _read_found(path: Path) -> ReadFile:
    """Read a file of a folder; JSON and YAML only if they may be tests."""
    if is_hocon(path) or _may_have_interactions(path):
        return read_file(path)
    return ReadFile(path, None, has_interactions=False)


def _may_have_interactions(path: Path) -> bool:
    """Return whether the text contains the key; a broken file with it must not be skipped."""
    try:
        # Without zeros, for a file that was saved as UTF-16 by mistake.
        data = read_bytes(path, LARGEST_DOCUMENT).replace(b"\0", b"")
    except (OSError, UnreadableFileError):
        return True
    return INTERACTIONS.encode() in data


def _expand(given: str | Path) -> list[tuple[Path, bool]]:
    """Return the selected files, and whether each was named directly; links to folders too."""
    path = Path(given)
    if path.is_file():
        return [(path, True)]
    if path.is_dir():
        within = [(one, False) for one in _in_folder(path)]
    elif glob.has_magic(str(given)):
        matches = map(Path, sorted(glob.glob(str(given), recursive=True)))  # noqa: PTH207 - absolute patterns too
        within = [(file, False) for match in matches for file in _of_match(match)]
    else:
        raise InputError("there is no such file or folder", where=str(given))
    if not within:
        advice = "a test file is HOCON, JSON or YAML with the key `interactions`"
        raise InputError("no test files are in it", where=str(given), advice=advice)
    return within


def _of_match(match: Path) -> Iterable[Path]:
    if match.is_dir():
        return _in_folder(match)
    return [match] if _may_be_a_test(match) else []


def _in_folder(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if path.is_symlink():
                yield path
            elif not path.name.startswith("."):
                yield from _in_folder(path)
        elif _may_be_a_test(path):
            yield path


def _may_be_a_test(path: Path) -> bool:
    # Anything but a file or a broken link, such as a pipe, might never end.
    return (is_hocon(path) or is_document(path)) and (path.is_file() or path.is_symlink())
