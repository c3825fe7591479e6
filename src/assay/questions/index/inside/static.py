"""Facts on a module that cannot be imported, from its source alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from .reading import Function, ModuleSource, decorators, text


def facts(module: str, source: ModuleSource) -> Iterator[dict[str, Any]]:
    """Its classes, functions and constants; all are marked as not available."""
    if source.tree is None:
        return
    for statement in _definitions(source.tree.body):
        for fact in _definition(module, "", statement, source):
            yield {**fact, "module": module, "available": False}
    for name in sorted(source.assigned):
        yield {
            "path": f"{module}.{name}", "kind": "constant", "module": module, "available": False,
            "annotation": source.annotations.get(name, ""), "doc": source.docs.get(name, ""),
        }  # fmt: skip


def _definitions(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, (ast.If, ast.Try)):
            yield from _definitions(statement.body)
        elif isinstance(statement, (ast.ClassDef, *Function)):
            yield statement


def _definition(
    prefix: str, owner: str, node: Any, source: ModuleSource
) -> Iterator[dict[str, Any]]:
    path = f"{prefix}.{node.name}"
    shared = {
        "path": path, "owner": owner, "doc": ast.get_docstring(node) or "",
        "decorators": decorators(node),
    }  # fmt: skip
    if isinstance(node, ast.ClassDef):
        yield {**shared, "kind": "class", "bases": [text(base) for base in node.bases]}
        for statement in _definitions(node.body):
            yield from _definition(path, path, statement, source)
        yield from _attributes(path, node, source)
        return
    kind = "method" if owner else "function"
    if any("property" in decorator for decorator in shared["decorators"]):
        kind = "property"
    yield {
        **shared,
        "kind": kind,
        "parameters": _parameters(node.args, drop_first=bool(owner) and not _is_static(node)),
        "returns": text(node.returns),
        "is_async": isinstance(node, ast.AsyncFunctionDef),
    }


def _attributes(path: str, node: ast.ClassDef, source: ModuleSource) -> Iterator[dict[str, Any]]:
    written = source.classes.get(node.name)
    if written is None:
        return
    for name in sorted({*written.annotations, *written.assigned, *written.instance}):
        yield {
            "path": f"{path}.{name}", "owner": path, "kind": "attribute",
            "annotation": written.annotations.get(name, "") or written.instance.get(name, ""),
            "doc": written.docs.get(name, ""),
        }  # fmt: skip


def _is_static(node: Any) -> bool:
    return "staticmethod" in decorators(node)


def _parameters(arguments: ast.arguments, *, drop_first: bool) -> list[dict[str, Any]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    listed = [
        _parameter(argument, "positional_or_keyword", default)
        for argument, default in zip(positional, [*missing, *arguments.defaults])  # noqa: B905
    ]
    if drop_first:
        listed = listed[1:]
    if arguments.vararg:
        listed.append(_parameter(arguments.vararg, "var_positional", None))
    listed.extend(
        _parameter(argument, "keyword_only", default)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults)  # noqa: B905
    )
    if arguments.kwarg:
        listed.append(_parameter(arguments.kwarg, "var_keyword", None))
    return listed


def _parameter(argument: ast.arg, kind: str, default: ast.expr | None) -> dict[str, Any]:
    return {
        "name": argument.arg,
        "kind": kind,
        "default": None if default is None else text(default),
        "annotation": text(argument.annotation),
    }
