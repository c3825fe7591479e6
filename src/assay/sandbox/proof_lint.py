"""Static checks that reject proofs which would pass without proving anything.

They catch lazy and mistaken proofs, not malicious ones: a proof that hides its intent passes here
and is left to the control and the twin. Pure functions: source in, objections out.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from assay.sandbox.syntax import parse_proof, walk_tree

_EXITS = frozenset(
    {"os._exit", "os.abort", "os.kill", "os.killpg", "sys.exit", "exit", "quit", "pytest.exit",
     "os.execv", "os.execve", "os.execvp", "os.execl", "os.execlp", "signal.raise_signal"}
)  # fmt: skip
_SKIPS = frozenset(
    {"pytest.skip", "pytest.importorskip", "pytest.mark.skip", "pytest.mark.skipif",
     "unittest.skip", "unittest.skipIf", "unittest.skipUnless", "unittest.SkipTest"}
)  # fmt: skip
_EXPECTED_FAILURES = frozenset({"pytest.xfail", "pytest.mark.xfail", "unittest.expectedFailure"})
_CHECKS = frozenset({"pytest.raises", "pytest.warns", "pytest.deprecated_call", "pytest.fail"})
_BROAD = frozenset({"Exception", "BaseException", "AssertionError"})
# Importing these gives access to the machinery that decides outcomes.
_MACHINERY = frozenset({"_pytest", "pluggy", "assay_jail"})
_NOT_TARGET = frozenset({"pytest", "pytest_asyncio", *_MACHINERY})

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Objection:
    """Why a test (or, without a name, the whole file) is not evidence."""

    code: str
    message: str
    line: int
    test: str | None = None

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


@dataclass(frozen=True)
class Inspection:
    """The result of reading a proof: its tests, and the objections to them."""

    tests: dict[str, int]
    objections: tuple[Objection, ...]

    def against(self, test: str) -> Objection | None:
        """Return the first objection to a test, its own or the file's."""
        return next((one for one in self.objections if one.test in (None, test)), None)


def inspect_proof(source: str, modules: Collection[str] | None = None) -> Inspection:
    """Read a proof; `modules` are the target's, by default all but Python's and pytest's."""
    try:
        tree = parse_proof(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        return Inspection({}, (Objection("syntax", f"not valid Python: {error}", line),))
    return _Inspector(tree, modules).inspect()


class _Inspector:
    def __init__(self, tree: ast.Module, modules: Collection[str] | None) -> None:
        self._tree = tree
        self._modules = None if modules is None else {name.split(".")[0] for name in modules}
        self._names = dict(_bindings(tree))
        self._functions = {
            node.name: node for node in walk_tree(tree) if isinstance(node, _Function)
        }
        self._found: list[Objection] = []

    def inspect(self) -> Inspection:
        tests = dict(_tests(self._tree))
        inside: set[ast.AST] = set()
        for name, function in tests.items():
            self._inspect_test(name, function)
            inside.update(_with_decorators(function))
        for node in walk_tree(self._tree):
            if node not in inside:
                self._inspect_node(node, None)
        if not tests:
            self._object("no-test", "there is no test in it", self._tree, None)
        self._found.sort(key=lambda one: one.line)
        return Inspection(
            {name: function.lineno for name, function in tests.items()}, tuple(self._found)
        )

    def _inspect_test(self, name: str, function: _Function) -> None:
        for node in _with_decorators(function):
            self._inspect_node(node, name)
        if not self._checks_something(function, set()):
            self._object("checks-nothing", "the test checks nothing", function, name)

    def _object(self, code: str, message: str, node: ast.AST, test: str | None) -> None:
        self._found.append(Objection(code, message, getattr(node, "lineno", 1), test))

    # Forbidden constructs.

    def _inspect_node(self, node: ast.AST, test: str | None) -> None:
        if isinstance(node, ast.Name | ast.Attribute):
            self._inspect_name(node, test)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self._inspect_import(node, test)
        elif isinstance(node, _Function) and node.name.startswith("pytest_"):
            self._object("hook", f"{node.name} is a hook of pytest", node, None)
        elif isinstance(node, ast.Raise) and self._name_of(_callee(node.exc)) == "SystemExit":
            self._object("exit", "it ends the process by SystemExit", node, test)
        elif isinstance(node, ast.Try):
            self._inspect_try(node, test)
        elif isinstance(node, ast.Constant) and node.value == "conftest.py":
            self._object("hook", "it names a conftest.py", node, None)

    def _inspect_name(self, node: ast.Name | ast.Attribute, test: str | None) -> None:
        name = self._name_of(node)
        if name in _EXITS:
            self._object("exit", f"it ends the process by {name}", node, test)
        elif name in _SKIPS:
            self._object("skip", f"{name}: a skipped test shows nothing", node, test)
        elif name in _EXPECTED_FAILURES:
            self._object("xfail", f"{name}: an expected failure shows nothing", node, test)
        elif name == "pytest_plugins" or (
            isinstance(node, ast.Attribute) and node.attr == "pluginmanager"
        ):
            self._object("hook", "it brings its own plugin", node, None)
        elif name and name.startswith("atexit."):
            self._object("atexit", "it leaves something to run after the tests", node, None)

    def _inspect_import(self, node: ast.Import | ast.ImportFrom, test: str | None) -> None:
        for full in _modules_of(node):
            if full.split(".")[0] in _MACHINERY:
                self._object("hook", f"it imports {full}, which decides outcomes", node, None)

    def _inspect_try(self, node: ast.Try, test: str | None) -> None:
        for handler in node.handlers:
            if self._is_broad(handler.type) and not self._looks_at_it(handler):
                self._object(
                    "swallow",
                    "it catches every exception, including its own mistakes: name the exception",
                    handler,
                    test,
                )

    def _is_broad(self, kind: ast.expr | None) -> bool:
        if kind is None:
            return True
        kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
        return any(self._name_of(one) in _BROAD for one in kinds)

    def _looks_at_it(self, handler: ast.ExceptHandler) -> bool:
        for node in _reachable(handler.body):
            if isinstance(node, ast.Raise | ast.Assert):
                return True
            if isinstance(node, ast.Call) and self._name_of(node.func) in _CHECKS:
                return True
            if isinstance(node, ast.Name) and handler.name and node.id == handler.name:
                return True
        return False

    # Required constructs.

    def _checks_something(self, function: _Function, seen: set[str]) -> bool:
        seen.add(function.name)
        names = {**self._names, **dict(_bindings(function))}
        for node in _reachable(function.body):
            if self._is_check(node, names):
                return True
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Name) and self._helper_checks(called.id, seen):
                return True
        arguments = [one.arg for one in function.args.args]
        return any(self._helper_checks(name, seen) for name in arguments)

    def _helper_checks(self, name: str, seen: set[str]) -> bool:
        helper = self._functions.get(name)
        return helper is not None and name not in seen and self._checks_something(helper, seen)

    def _is_check(self, node: ast.AST, names: dict[str, str]) -> bool:
        if isinstance(node, ast.Assert):
            return not _is_constant(node.test)
        if isinstance(node, ast.Import | ast.ImportFrom):
            return any(self._is_target(full) for full in _modules_of(node))
        if isinstance(node, ast.Call):
            name = _resolve(node.func, names) or ""
            if name in _CHECKS or _last(node.func).startswith("assert"):
                return True
            if name in ("importlib.import_module", "__import__") and node.args:
                first = node.args[0]
                return isinstance(first, ast.Constant) and self._is_target(str(first.value))
            return name != "" and _root(node.func) in names and self._is_target(name)
        if isinstance(node, ast.Attribute):
            name = _resolve(node, names) or ""
            return _root(node) in names and self._is_target(name)
        return False

    def _is_target(self, full: str) -> bool:
        top = full.split(".")[0]
        if self._modules is not None:
            return top in self._modules
        return bool(top) and top not in _NOT_TARGET and top not in sys.stdlib_module_names

    def _name_of(self, node: ast.expr | None) -> str | None:
        return _resolve(node, self._names)


def _tests(tree: ast.Module) -> Iterator[tuple[str, _Function]]:
    """Yield the tests as pytest names them: functions, and methods of test classes."""
    for node in tree.body:
        if isinstance(node, _Function) and node.name.startswith("test"):
            yield node.name, node
        elif isinstance(node, ast.ClassDef) and _is_test_class(node):
            for inner in node.body:
                if isinstance(inner, _Function) and inner.name.startswith("test"):
                    yield f"{node.name}::{inner.name}", inner


def _is_test_class(node: ast.ClassDef) -> bool:
    if any(_last(base).endswith("TestCase") for base in node.bases):
        return True
    made = any(isinstance(inner, _Function) and inner.name == "__init__" for inner in node.body)
    return node.name.startswith("Test") and not made


def _with_decorators(function: _Function) -> Iterator[ast.AST]:
    yield from walk_tree(function)


def _bindings(scope: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield what each imported name refers to, anywhere below a scope."""
    for node in walk_tree(scope):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (
                    (alias.asname, alias.name)
                    if alias.asname
                    else (
                        alias.name.split(".")[0],
                        alias.name.split(".")[0],
                    )
                )
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module or ''}.{alias.name}"


def _modules_of(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [alias.name for alias in node.names]


def _resolve(node: ast.expr | None, names: dict[str, str]) -> str | None:
    """Return the full dotted name of an expression, through the imports; None if it has none."""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        left = _resolve(node.value, names)
        return f"{left}.{node.attr}" if left else None
    return None


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _callee(node: ast.expr | None) -> ast.expr | None:
    return node.func if isinstance(node, ast.Call) else node


def _reachable(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield all of a body that can run: not what follows a return or is under `if False`."""
    for statement in body:
        if isinstance(statement, ast.If) and _is_constant(statement.test):
            chosen = statement.body if _truth(statement.test) else statement.orelse
            yield from _reachable(chosen)
        elif isinstance(statement, _Function | ast.ClassDef):
            continue
        else:
            yield from _statement(statement)
        if isinstance(statement, ast.Return | ast.Raise | ast.Break | ast.Continue):
            return


def _statement(statement: ast.stmt) -> Iterator[ast.AST]:
    yield statement
    for field, value in ast.iter_fields(statement):
        blocks = value if isinstance(value, list) else [value]
        if field in ("body", "orelse", "finalbody"):
            yield from _reachable(blocks)
            continue
        for part in blocks:
            if isinstance(part, ast.ExceptHandler | ast.match_case):
                yield from _reachable(part.body)
            elif isinstance(part, ast.AST):
                yield from walk_tree(part)


def _is_constant(node: ast.expr) -> bool:
    """Return whether the truth of an expression does not depend on the target."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return bool(node.elts) or isinstance(node, ast.Tuple)
    if isinstance(node, ast.UnaryOp):
        return _is_constant(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_constant(node.left) and _is_constant(node.right)
    if isinstance(node, ast.BoolOp):
        return all(_is_constant(value) for value in node.values) or _is_decided(node)
    if isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
        if all(_is_constant(part) for part in parts):
            return True
        same: Callable[[ast.expr], str] = ast.dump
        # `x == x` of a plain name can only be true; a call may differ from one time to the next.
        return all(isinstance(part, ast.Name) for part in parts) and len(set(map(same, parts))) == 1
    return False


def _is_decided(node: ast.BoolOp) -> bool:
    """Return whether one constant decides the whole expression: `… or True`, `… and False`."""
    deciding = isinstance(node.op, ast.Or)
    return any(_is_constant(value) and _truth(value) is deciding for value in node.values)


def _truth(node: ast.expr) -> bool:
    try:
        return bool(ast.literal_eval(node))
    except ValueError:
        return True
