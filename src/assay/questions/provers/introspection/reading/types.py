"""Types as they are written in options and annotations."""

from __future__ import annotations

import ast
import builtins
import typing
from collections.abc import Iterator, Sequence

from assay.questions.provers.introspection.library import CLASSES
from assay.questions.provers.introspection.reading.mentions import Mention
from assay.questions.provers.introspection.reading.understanding import Reading

_WRITTEN_OTHERWISE = {
    "List": "list", "Dict": "dict", "Tuple": "tuple", "Set": "set", "Type": "type",
    "FrozenSet": "frozenset",
}  # fmt: skip


def written_type(mention: Mention | None, reading: Reading) -> tuple[str, tuple[str, ...]] | None:
    """A type as a proof writes it, with the imports it needs; None if it is no known type."""
    tree = _expression(mention.code) if mention else None
    if tree is None or mention is None:
        return None
    imports: list[str] = []
    for path in dict.fromkeys(_paths(tree)):
        statement = _import_of(path, reading)
        if statement is None:
            return None
        imports += [statement] if statement else []
    return mention.code, tuple(imports)


def _expression(code: str) -> ast.expr | None:
    try:
        tree = ast.parse(code.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    allowed = (
        ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.BitOr, ast.Tuple, ast.List,
        ast.Load, ast.Constant,
    )  # fmt: skip
    return tree if all(isinstance(one, allowed) for one in ast.walk(tree)) else None


def _paths(tree: ast.expr) -> Iterator[str]:
    """The names in a type, each as far as its dots go."""
    inner = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and id(node) not in inner:
            yield ast.unparse(node)


def _import_of(path: str, reading: Reading) -> str | None:
    """The import a name in a type needs: none for Python's own; None if nobody knows it."""
    if isinstance(getattr(builtins, path, None), type):
        return ""
    library = reading.library
    found = library.owner(path, CLASSES)
    if found is not None:
        place = library.place(found)
        if place.names == (path,):
            return place.statement
        return (
            f"import {place.module}" if f"{place.module}.{'.'.join(place.names)}" == path else None
        )
    if "." not in path and path in typing.__all__:
        return f"from typing import {path}"
    return None


def same_type(annotation: str) -> str:
    """A type as text, without regard to how it is written."""
    tree = _expression(annotation.strip("'\""))
    return annotation if tree is None else _told(tree)


def _told(node: ast.expr) -> str:
    if isinstance(node, ast.Name | ast.Attribute):
        last = node.id if isinstance(node, ast.Name) else node.attr
        return _WRITTEN_OTHERWISE.get(last, last)
    if isinstance(node, ast.BinOp):
        return _union([node.left, node.right])
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        name = _told(node.value)
        if name in ("Union", "Optional"):
            return _union([*parts, *([ast.Constant(None)] if name == "Optional" else [])])
        return f"{name}[{', '.join(_told(one) for one in parts)}]"
    return ast.unparse(node)


def _union(parts: Sequence[ast.expr]) -> str:
    inner = {piece for one in parts for piece in _told(one).split(" | ")}
    return " | ".join(sorted(inner))
