"""What the source of a module says, which may be all there is of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_LONGEST = 300


class ClassSource:
    """A class as written: its decorators, annotations, documented and instance attributes."""

    def __init__(self) -> None:
        self.decorators: list[str] = []
        self.annotations: dict[str, str] = {}
        self.docs: dict[str, str] = {}
        self.assigned: set[str] = set()
        self.instance: dict[str, str] = {}
        self.methods: dict[str, list[str]] = {}


class ModuleSource:
    """A module as written; empty for one without source."""

    def __init__(self) -> None:
        self.tree: ast.Module | None = None
        self.annotations: dict[str, str] = {}
        self.docs: dict[str, str] = {}
        self.assigned: set[str] = set()
        self.imports: dict[str, str] = {}
        self.optional: dict[str, str] = {}
        self.classes: dict[str, ClassSource] = {}
        self.functions: dict[str, list[str]] = {}


def read_source(name: str, path: str) -> ModuleSource:
    """Parse a module's file; one that cannot be read or parsed says nothing."""
    source = ModuleSource()
    if not path.endswith(".py"):
        return source
    try:
        with open(path, "rb") as file:
            source.tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return source
    package = name if path.endswith("__init__.py") else name.rpartition(".")[0]
    _read_statements(source, source.tree.body, package, "", is_optional=False)
    return source


def _read_statements(
    source: ModuleSource, body: list[ast.stmt], package: str, outer: str, *, is_optional: bool
) -> None:
    _read_attributes(body, source.annotations, source.docs, source.assigned)
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            _read_class(source, statement, outer)
        elif isinstance(statement, Function):
            source.functions[statement.name] = decorators(statement)
        elif isinstance(statement, ast.ImportFrom):
            for local, origin in _read_import(statement, package):
                source.imports[local] = origin
                if is_optional:
                    source.optional[local] = origin
        elif isinstance(statement, ast.If) and not _for_types_only(statement):
            for part in (statement.body, statement.orelse):
                _read_statements(source, part, package, outer, is_optional=is_optional)
        elif isinstance(statement, ast.Try):
            for part in (statement.body, statement.orelse):
                _read_statements(source, part, package, outer, is_optional=True)
            for handler in statement.handlers:
                _read_statements(source, handler.body, package, outer, is_optional=is_optional)


def _for_types_only(statement: ast.If) -> bool:
    return text(statement.test).endswith("TYPE_CHECKING")


def _read_import(statement: ast.ImportFrom, package: str) -> Iterator[tuple[str, str]]:
    origin = statement.module or ""
    if statement.level:
        parts = package.split(".")
        base = ".".join(parts[: len(parts) - statement.level + 1])
        origin = f"{base}.{origin}" if origin else base
    for alias in statement.names:
        if alias.name != "*":
            yield alias.asname or alias.name, f"{origin}.{alias.name}"


def _read_class(source: ModuleSource, node: ast.ClassDef, outer: str) -> None:
    found = ClassSource()
    qualified = f"{outer}{node.name}"
    source.classes[qualified] = found
    found.decorators = decorators(node)
    _read_attributes(node.body, found.annotations, found.docs, found.assigned)
    for statement in node.body:
        if isinstance(statement, Function):
            # Of overloads and a property's accessors the first says how it is decorated.
            found.methods.setdefault(statement.name, decorators(statement))
            _read_instance_attributes(statement, found)
        elif isinstance(statement, ast.ClassDef):
            _read_class(source, statement, f"{qualified}.")


def _read_attributes(
    body: list[ast.stmt], annotations: dict[str, str], docs: dict[str, str], assigned: set[str]
) -> None:
    """Names bound by assignment, and the string that follows one is its documentation."""
    for statement, following in zip(body, [*body[1:], None]):  # noqa: B905 - strict is 3.10
        names = []
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            names = [statement.target.id]
            annotations[names[0]] = text(statement.annotation)
            if statement.value is not None:
                assigned.add(names[0])
        elif isinstance(statement, ast.Assign):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            assigned.update(names)
        documentation = string(following)
        if documentation:
            docs.update(dict.fromkeys(names, documentation))


def _read_instance_attributes(method: Any, found: ClassSource) -> None:
    if not method.args.args:
        return
    own = method.args.args[0].arg
    body = list(ast.walk(method))
    for node in body:
        targets = []
        if isinstance(node, ast.Assign):
            targets = [(target, "") for target in node.targets]
        elif isinstance(node, ast.AnnAssign):
            targets = [(node.target, text(node.annotation))]
        for target, annotation in targets:
            if (
                isinstance(target, ast.Attribute)
                and isinstance(target.value, ast.Name)
                and target.value.id == own
            ):
                found.instance[target.attr] = found.instance.get(target.attr) or annotation


def string(statement: ast.stmt | None) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        value = statement.value.value
        return value if isinstance(value, str) else ""
    return ""


def decorators(node: Any) -> list[str]:
    return [text(decorator)[:80] for decorator in node.decorator_list]


def text(node: ast.AST | None) -> str:
    """Return the node as source, on one line and not too long."""
    if node is None:
        return ""
    try:
        return " ".join(ast.unparse(node).split())[:_LONGEST]
    except (ValueError, RecursionError, AttributeError):
        return ""


def static_facts(module: str, source: ModuleSource) -> Iterator[dict[str, Any]]:
    """Yield classes, functions and constants, all marked as not available."""
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
        yield from _attribute_facts(path, node, source)
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


def _attribute_facts(
    path: str, node: ast.ClassDef, source: ModuleSource
) -> Iterator[dict[str, Any]]:
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
