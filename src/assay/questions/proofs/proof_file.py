"""A proof file: its two sides, its controls, the disputed element, and its twin.

A proof is plain pytest. `test_…_holds` passes only if the claim is true, `test_…_fails` only if it
is not, `test_…_control` shows that what surrounds the disputed element works. The disputed element
is the constant DISPUTED; a twin is the same file with another value there. Pure: text in, text out.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from assay.sandbox import parse_proof, walk_tree

DISPUTED = "DISPUTED"
INSTEAD = "INSTEAD"
_SUFFIX = "_that_cannot_be"
_ROLE = re.compile(r"test_.*?(?:_(holds|fails)|_(control)(?:_\w+)?)")
_RAISES = ("raises", "assertRaises", "assertRaisesRegex")
# What any line can raise for reasons that have nothing to do with the claim.
_AMBIENT = frozenset(
    {"ImportError", "ModuleNotFoundError", "NameError", "OSError", "PermissionError",
     "TimeoutError", "ConnectionError", "MemoryError", "FileNotFoundError"}
)  # fmt: skip

# What reaches a library without an import statement that names it.
_RUNNERS = frozenset({"importlib", "subprocess", "runpy", "exec", "eval", "compile", "__import__"})

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class UnfitProofError(Exception):
    """The file is not an acceptable proof; the text says why and what to do."""


@dataclass(frozen=True)
class ProofFile:
    """A parsed proof: the names of its tests by role, and its disputed element."""

    source: str
    holds: str
    fails: str
    controls: tuple[str, ...]
    statement: str
    has_counterpart: bool
    exception: str | None

    def impossible_twin(self) -> str:
        """Return the proof with an impossible value for the disputed element."""
        value = find_assignment(parse_proof(self.source), DISPUTED)
        assert value is not None
        return _replace(self.source, value, _impossible(value))

    def with_disputed(self, expression: str) -> str:
        """Return the proof with another expression for the disputed element."""
        value = find_assignment(parse_proof(self.source), DISPUTED)
        assert value is not None
        return _replace(self.source, value, expression)

    def counterpart_twin(self) -> str | None:
        """Return the proof with its named counterpart for the disputed element."""
        tree = parse_proof(self.source)
        value, instead = find_assignment(tree, DISPUTED), find_assignment(tree, INSTEAD)
        assert value is not None
        return None if instead is None else _replace(self.source, value, ast.unparse(instead))


def read_proof(source: str) -> ProofFile:
    """Read a proof; raise UnfitProofError if it is not a valid one."""
    try:
        tree = parse_proof(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnfitProofError(f"it is not valid Python: {error}") from None
    sides, controls = _roles(tree)
    disputed = find_assignment(tree, DISPUTED)
    if disputed is None:
        raise UnfitProofError(
            f"it does not name its disputed element: assign it to {DISPUTED} at the top of the file"
        )
    reach = _Reach(tree)
    _check_use(reach, sides, controls)
    _check_target(tree, reach, sides)
    has_counterpart = find_assignment(tree, INSTEAD) is not None
    _check_raises(reach, sides, controls, has_counterpart)
    _check_handlers(tree)
    return ProofFile(
        source=source,
        holds=sides["holds"].name,
        fails=sides["fails"].name,
        controls=tuple(one.name for one in controls),
        statement=(ast.get_docstring(tree) or "").strip().partition("\n\n")[0].replace("\n", " "),
        has_counterpart=has_counterpart,
        exception=_find_exception(reach, sides["holds"], disputed),
    )


def _roles(tree: ast.Module) -> tuple[dict[str, _Function], list[_Function]]:
    sides: dict[str, _Function] = {}
    controls: list[_Function] = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            raise UnfitProofError(f"line {node.lineno}: the tests of a proof are plain functions")
        if not isinstance(node, _Function) or not node.name.startswith("test"):
            continue
        role = _ROLE.fullmatch(node.name)
        if role is None:
            raise UnfitProofError(
                f"line {node.lineno}: {node.name} has no role: let its name end in _holds, _fails "
                "or _control"
            )
        if role[2]:
            controls.append(node)
        elif role[1] in sides:
            raise UnfitProofError(f"line {node.lineno}: there are two tests that end in _{role[1]}")
        else:
            sides[role[1]] = node
    for side in ("holds", "fails"):
        if side not in sides:
            raise UnfitProofError(
                f"it has one side only: add a test whose name ends in _{side} and that passes only "
                f"if the claim is {'true' if side == 'holds' else 'false'}"
            )
    return sides, controls


def find_assignment(tree: ast.Module, name: str) -> ast.expr | None:
    """Return the value of the only assignment to a name at the top of the file."""
    found: list[ast.expr] = []
    for node in walk_tree(tree):
        targets: list[ast.expr] = []
        value: ast.expr | None = None
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            targets, value = [node.target], node.value
        if any(isinstance(one, ast.Name) and one.id == name for one in targets):
            if value is None or node not in tree.body or isinstance(node, ast.AugAssign):
                raise UnfitProofError(f"line {value.lineno if value else 1}: {name} is set oddly")
            found.append(value)
    if len(found) > 1:
        raise UnfitProofError(f"line {found[1].lineno}: {name} is set twice")
    return found[0] if found else None


class _Reach:
    """What a function uses, through the helpers and constants of the file."""

    def __init__(self, tree: ast.Module) -> None:
        self._homes: dict[str, ast.AST] = {}
        for node in tree.body:
            if isinstance(node, _Function | ast.ClassDef):
                self._homes[node.name] = node
            elif isinstance(node, ast.Assign):
                for one in node.targets:
                    if isinstance(one, ast.Name):
                        self._homes[one.id] = node
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                self._homes[node.target.id] = node

    def nodes(self, start: ast.AST) -> Iterator[ast.AST]:
        """Yield every node below a function and below what it names, each home once."""
        waiting, seen = [start], {id(start)}
        while waiting:
            for node in walk_tree(waiting.pop()):
                yield node
                for name in _names(node):
                    home = self._homes.get(name)
                    if home is not None and id(home) not in seen:
                        seen.add(id(home))
                        waiting.append(home)

    def uses(self, start: ast.AST, name: str) -> bool:
        return any(name in _names(node) for node in self.nodes(start))


def _names(node: ast.AST) -> tuple[str, ...]:
    if isinstance(node, ast.Name):
        return (node.id,)
    # A fixture is asked for by the name of a parameter.
    return (node.arg,) if isinstance(node, ast.arg) else ()


def _check_use(reach: _Reach, sides: dict[str, _Function], controls: list[_Function]) -> None:
    for side in sides.values():
        if not reach.uses(side, DISPUTED):
            raise UnfitProofError(
                f"line {side.lineno}: {side.name} does not use {DISPUTED}, so nothing shows that "
                "its outcome depends on it"
            )
    for control in controls:
        if reach.uses(control, DISPUTED):
            raise UnfitProofError(
                f"line {control.lineno}: {control.name} uses {DISPUTED}: a control shows what "
                "works without it"
            )


def _check_target(tree: ast.Module, reach: _Reach, sides: dict[str, _Function]) -> None:
    """Raise unless each side uses something that was imported, or runs code that imports it."""
    known = {
        (alias.asname or alias.name).partition(".")[0]
        for node in walk_tree(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if _is_foreign(node, alias)
    } | _RUNNERS
    for side in sides.values():
        used = {name for node in reach.nodes(side) for name in _names(node)}
        if not used & known:
            raise UnfitProofError(
                f"line {side.lineno}: {side.name} has nothing to do with the library: it looks at "
                f"{DISPUTED} only"
            )


def _is_foreign(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
    return _top(node, alias) in _RUNNERS or is_foreign_import(node, alias)


def is_foreign_import(
    node: ast.Import | ast.ImportFrom, alias: ast.alias, roots: Collection[str] = ()
) -> bool:
    """Return whether an import is one of the target, whose root modules may be known."""
    top = _top(node, alias)
    return top in roots if roots else top not in sys.stdlib_module_names and top != "pytest"


def _top(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    module = node.module if isinstance(node, ast.ImportFrom) else alias.name
    return (module or "").partition(".")[0]


def _check_raises(
    reach: _Reach,
    sides: dict[str, _Function],
    controls: list[_Function],
    has_counterpart: bool,
) -> None:
    for side in sides.values():
        expecting = [node for node in reach.nodes(side) if _is_raises(node)]
        if expecting and not (controls or has_counterpart):
            raise UnfitProofError(
                f"line {_line(expecting[0])}: a `raises` without a control passes for any mistake: "
                "add a test that ends in _control and makes the same call without the disputed "
                f"element, or name in {INSTEAD} what would have worked"
            )
        for with_ in (node for node in reach.nodes(side) if isinstance(node, ast.With)):
            _check_with(with_, side)


def _check_with(with_: ast.With, side: _Function) -> None:
    for item in with_.items:
        call = item.context_expr
        if not (isinstance(call, ast.Call) and _is_raises(call)):
            continue
        if call.args and isinstance(call.args[0], ast.Name) and call.args[0].id == DISPUTED:
            continue
        caught = item.optional_vars.id if isinstance(item.optional_vars, ast.Name) else None
        looked_at = caught is not None and any(
            isinstance(node, ast.Name) and node.id == caught and isinstance(node.ctx, ast.Load)
            for node in walk_tree(side)
        )
        if not looked_at and not any(one.arg == "match" for one in call.keywords):
            raise UnfitProofError(
                f"line {call.lineno}: this `raises` does not say where the error came from: give "
                "`match`, or look at what was caught"
            )


def _is_raises(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in _RAISES


def _check_handlers(tree: ast.Module) -> None:
    """Require that handlers of very general exceptions inspect the exception."""
    for handler in (node for node in walk_tree(tree) if isinstance(node, ast.ExceptHandler)):
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        ambient = [one for one in kinds if one is not None and _last(one) in _AMBIENT]
        looked_at = handler.name is not None and any(
            isinstance(node, ast.Name) and node.id == handler.name for node in walk_tree(handler)
        )
        raised = any(isinstance(node, ast.Raise) for node in walk_tree(handler))
        if ambient and not (looked_at or raised):
            raise UnfitProofError(
                f"line {handler.lineno}: {_last(ambient[0])} can come from anywhere: look at what "
                "was caught before it counts"
            )


def _find_exception(reach: _Reach, holds: _Function, disputed: ast.expr) -> str | None:
    """Return the exception class, if the claim says that one is raised."""
    if not isinstance(disputed, ast.Name | ast.Attribute):
        return None
    for node in reach.nodes(holds):
        if isinstance(node, ast.Call) and _is_raises(node) and node.args:
            first = node.args[0]
            if isinstance(first, ast.Name) and first.id == DISPUTED:
                return ast.unparse(disputed)
    return None


def _impossible(value: ast.expr) -> str:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return repr(value.value + _SUFFIX)
    if isinstance(value, ast.Name | ast.Attribute):
        return f"type({'CannotBe'!r}, (Exception,), {{}})"
    return repr(f"a value{_SUFFIX}")


def _replace(source: str, value: ast.expr, text: str) -> str:
    lines = source.encode().splitlines(keepends=True)
    assert value.end_lineno is not None
    assert value.end_col_offset is not None
    start = sum(map(len, lines[: value.lineno - 1])) + value.col_offset
    end = sum(map(len, lines[: value.end_lineno - 1])) + value.end_col_offset
    whole = source.encode()
    return (whole[:start] + text.encode() + whole[end:]).decode()


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 1))
