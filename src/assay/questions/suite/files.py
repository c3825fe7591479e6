"""Locates suite files named by the user and files that a suite refers to."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from assay.documents import LARGEST_DOCUMENT, open_regular
from assay.errors import InputError

_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_PROOFS = "proofs"
# A JSON Schema beside a suite names the same key.
SCHEMA = ".schema.json"
_MARK = re.compile(r"""^\s*\{?\s*["']?benchmarks["']?\s*:""", re.MULTILINE)


def suite_files(paths: Iterable[str | Path]) -> list[Path]:
    """Return the suite files that files, folders and globs name, each once, in the order named."""
    found: dict[Path, Path] = {}
    for given in paths:
        for path in _expand(given):
            found.setdefault(path.resolve(), path)
    return list(found.values())


def _expand(given: str | Path) -> list[Path]:
    path = Path(given)
    if path.is_file():
        return [path]
    if path.is_dir():
        return _nonempty(list(_in_folder(path)), given, "it holds no suite file (YAML or JSON)")
    if glob.has_magic(str(given)):
        matches = [Path(name) for name in sorted(glob.glob(str(given), recursive=True))]  # noqa: PTH207 - absolute patterns too
        within = [file for match in matches for file in _of_match(match)]
        return _nonempty(within, given, "nothing matches the pattern")
    raise InputError("there is no such file or folder", where=str(given))


def _of_match(match: Path) -> Iterable[Path]:
    if match.is_dir():
        return _in_folder(match)
    return [match] if _looks_like_a_suite(match) else []


def _nonempty(files: list[Path], given: str | Path, what: str) -> list[Path]:
    if not files:
        advice = "a suite is a file with the key `benchmarks`"
        raise InputError(f"no suites: {what}", where=str(given), advice=advice)
    return files


def _in_folder(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink() and path.name != _PROOFS:
            yield from _in_folder(path)
        elif path.is_file() and _looks_like_a_suite(path):
            yield path


def _looks_like_a_suite(path: Path) -> bool:
    """Check the text without parsing it, so that a broken suite is not skipped."""
    if path.suffix not in _SUFFIXES or path.name.endswith(SCHEMA):
        return False
    with open_regular(path) as file:
        # A file that is too large is refused when it is read, with its size.
        text = file.read(LARGEST_DOCUMENT).decode("utf-8", "replace")
    return _MARK.search(text) is not None


def root_of(suite: Path) -> Path:
    """Return the folder that a suite's references may not leave.

    That is the repository the suite is in; else the current folder, if the suite is below it; else
    the suite's own folder. A suite may come from a stranger, and what it names is shown.
    """
    folder = suite.resolve().parent
    above = (folder, *folder.parents)
    repository = next((one for one in above if (one / ".git").exists()), None)
    if repository is not None:
        return repository
    here = Path.cwd()
    return here if here in above else folder


def find_beside(name: str, suite: Path) -> Path | None:
    """Return the file that a suite names, sought from the suite's folder up to the root."""
    root = root_of(suite)
    folder = suite.resolve().parent
    for base in (folder, *folder.parents):
        candidate = _file(base, name)
        if candidate is not None and candidate.is_relative_to(root):
            return candidate
        if base == root:
            return None
    return None


def _file(base: Path, name: str) -> Path | None:
    try:
        candidate = (base / name).resolve()
        return candidate if candidate.is_file() else None
    except (OSError, ValueError):
        # An invalid file name on this system refers to no file.
        return None
