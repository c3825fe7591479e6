"""Observes which objects a proof asks for the disputed name, and what the target knows about it.

An object that has the name says nothing about the target if the name is Python's own: a `deque`
made of values from the target, a string, a module of the standard library. An object that lacks the
name says nothing if it was not asked for everything it has: instances, lazy names, keywords that it
passes on.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import dis
import importlib.util
import inspect
import operator
import os
import re
import sys
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

KIT = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "pytest_asyncio", "assay_jail"})

# Python lists them only since 3.10; for targets on older versions the roots are given.
STANDARD = frozenset(getattr(sys, "stdlib_module_names", sys.builtin_module_names))


class Hooks:
    """Replaces functions while it is entered."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any]] = []

    def _put(self, owner: Any, name: str, new: Any) -> Any:
        before = getattr(owner, name)
        self._before.append((owner, name, before))
        setattr(owner, name, new)
        return before

    def __exit__(self, *error: object) -> None:
        while self._before:
            setattr(*self._before.pop())


def is_own(names: Any) -> bool:
    """Return whether code with these globals belongs to the proof: real modules have a __spec__."""
    return not names or "__spec__" not in names


def home(value: Any) -> str:
    """Return the module that a value belongs to."""
    if isinstance(value, ModuleType):
        return value.__name__
    found = getattr(value, "__module__", None) or type(value).__module__
    return found if isinstance(found, str) else ""


# Modules that only convert values to other values.
_VALUES = frozenset(
    {"base64", "binascii", "codecs", "functools", "html", "itertools", "math", "operator", "string",
     "struct", "textwrap", "urllib", "zlib"}
)  # fmt: skip
_FUNCTIONS = frozenset(
    {"abs", "ascii", "bin", "bytearray", "bytes", "chr", "complex", "dict", "divmod", "float",
     "format", "hex", "int", "len", "list", "map", "max", "min", "oct", "ord", "pow", "range",
     "repr", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "type", "zip"}
)  # fmt: skip
# Smaller numbers arise from counting, shorter strings by chance.
_SMALL = 2
_SHORT = 3
_attrgetter = operator.attrgetter


class Asking(Hooks):
    """Records which objects lack a name; if it `denies`, Python's own objects lack it too."""

    def __init__(self, is_target: Callable[[str], bool], name: str, *, denies: bool) -> None:
        super().__init__()
        self._is_target, self._name, self._denies = is_target, name, denies
        self.lacking: list[Any] = []
        self.called: list[Any] = []
        self.denied: list[str] = []

    def __enter__(self) -> Asking:
        self._get = self._put(builtins, "getattr", self._getattr)
        self._has = self._put(builtins, "hasattr", self._hasattr)
        self._list = self._put(builtins, "dir", self._dir)
        self._table = self._put(builtins, "vars", self._vars)
        self._put(inspect, "getattr_static", self._getattr_static(inspect.getattr_static))
        for reader in ("signature", "getfullargspec"):
            self._put(inspect, reader, self._signature(getattr(inspect, reader)))
        self._put(operator, "attrgetter", self._attrgetter)
        return self

    def note_tables(self, source: str, names: dict[str, Any]) -> None:
        """Record whose `__dict__` a proof reads, which no hooked function shows."""
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Attribute) and node.attr in ("__dict__", "__slots__"):
                root, *rest = ast.unparse(node.value).split(".")
                with contextlib.suppress(AttributeError, KeyError):
                    owner = _attrgetter(".".join(rest))(names[root]) if rest else names[root]
                    self._note(owner, self._name, self._name in getattr(owner, node.attr))

    def _denies_to(self, owner: Any, name: Any) -> bool:
        """Return whether an object must report that it has no such name."""
        if name != self._name:
            return False
        if not self._denies or not self._is_of_python(owner):
            return False
        self.denied.append(type(owner).__name__)
        return True

    def _is_of_python(self, owner: Any) -> bool:
        """Return whether the owner of the name is Python's own and not part of the target."""
        if isinstance(owner, ModuleType):
            return _is_standard(owner.__name__) and not self._is_target(owner.__name__)
        if not isinstance(owner, type) and self._is_target(home(owner)):
            return False  # a function of the target, or an instance of its classes
        kind = owner if isinstance(owner, type) else type(owner)
        giver = next((one for one in kind.__mro__ if self._name in one.__dict__), None)
        if giver is None or not _is_standard(giver.__module__):
            return False
        return not any(
            self._is_target(one.__module__) and issubclass(one, giver) for one in kind.__mro__
        )

    def _getattr(self, owner: Any, name: Any, *default: Any) -> Any:
        if is_own(sys._getframe(1).f_globals) and self._denies_to(owner, name):
            if default:
                return default[0]
            raise AttributeError(name)
        if is_own(sys._getframe(1).f_globals):
            self._note(owner, name, self._has(owner, name))
        return self._get(owner, name, *default)

    def _note(self, owner: Any, name: Any, is_there: bool) -> None:
        if name == self._name and not is_there and self._is_target(home(owner)):
            self.lacking.append(owner)

    def _hasattr(self, owner: Any, name: Any) -> bool:
        if is_own(sys._getframe(1).f_globals) and self._denies_to(owner, name):
            return False
        is_there = bool(self._has(owner, name))
        if is_own(sys._getframe(1).f_globals):
            self._note(owner, name, is_there)
        return is_there

    def _dir(self, *owner: Any) -> list[str]:
        if not owner:
            return sorted(sys._getframe(1).f_locals)
        found: list[str] = self._list(*owner)
        if is_own(sys._getframe(1).f_globals) and self._denies_to(owner[0], self._name):
            return [one for one in found if one != self._name]
        if is_own(sys._getframe(1).f_globals):
            self._note(owner[0], self._name, self._name in found)
        return found

    def _vars(self, *owner: Any) -> Any:
        if not owner:
            return sys._getframe(1).f_locals
        found = self._table(*owner)
        if is_own(sys._getframe(1).f_globals) and self._denies_to(owner[0], self._name):
            return {key: value for key, value in found.items() if key != self._name}
        if is_own(sys._getframe(1).f_globals):
            self._note(owner[0], self._name, self._name in found)
        return found

    def _getattr_static(self, before: Callable[..., Any]) -> Callable[..., Any]:
        def look(owner: Any, name: Any, *default: Any) -> Any:
            if is_own(sys._getframe(1).f_globals) and self._denies_to(owner, name):
                if default:
                    return default[0]
                raise AttributeError(name)
            return before(owner, name, *default)

        return look

    def _signature(self, before: Callable[..., Any]) -> Callable[..., Any]:
        def read(owner: Any, **options: Any) -> Any:
            if is_own(sys._getframe(1).f_globals):
                self.called.append(owner)
            return before(owner, **options)

        return read

    def _attrgetter(self, *names: str) -> Callable[[Any], Any]:
        def look(owner: Any) -> Any:
            if any(self._denies_to(owner, name) for name in names):
                raise AttributeError(self._name)
            return getter(owner)

        getter = _attrgetter(*names)
        return look


def _is_standard(name: str) -> bool:
    return name.partition(".")[0] in STANDARD


def is_known(name: str, is_target: Callable[[str], bool], proof: str) -> bool:
    """Return whether the target has a name, in its files, modules or inherited by its classes."""
    word = re.compile(rb"(?<!\w)" + re.escape(name.encode()) + rb"(?!\w)")
    for path, module in list(sys.modules.items()):
        root = path.partition(".")[0]
        if name in path.split(".") and is_target(path):
            return True
        file = getattr(module, "__file__", None)
        if not file or file == proof or root in KIT or root in STANDARD:
            continue
        if contains(file, name, word):
            return True
        if is_target(path) and (name in _modules_in(module) or _inherits(module, name)):
            return True
    return False


def contains(file: str, text: str, word: re.Pattern[bytes]) -> bool:
    """Return whether a pattern around a text is in a file, which may be a large binary."""
    try:
        with open(file, "rb") as opened:
            content = opened.read()
    except OSError:
        return False
    # The plain search is many times as fast, and most files do not have the text at all.
    return text.encode() in content and word.search(content) is not None


def _modules_in(package: ModuleType) -> set[str]:
    found = set()
    for folder in getattr(package, "__path__", ()):
        with contextlib.suppress(OSError):
            found |= {one.partition(".")[0] for one in os.listdir(folder)}
    return found


def _inherits(module: ModuleType, name: str) -> bool:
    """Return whether a class of a module inherits a name from a class of Python's."""
    return any(
        name in vars(base)
        for kind in list(vars(module).values())
        if isinstance(kind, type)
        for base in kind.__mro__
        if _is_standard(base.__module__)
    )


def find_elsewhere(asking: Asking, name: str, *, is_word: bool) -> str | None:
    """Return where a name exists that a proof claims is missing."""
    for owner in asking.lacking:
        if isinstance(owner, ModuleType):
            if hasattr(owner, name):
                return f"`{owner.__name__}` gives it when it is asked for it"
            if _has_module(owner, name):
                return f"`{owner.__name__}.{name}` is a module that was not imported"
        elif isinstance(owner, type):
            if hasattr(owner, name):
                return f"`{owner.__name__}` gives it when it is asked for it"
            if _is_given_to_instances(owner, name):
                return f"instances of `{owner.__name__}` have it"
        elif hasattr(owner, name):
            return f"a `{type(owner).__name__}` gives it when it is asked for it"
    for function in asking.called:
        if is_word and _takes_any(function):
            return (
                f"`{getattr(function, '__name__', function)}` takes keywords that it does not list"
            )
    return None


def _has_module(package: ModuleType, name: str) -> bool:
    try:
        return importlib.util.find_spec(f"{package.__name__}.{name}") is not None
    except (ImportError, ValueError, AttributeError):
        return False


def _is_given_to_instances(owner: type, name: str) -> bool:
    for kind in owner.__mro__:
        if name in vars(kind).get("__annotations__", ()):
            return True
        for function in vars(kind).values():
            function = inspect.unwrap(getattr(function, "__func__", function))
            if isinstance(function, FunctionType) and name in function.__code__.co_names:
                stored = (
                    one.argval
                    for one in dis.get_instructions(function)
                    if one.opname == "STORE_ATTR"
                )
                if name in stored:
                    return True
    return False


def _takes_any(function: Any) -> bool:
    with contextlib.suppress(TypeError, ValueError):
        kinds = [one.kind for one in inspect.signature(function).parameters.values()]
        return inspect.Parameter.VAR_KEYWORD in kinds
    return False


def is_loose(value: Any, proof: str) -> bool:
    """Return whether a value equals other values, as `mock.ANY` and `approx` do."""
    for kind in type(value).__mro__:
        if "__eq__" in vars(kind):
            code = getattr(vars(kind)["__eq__"], "__code__", None)
            root = kind.__module__.partition(".")[0]
            return root in KIT | {"unittest"} or (code is not None and code.co_filename == proof)
    return False


def find_made(source: str, value: Any) -> Iterator[str]:
    """Yield the expressions of a proof that build the disputed value from literals only."""
    if isinstance(value, str):
        if len(value) <= _SHORT:
            return
    elif isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) <= _SMALL:
        return
    tree = ast.parse(source)
    names = dict(_value_modules(tree))
    for statement in tree.body:
        targets = {one.id for one in getattr(statement, "targets", ()) if isinstance(one, ast.Name)}
        if targets & {"DISPUTED", "INSTEAD"}:
            continue
        for node in ast.walk(statement):
            if isinstance(node, (ast.BinOp, ast.Call, ast.Subscript, ast.JoinedStr)):
                used = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
                if used <= names.keys() | _FUNCTIONS and _comes_to(node, names, value):
                    yield ast.unparse(node)


def _value_modules(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in _VALUES:
                    module = importlib.import_module(alias.name)
                    top = alias.name.partition(".")[0]
                    yield (alias.asname, module) if alias.asname else (top, sys.modules[top])
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in _VALUES:
            module = importlib.import_module(node.module or "")
            for alias in node.names:
                if hasattr(module, alias.name):
                    yield alias.asname or alias.name, getattr(module, alias.name)


def _comes_to(node: ast.expr, names: dict[str, Any], value: Any) -> bool:
    try:
        made = eval(compile(ast.Expression(node), "<literal>", "eval"), dict(names))  # noqa: S307
        if isinstance(made, (bytes, bytearray)):
            made = made.decode("latin-1")
        return type(made) is type(value) and bool(made == value)
    except Exception:
        return False
