"""Source code of the target, read from its files: nothing is imported for it."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from assay.documents import LARGEST_SOURCE, UnreadableFileError, read_text
from assay.sandbox import Environment

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def module_file(environment: Environment, module: str) -> Path | None:
    """The file of a module of the target."""
    inside = Path(*module.split("."))
    for root in _roots(environment):
        for path in (root / inside / "__init__.py", root / inside.with_suffix(".py")):
            if path.is_file():
                return path
    return None


def _roots(environment: Environment) -> list[Path]:
    if environment.described == "current":
        return [Path(entry) for entry in sys.path if entry]
    folder = environment.python.parent.parent
    copies = [place for root in environment.first for place in (root / "src", root)]
    return [*copies, *sorted(folder.glob("lib*/python*/site-packages"))]


def source_of(environment: Environment, module: str, path: str) -> tuple[int, list[str]] | None:
    """The lines of a definition and the number of the first; of a module, all of them."""
    file = module_file(environment, module)
    if file is None:
        return None
    try:
        text = read_text(file, LARGEST_SOURCE)
        tree = ast.parse(text)
    except (OSError, ValueError, SyntaxError, RecursionError, UnreadableFileError):
        return None
    lines = text.splitlines()
    inner = path.removeprefix(module).strip(".")
    if not inner:
        return 1, lines
    found = _definition(tree, inner.split("."))
    if found is None or found.end_lineno is None:
        return None
    first = min([found.lineno, *(one.lineno for one in found.decorator_list)])
    return first, lines[first - 1 : found.end_lineno]


def _definition(tree: ast.Module, names: list[str]) -> _Definition | None:
    body: list[ast.stmt] = tree.body
    found: _Definition | None = None
    for name in names:
        found = next(
            (one for one in _statements(body) if isinstance(one, _Definition) and one.name == name),
            None,
        )
        if found is None:
            return None
        body = found.body
    return found


def _statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """Those of a body, and of the conditions and attempts directly in it."""
    found: list[ast.stmt] = []
    for one in body:
        found.append(one)
        if isinstance(one, ast.If | ast.Try):
            found += _statements([*one.body, *one.orelse])
    return found
