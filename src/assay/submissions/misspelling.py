"""Detects misspelled field names, and whether the code of a problem reads them.

Configs and results may contain an author's own names, so an unknown name is not always a mistake.
It is one if it differs from a field by a letter and no code reads it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import BaseModel

from assay.documents import LARGEST_SOURCE, UnreadableFileError, read_bytes
from assay.errors import nearest

_READERS = frozenset({"getattr", "hasattr"})
# Words of others for what a result has; as a field of one's own they would be read by someone.
_OTHER_WORDS = {
    **dict.fromkeys(("exit_code", "exit_status", "returncode", "return_code"), "status_code"),
    "status": "status_code",
    "stdout": "output",
    "body": "output",
}


def near_miss(word: str, known: Iterable[str]) -> str | None:
    """Return the name that a word probably misspells, or None."""
    found = [(_distance(_squeeze(word), _squeeze(name)), name) for name in known if name != word]
    close = [(distance, name) for distance, name in found if distance <= _most_slips(name)]
    return min(close)[1] if close else None


def misspelt_field(word: str, result: type[BaseModel]) -> str | None:
    """Return the result field that a word misspells, or for which it is a common synonym."""
    return _OTHER_WORDS.get(word) or near_miss(word, result.model_fields)


def advise(word: str, near: str) -> str:
    """Return advice for a name that is close to a field but may be intended."""
    return f"did you mean {near!r}? your own name, read by code as `….{word}`, may stay"


def names_read(folder: Path, *, in_mappings: bool = False) -> set[str]:
    """Return the attributes that the code in a folder reads; nothing of it is run.

    With `in_mappings` also the keys it asks mappings for, as in `config.get("tolerance")`.
    """
    names: set[str] = set()
    for file in sorted(folder.glob("*.py")):
        names.update(_names_read(parse_code(file), in_mappings))
    return names


def parse_code(file: Path) -> ast.Module:
    """Return the tree of a Python file; an empty one if it cannot be read, reported elsewhere."""
    try:
        return ast.parse(read_bytes(file, LARGEST_SOURCE))
    except (OSError, SyntaxError, ValueError, RecursionError, UnreadableFileError):
        return ast.Module(body=[], type_ignores=[])


def find_word(folder: Path, word: str) -> str | None:
    """Return `file:line` of the first use of a name in the code of a folder, if any."""
    for file in sorted(folder.glob("*.py")):
        try:
            lines = read_bytes(file, LARGEST_SOURCE).decode("utf-8", "replace").splitlines()
        except (OSError, UnreadableFileError):
            continue
        for number, line in enumerate(lines, start=1):
            if word in line and word in _words(line):
                return f"{file}:{number}"
    return None


def nearest_file(folder: Path, name: str) -> str:
    """Return advice with the file that a name may refer to."""
    return nearest(name, (file.name for file in folder.glob("*.py")))


def _names_read(tree: ast.AST, in_mappings: bool) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield node.attr
        elif isinstance(node, ast.Call):
            called = node.func
            by_name = isinstance(called, ast.Name) and called.id in _READERS
            by_key = in_mappings and isinstance(called, ast.Attribute) and called.attr == "get"
            yield from _texts(node.args) if by_name or by_key else ()
        elif in_mappings and isinstance(node, ast.Subscript):
            yield from _texts([node.slice])


def _texts(nodes: Iterable[ast.expr]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _words(line: str) -> list[str]:
    return "".join(each if each.isalnum() or each == "_" else " " for each in line).split()


def _squeeze(name: str) -> str:
    """Return a name without capitals, underscores and hyphens."""
    return name.casefold().replace("_", "").replace("-", "")


def _most_slips(name: str) -> int:
    """Return how many typos are tolerated: short words are close to many others."""
    length = len(_squeeze(name))
    return 0 if length < 4 else 1 if length < 8 else 2


def _distance(one: str, other: str) -> int:
    """Return how many letters were left out, added, changed or swapped with their neighbour."""
    if abs(len(one) - len(other)) > 2:
        return 3
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        older, before, row = before, row, [i]
        for j, b in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]
