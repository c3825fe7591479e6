"""Reads a fix_error question: its three files, the name under which the test imports the repair,
and the other local files the test needs."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

from assay.documents import LARGEST_SOURCE, UnreadableFileError, read_bytes, read_text
from assay.questions.model import FixQuestion
from assay.questions.suite.files import find_beside, root_of
from assay.questions.suite.formats import FixError


class RepairError(Exception):
    """A file of the question that cannot be read: which field names it, and what to do."""

    def __init__(self, what: str, field: str, advice: str) -> None:
        super().__init__(what)
        self.what, self.field, self.advice = what, field, advice


@dataclass(frozen=True)
class _Source:
    """A file of the question with its text."""

    path: Path
    text: str

    def modules(self) -> list[str]:
        """Return the modules it imports, also inside functions, each once."""
        return list(dict.fromkeys(_find_imports(self.text)))

    def tops(self) -> set[str]:
        return {module.partition(".")[0] for module in self.modules()}


def read_repair(fields: FixError, suite: Path) -> FixQuestion:
    """Return the question with the text of its files; RepairError names a missing one."""
    test = _source(fields.test_file, "test_file", suite)
    unfixed = _source(fields.unfixed_file, "unfixed_file", suite)
    fixed = _source(fields.fixed_file, "fixed_file", suite)
    module = _find_module(test, unfixed, fixed)
    library = unfixed.tops() | fixed.tops()
    return FixQuestion(
        id=fields.id,
        name=fields.name or fields.id,
        description=fields.description,
        test=test.text,
        unfixed=unfixed.text,
        fixed=fixed.text,
        module=module,
        requirements=tuple(fields.requirements or ()),
        error_output=fields.error_output,
        companions=tuple(sorted(_companions(test, suite, library | {module}).items())),
    )


def _source(name: str, field: str, suite: Path) -> _Source:
    found = find_beside(name, suite)
    if found is None:
        advice = f"it is sought from the suite's folder up to {root_of(suite)}"
        raise RepairError(f"the file {name} does not exist", field, advice)
    try:
        return _Source(found, read_text(found, LARGEST_SOURCE))
    except (OSError, UnreadableFileError) as error:
        advice = "save it as UTF-8 text"
        reason = f": it {error.what}" if isinstance(error, UnreadableFileError) else ""
        raise RepairError(f"the file {name} cannot be read{reason}", field, advice) from None


def _find_module(test: _Source, unfixed: _Source, fixed: _Source) -> str:
    """Return the name under which the test imports the file to be repaired.

    A test that imports both files shows by the first that it is broken and tries the second: there
    the repair is what it imports under the name of the repaired file.
    """
    imported = test.tops()
    for stem in (fixed.path.stem, unfixed.path.stem):
        if stem in imported:
            return stem
    unknown = imported - unfixed.tops() - fixed.tops()
    missing = [name for name in sorted(unknown) if not _is_known(name, test.path.parent)]
    return missing[0] if len(missing) == 1 else unfixed.path.stem


def _is_known(name: str, folder: Path) -> bool:
    """Tell whether a module is the standard library's, installed, or beside the test."""
    if name in sys.stdlib_module_names or PathFinder.find_spec(name) is not None:
        return True
    return (folder / name).is_dir() or (folder / f"{name}.py").is_file()


def _companions(test: _Source, suite: Path, others: set[str]) -> dict[str, str]:
    """Return the local files the test imports, and those they import, by path.

    Never one of a package that the program itself imports or that is installed: it would stand
    before the library that is to be tested.
    """
    found: dict[str, str] = {}
    waiting = test.modules()
    while waiting:
        module = waiting.pop()
        top = module.partition(".")[0]
        if top in others or top in sys.stdlib_module_names or PathFinder.find_spec(top):
            continue
        local = _local_module(module, test.path, suite)
        if local is not None and local[0] not in found:
            name, source = local
            found[name] = source.text
            waiting += source.modules()
    return found


def _local_module(module: str, test: Path, suite: Path) -> tuple[str, _Source] | None:
    stem = module.replace(".", "/")
    for name in (f"{stem}.py", f"{stem}/__init__.py"):
        path = find_beside(name, test) or find_beside(name, suite)
        if path is not None:
            return name, _Source(
                path, read_bytes(path, LARGEST_SOURCE).decode("utf-8-sig", "replace")
            )
    return None


def _find_imports(source: str) -> Iterator[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)
