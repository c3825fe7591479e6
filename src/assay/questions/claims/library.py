"""The target as the prover sees it: names resolved through the index, and what they accept."""

from __future__ import annotations

import ast
import builtins
import re
import sys
import typing
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from assay.questions.index import Parameter, Symbol, SymbolIndex, plainness

CLASSES = ("class", "exception")
CALLABLES = ("function", "method")
_OWNERS = (*CLASSES, *CALLABLES, "command", "module")
# Names that examples give to things of their own.
_PLACEHOLDERS = re.compile(
    r"(?:foo|bar|baz|qux|spam|eggs|x|y|z|a|b|c|obj|value|result|data|item|main|example|test|self|cls"
    r"|(?:my|your|custom|some|example|sample|demo|dummy)_?[A-Za-z0-9]*"
    r"|(?:My|Your|Foo|Bar|Dummy|Custom|Some|Example|Sample|Demo)(?:[A-Z]\w*)?)"
)


@dataclass(frozen=True)
class ImportPath:
    """Where a symbol is imported from: a module, and the names that lead to it inside."""

    module: str
    names: tuple[str, ...]

    @property
    def statement(self) -> str:
        """The import that makes it available."""
        if self.names:
            return f"from {self.module} import {self.names[0]}"
        return f"import {self.module}"

    @property
    def expression(self) -> str:
        """How it is written after that."""
        return ".".join(self.names) or self.module


class Library:
    """Answers about one target's names; `roots` are its own modules.

    Where it is only guessed that a question is about this target, `is_guessed`, a name that the
    target does not know may well be somebody else's. `resolve` looks a name of a module up in the
    files: True, False or None where they do not tell.
    """

    def __init__(
        self,
        index: SymbolIndex,
        roots: Collection[str] = (),
        *,
        is_guessed: bool = False,
        resolve: Callable[[str, str | None], bool | None] = lambda *_: None,
    ) -> None:
        self.index = index
        self.is_guessed = is_guessed
        self.resolve = lru_cache(maxsize=4096)(resolve)
        self._roots = tuple(roots)
        self.owner = lru_cache(maxsize=4096)(self._owner)

    @property
    def distributions(self) -> tuple[str, ...]:
        return tuple(sorted(self.index.versions))

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """The outermost modules of the target, such as `google.adk`."""
        if self._roots:
            return self._roots
        modules = sorted(self.index.modules, key=len)
        found: list[str] = []
        for name in modules:
            if not self.index.modules[name].is_namespace and not _is_below(name, found):
                found.append(name)
        return tuple(found)

    def is_own(self, dotted: str) -> bool:
        """Return whether a full path begins with one of the target's own modules."""
        return _is_below(dotted, self.roots)

    def is_strange(self, name: str) -> bool:
        """Return whether a name is not the target's: Python's, a placeholder, or another's."""
        first = name.partition(".")[0]
        return (
            hasattr(builtins, first)
            or first in sys.stdlib_module_names
            or _PLACEHOLDERS.fullmatch(first) is not None
            or (self.index.is_foreign(first) and not self.is_own(name))
        )

    # --- What a name leads to -----------------------------------------------------------------

    def _owner(self, name: str, kinds: tuple[str, ...] = _OWNERS) -> Symbol | None:
        """Return the one thing a name can mean, by full path or as the only public one."""
        name = name.strip().removesuffix("()")
        exact = self.index.resolve(name) if "." in name or name in self.roots else None
        if exact is not None and exact.kind in kinds:
            return exact
        found = [
            one
            for one in self.index.find(name, kinds)
            if not one.foreign and one.available and not (one.kind == "module" and "." not in name)
        ]
        public = [one for one in found if not one.is_private and "test" not in one.module]
        return _only(public) or (_only(found) if not public else None)

    def receiver(self, name: str) -> Symbol | None:
        """Return the class a variable is named after: `runner` is a `Runner`."""
        if not re.fullmatch(r"[a-z]\w*", name):
            return None
        camel = "".join(part.capitalize() for part in name.split("_"))
        return self.owner(camel, CLASSES)

    def method(self, name: str) -> Symbol | None:
        """Return the method that a bare name means, if all that are called so are called alike."""
        found = self.index.find(name, ("method",))
        public = [one for one in found if not one.is_private and not one.foreign]
        signatures = {one.parameters for one in public}
        return public[0] if len(signatures) == 1 else None

    def members(self, symbol: Symbol) -> dict[str, Symbol]:
        return self.index.members(symbol.path)

    def names_of(self, symbol: Symbol) -> frozenset[str]:
        """Everything that can be asked of a symbol or given to it."""
        own = {one.name for one in symbol.parameters or ()}
        if symbol.kind in CLASSES:
            return frozenset({*own, *self.members(symbol)})
        if symbol.kind in CALLABLES:
            return frozenset(own)
        return frozenset(self.members(symbol))

    def is_open(self, symbol: Symbol, *, as_keyword: bool = True) -> str:
        """Return why the absence of a name proves nothing there; empty if it does.

        `as_keyword` means that the name is passed as an argument, not read as an attribute.
        """
        if not symbol.available or symbol.failure is not None:
            return f"{symbol.path} cannot be imported here"
        if symbol.is_dynamic:
            return f"{symbol.path} makes attributes up when asked"
        if as_keyword and symbol.extra == "allow":
            return f"{symbol.path} takes fields that it does not declare"
        if as_keyword and any(self._takes_any(one) for one in symbol.parameters or ()):
            return f"{symbol.path} takes any keyword"
        if symbol.kind in CALLABLES and symbol.parameters is None:
            return f"the signature of {symbol.path} cannot be read"
        return ""

    def _takes_any(self, parameter: Parameter) -> bool:
        """Return whether it is a `**parameter` without declared keys."""
        if parameter.kind != "var_keyword":
            return False
        find_class = re.search(r"Unpack\[(?:\w+\.)*(\w+)\]", parameter.annotation)
        keys = self.index.find(find_class[1], CLASSES) if find_class else []
        return not keys or bool(self.members(keys[0]).keys() - set(dir(dict)))

    def is_field_elsewhere(self, name: str, owner: Symbol) -> bool:
        """Return whether another public class takes or has something of that name."""
        for one in self.index.find(name, ("field", "attribute", "property", "parameter")):
            holder = self.index.resolve(one.owner) if one.owner else None
            if one.foreign or holder is None or holder.path == owner.path or holder.is_private:
                continue
            if holder.kind in CLASSES:
                return True
        return False

    def obstacle(self, path: str) -> str:
        """Return why a path may fail here without being absent: a module or an extra is missing.

        That a module makes attributes up when asked is none: a proof asks it.
        """
        parts = path.split(".")
        for length in range(len(parts), 0, -1):
            found = self.index.resolve(".".join(parts[:length]))
            if found is None:
                continue
            if found.failure is not None or not found.available:
                return f"{found.path} cannot be imported here"
            missing = found.missing_names if length < len(parts) else {}
            return missing.get(parts[length], "") if missing else ""
        return ""

    def place(self, symbol: Symbol) -> ImportPath:
        """From where to import a symbol under its own name."""
        return self.place_of(path_of(symbol))

    def place_of(self, path: str) -> ImportPath:
        if isinstance(getattr(builtins, path, None), type):
            return ImportPath("builtins", (path,))
        parts = path.split(".")
        for length in range(len(parts) - 1, 0, -1):
            module = ".".join(parts[:length])
            if module in self.index.modules:
                return ImportPath(module, tuple(parts[length:]))
        if path in self.index.modules or len(parts) == 1:
            return ImportPath(path, ())
        return ImportPath(".".join(parts[:-1]), (parts[-1],))

    def place_at(self, path: str) -> ImportPath:
        """From where to import what a path leads to, whatever path it was written as.

        What the index does not have is Python's own or of a module that is installed.
        """
        found = self.index.resolve(path)
        return self.place_of(path) if found is None else self.place(found)

    @property
    def file_constants(self) -> tuple[tuple[str, str], ...]:
        """By what a proof finds the files of the target, where it is one distribution."""
        return ("DISTRIBUTION", repr(self.distributions[0])), ("PACKAGES", repr(self.roots))

    def imports_of_type(self, code: str) -> tuple[str, ...] | None:
        """Return the imports that a type needs as it is written; None if it is no known type."""
        tree = parse_type(code)
        if tree is None:
            return None
        found: dict[str, None] = {}
        for path in _names_in(tree):
            statement = self._import_of(path)
            if statement is None:
                return None
            found |= {statement: None} if statement else {}
        return tuple(found)

    def _import_of(self, path: str) -> str | None:
        """Return the import a name in a type needs: none for Python's own, None if unknown."""
        if isinstance(getattr(builtins, path, None), type):
            return ""
        found = self.owner(path, CLASSES)
        if found is not None:
            place = self.place(found)
            if place.names == (path,):
                return place.statement
            is_full = f"{place.module}.{place.expression}" == path
            return f"import {place.module}" if is_full else None
        return f"from typing import {path}" if path in typing.__all__ else None

    def base_of(self, word: str) -> Symbol | None:
        """Return the base class of the things a noun stands for: a plugin is a `BasePlugin`."""
        noun = re.sub(r"\W", "", word).capitalize().removesuffix("s")
        if len(noun) < 3:
            return None
        return self.owner(f"Base{noun}", CLASSES) or self.owner(f"Abstract{noun}", CLASSES)


def path_of(symbol: Symbol) -> str:
    """Return the plainest path that leads to a symbol under its own name."""
    own = [path for path in symbol.paths if path.rpartition(".")[2] == symbol.name]
    return min(own, key=plainness) if own else symbol.import_path


def _only(found: Sequence[Symbol]) -> Symbol | None:
    """Return the one of them, if they are the same or one is plainer than all others."""
    if not found:
        return None
    depths = sorted((one.import_path.count("."), one.path) for one in found)
    plainest = [one for one in found if one.import_path.count(".") == depths[0][0]]
    return plainest[0] if len({one.path for one in plainest}) == 1 else None


def _is_below(dotted: str, roots: Collection[str]) -> bool:
    return any(dotted == one or dotted.startswith(f"{one}.") for one in roots)


# --- Types as text -----------------------------------------------------------------------------

_OF_TYPES = (
    ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.BitOr, ast.Tuple, ast.List, ast.Load,
    ast.Constant,
)  # fmt: skip


def parse_type(code: str) -> ast.expr | None:
    """Return a type as a tree; None if it is anything else."""
    try:
        tree = ast.parse(code.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if all(isinstance(one, _OF_TYPES) for one in ast.walk(tree)) else None


def _names_in(tree: ast.expr) -> Iterator[str]:
    """Yield the names in a type, each as far as its dots go."""
    inner = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and id(node) not in inner:
            yield ast.unparse(node)
