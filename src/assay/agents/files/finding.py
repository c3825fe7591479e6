"""Which files are meant by files, folders and globs, and what came of reading them all."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.agents.files.problems import Problem
from assay.agents.files.reading import ReadFile, first_error, read_file
from assay.agents.files.source import DOCUMENTS
from assay.agents.model import AgentFile
from assay.errors import InputError

_MARK = re.compile(r"""^\s*[{-]?\s*["']?interactions["']?\s*:""", re.MULTILINE)


@dataclass(frozen=True)
class Reading:
    """The test files that were found, what is wrong with them, and what is no test."""

    files: list[AgentFile]
    problems: list[Problem]
    passed_over: list[Path]
    """HOCON files of a folder that have no `interactions`."""

    def files_or_error(self) -> list[AgentFile]:
        """The files, if nothing is wrong with any of them."""
        if self.problems:
            raise first_error(self.problems)
        return self.files


def read_files(paths: Iterable[str | Path]) -> Reading:
    """Read the test files that files, folders and globs name, each once, in the order named."""
    paths = list(paths)
    found: dict[Path, tuple[ReadFile, bool]] = {}
    for given in paths:
        for path, is_named in _expand(given):
            key = path.resolve()
            if key not in found:
                found[key] = (read_file(path), is_named)
    over = [one for one, is_named in found.values() if not one.has_interactions and not is_named]
    kept = [one for one, is_named in found.values() if one.has_interactions or is_named]
    if not kept:
        names = ", ".join(map(str, paths))
        advice = "a test file is HOCON, JSON or YAML with the key `interactions`"
        raise InputError("no test files: none has `interactions`", where=names, advice=advice)
    return Reading(
        [one.file for one in kept if one.file is not None],
        [problem for one in kept for problem in one.problems],
        [one.path for one in over],
    )


def _expand(given: str | Path) -> list[tuple[Path, bool]]:
    """The files that are meant, each with whether it was named itself."""
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
            if not path.is_symlink() and not path.name.startswith("."):
                yield from _in_folder(path)
        elif _may_be_a_test(path):
            yield path


def _may_be_a_test(path: Path) -> bool:
    """HOCON by its name; of the many JSON and YAML files there are, those with the key."""
    if path.name.endswith(".hocon"):
        return True
    if path.suffix not in DOCUMENTS:
        return False
    return _MARK.search(path.read_text(encoding="utf-8", errors="replace")) is not None
