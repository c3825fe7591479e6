"""Imports in the code of a question that the target does not have, and where the names are now.

Pure functions. Lint looks names up in the files of the target, verification in its index.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.questions.index import plainness
from assay.questions.model import Question
from assay.questions.suite.references import ImportedName, split_import

if TYPE_CHECKING:
    from assay.questions.claims import Library

BROKEN_SNIPPET = "broken-snippet"
_FENCED = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
# Words of a stem, and of options, that may be about the failure itself or about what to import.
_ABOUT_FAILURE = re.compile(
    r"Error|Exception|\bimport|\berrors?\b|\bexceptions?\b|\bfail|\brais(?:e|ing)|\bthrow"
    r"|\b(?:re)?moved\b|\brenamed\b|\bdeprecat|\bno longer\b|\bexist|\bbroken\b|\bwrong\b"
    r"|\bbug|\bfix"
)
_FAILED_IMPORT = re.compile(
    r"ImportError|ModuleNotFoundError|\b[Ii]mport|\b(?:an?|any|some) (?:error|exception)\b|\bfail"
    r"|\bnot exist\b|\bno such\b"
)


def is_about_imports(question: Question) -> bool:
    """Return whether a question may be about the failure of an import of its own code."""
    stem = _FENCED.sub(" ", question.text)
    options = "\n".join(question.options.values())
    return bool(_ABOUT_FAILURE.search(stem) or _FAILED_IMPORT.search(options))


def list_snippets(question: Question) -> list[str]:
    """Return the pieces of code that a question shows, each with what it needs of its file."""
    blocks = [found[1] for found in _FENCED.finditer(question.text)]
    return [*([question.snippet.program] if question.snippet else []), *blocks]


def list_imports(code: str) -> Iterator[tuple[ast.Import | ast.ImportFrom, ImportedName]]:
    """Yield what a piece of code imports, except where a failure is provided for."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    guards = (ast.Try, ast.TryStar, ast.If, ast.With, ast.AsyncWith)
    guarded = {
        inner for node in ast.walk(tree) if isinstance(node, guards) for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and node not in guarded:
            yield from ((node, one) for one in split_import(node))


@dataclass(frozen=True)
class BrokenImport:
    """An import that the target does not have, and the only place of its name, if there is one."""

    node: ast.Import | ast.ImportFrom
    name: ImportedName
    nearest: tuple[str, ...]
    repaired: str | None = None

    def __str__(self) -> str:
        told = f"{BROKEN_SNIPPET}: `{self.name.statement}` cannot be resolved in the target"
        if self.repaired is not None:
            return f"{told}; the code is run with `{self.repaired}`"
        close = " or ".join(f"`{one}`" for one in self.nearest)
        return f"{told}; did you mean {close}?" if close else told


def find_broken(code: str, library: Library) -> Iterator[BrokenImport]:
    """Yield the imports of a piece of code that are the target's to have, and that it has not."""
    for node, name in list_imports(code):
        path = name.module if name.member is None else f"{name.module}.{name.member}"
        if _is_missing(path, library) and library.resolve(name.module, name.member) is False:
            nearest = tuple(library.index.nearest(path, 2))
            yield BrokenImport(node, name, nearest, _find_new_import(name, library))


def _find_new_import(name: ImportedName, library: Library) -> str | None:
    """Return the import of a name from the only public place that the target has it in."""
    if name.member is None:
        return None
    found = [
        one
        for one in library.index.find(name.member, ("class", "exception", "function", "constant"))
        if one.available and not (one.foreign or one.is_private or one.owner)
    ]
    if len({one.path for one in found}) != 1 or found[0].name != name.member:
        return None
    own = [path for path in found[0].paths if path.rpartition(".")[2] == name.member]
    # Of paths that are as plain as each other the one where it is defined.
    path = min(own, key=lambda one: (*plainness(one)[:3], one != found[0].path), default="")
    if not path:
        return None
    alias = f" as {name.bound}" if name.bound != name.member else ""
    return f"from {path.rpartition('.')[0]} import {name.member}{alias}"


def _is_missing(path: str, library: Library) -> bool:
    """Return whether the index has nothing by a path that is the target's own.

    It does not list every constant, so the files of the target have to agree.
    """
    index = library.index
    return not (
        library.is_guessed
        or not library.is_own(path)
        or index.resolve(path)
        or index.origin(path)
        or library.obstacle(path)
    )


def repair_imports(question: Question, code: str, library: Library) -> str:
    """Return code of a question with each broken import taken from the only place of its name."""
    if is_about_imports(question):
        return code
    moved = {one.name: one for one in find_broken(code, library) if one.repaired is not None}
    lines = code.splitlines()
    nodes = {one.node.lineno: one.node for one in moved.values()}
    for line, node in sorted(nodes.items(), reverse=True):
        written = (
            moved[one].repaired or "" if one in moved else one.statement
            for one in split_import(node)
        )
        last = node.end_lineno or line
        lines[line - 1 : last] = [
            lines[line - 1][: node.col_offset]
            + "; ".join(written)
            + lines[last - 1][node.end_col_offset :]
        ]
    return "\n".join(lines)


def describe_broken(question: Question, library: Library) -> tuple[str, ...]:
    """Return a note for each import of a question's code that the target does not have."""
    if is_about_imports(question):
        return ()
    found = (one for code in list_snippets(question) for one in find_broken(code, library))
    return tuple(dict.fromkeys(map(str, found)))
