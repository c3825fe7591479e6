"""The imports at the top of a file, one by one, and which of them a piece of code uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_START = re.compile(r"^(?:import|from)\s", re.MULTILINE)
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class ImportedName:
    """One name that a file imports: the statement for it alone, and where it comes from.

    `member` is what is taken out of `module`; None where the module itself is imported.
    """

    bound: str
    statement: str
    module: str
    member: str | None
    line: int


def imported_names(source: str) -> list[ImportedName]:
    """What the top level of a file imports, also inside `if` and `try`; the first of each name."""
    found: dict[str, ImportedName] = {}
    for statement in _statements(source):
        for one in _names(statement):
            found.setdefault(one.bound, one)
    return list(found.values())


def used_names(code: str) -> frozenset[str]:
    """The names a piece of code uses; every word of it where it does not parse."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return frozenset(_WORD.findall(code))
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def _statements(source: str) -> Iterator[ast.Import | ast.ImportFrom]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        # Snippets may be broken on purpose; their imports can be read all the same.
        yield from _loose_statements(source)
    else:
        yield from _imports_in(tree.body)


def _imports_in(body: Iterable[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif isinstance(statement, ast.If | ast.Try | ast.TryStar):
            yield from _imports_in(statement.body)
            for handler in getattr(statement, "handlers", []):
                yield from _imports_in(handler.body)
            yield from _imports_in(statement.orelse)
            yield from _imports_in(getattr(statement, "finalbody", []))


def _loose_statements(source: str) -> Iterator[ast.Import | ast.ImportFrom]:
    for start in (match.start() for match in _START.finditer(source)):
        first, _, rest = source[start:].partition("\n")
        text = first if "(" not in first else first + "\n" + rest.partition(")")[0] + ")"
        line = source.count("\n", 0, start)
        try:
            statements = ast.parse(first if ")" in first else text).body
        except (SyntaxError, ValueError):
            continue
        for statement in statements:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                yield ast.increment_lineno(statement, line)


def _names(statement: ast.Import | ast.ImportFrom) -> Iterator[ImportedName]:
    # A future statement binds no name for use, and a star binds names nobody can know.
    if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
        return
    for alias in statement.names:
        if alias.name == "*":
            continue
        suffix = f" as {alias.asname}" if alias.asname else ""
        if isinstance(statement, ast.Import):
            bound = alias.asname or alias.name.partition(".")[0]
            text, module, member = f"import {alias.name}{suffix}", alias.name, None
        else:
            bound = alias.asname or alias.name
            module, member = "." * statement.level + (statement.module or ""), alias.name
            text = f"from {module} import {alias.name}{suffix}"
        yield ImportedName(bound, text, module, member, statement.lineno)
