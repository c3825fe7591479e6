"""The rules for broken imports in snippets, and the resolver that reads installed packages."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.machinery import ModuleSpec, PathFinder
from itertools import islice
from pathlib import Path
from pkgutil import iter_modules

from assay.documents import LARGEST_SOURCE, Place, UnreadableFileError, read_bytes
from assay.errors import InputError
from assay.findings import Finding
from assay.questions.broken_snippets import (
    BROKEN_SNIPPET,
    is_about_imports,
    list_imports,
    list_snippets,
)
from assay.questions.index import plainness
from assay.questions.lint_rules.context import Linted, Resolve, rule
from assay.questions.model import Question, SuiteEntry
from assay.questions.suite.references import ImportedName
from assay.questions.suite.suite import Suite
from assay.questions.suite.targets import resolve_target

# No more files of a package are searched for a name that is gone.
_MOST_FILES = 5_000


@rule(
    "broken-unused-import",
    "warning",
    "A snippet file imports what does not exist",
    "The question's section does not use the name, but the whole file fails before the "
    "section is reached. Correct or remove the import.",
)
def find_broken_imports(linted: Linted) -> Iterator[Finding]:
    seen: set[tuple[Place, str]] = set()
    for suite, entry, question in linted.questions():
        resolve = linted.resolvers.get(suite.path)
        if question.snippet is None or suite.snippets is None or resolve is None:
            continue
        for place, name in _find_broken(suite, entry.id, resolve):
            # One broken line of a file is one defect, however many questions share the file.
            if (place, name.bound) not in seen:
                seen.add((place, name.bound))
                yield Finding(
                    "broken-unused-import",
                    f"`{name.statement}` cannot be resolved",
                    place,
                    "correct or remove it",
                    entry.id,
                )


def _find_broken(
    suite: Suite, question_id: str, resolve: Resolve
) -> Iterator[tuple[Place, ImportedName]]:
    reference = suite.references.get(question_id)
    if suite.snippets is None or reference is None or reference.section is None:
        return
    file = suite.snippets.get(reference.file)
    for name in file.find_unused(reference.section):
        if not name.module.startswith(".") and resolve(name.module, name.member) is False:
            yield Place(file.path, name.line), name


@rule(
    BROKEN_SNIPPET,
    "error",
    "The code of a question imports what does not exist",
    "The target has no such module or name, so the code fails before it does anything, and the "
    "question does not ask about that. Correct the import.",
)
def find_broken_snippets(linted: Linted) -> Iterator[Finding]:
    for suite, entry, question in linted.questions():
        resolve = linted.resolvers.get(suite.path)
        if resolve is None or is_about_imports(question):
            continue
        names = {one for code in list_snippets(question) for _, one in list_imports(code)}
        for name in sorted(names, key=lambda one: one.statement):
            if not name.module.startswith(".") and resolve(name.module, name.member) is False:
                close = resolve.nearest(name) if isinstance(resolve, StaticResolver) else ""
                yield Finding(
                    BROKEN_SNIPPET,
                    f"`{name.statement}` cannot be resolved",
                    _find_place(suite, entry, name),
                    f"did you mean {close}?" if close else "correct it",
                    entry.id,
                )


def _find_place(suite: Suite, entry: SuiteEntry, name: ImportedName) -> Place:
    """Return the line of an import in the snippet file, or the question that shows it."""
    reference = suite.references.get(entry.id)
    if suite.snippets is not None and reference is not None:
        file = suite.snippets.get(reference.file)
        for one in file.imported:
            if one.statement == name.statement:
                return Place(file.path, one.line)
    return entry.place("question")


def find_resolvers(
    suites: Sequence[Suite], given: Sequence[str] = ()
) -> tuple[dict[Path, Resolve], list[str]]:
    """Return how to look up imports in the target of each suite, and notes on those not checked.

    A target that is given is built. A suite's own is used if it is built already: names are never
    looked up in the environment Assay runs in, unless the suite says that it is the target.
    """
    from assay.sandbox import environment, find_installed, installed_paths

    found: dict[Path, Resolve] = {}
    notes = []
    for suite in suites:
        if not any(one.section for one in suite.references.values()) and not _shows_imports(suite):
            continue
        try:
            target = resolve_target(suite, given)
            paths = installed_paths(environment(target)) if given else find_installed(target)
        except InputError as error:
            if given:
                raise
            notes.append(_describe_unchecked(suite, str(error.what)))
            continue
        if paths is None:
            notes.append(_describe_unchecked(suite, f"{target} is not built", str(target)))
        else:
            found[suite.path] = StaticResolver([str(path) for path in paths])
    return found, notes


def _shows_imports(suite: Suite) -> bool:
    return any(
        True
        for entry in suite.entries
        if isinstance(entry.question, Question)
        for code in list_snippets(entry.question)
        for _ in list_imports(code)
    )


def _describe_unchecked(suite: Suite, reason: str, target: str = "TARGET") -> str:
    return (
        f"{suite.path}: imports of its snippets were not checked: {reason}; "
        f"check them with --target {target}"
    )


@dataclass
class StaticResolver:
    """Says whether a module has a name, for the packages on a path; None where it cannot tell.

    It cannot tell for packages that are not there at all, for compiled modules, and for modules
    that make their names at run time (`__getattr__`, a star import, `globals()`).
    """

    path: Sequence[str]

    def __call__(self, module: str, member: str | None) -> bool | None:
        first = module.partition(".")[0]
        if first in sys.stdlib_module_names:
            return None
        if PathFinder.find_spec(first, self.path) is None:
            return None
        spec = self._spec(module)
        if spec is None:
            return False if self._is_plain(module.rpartition(".")[0]) else None
        if member is None or self._spec(f"{module}.{member}") is not None:
            return True
        return _has_name(spec, member)

    def nearest(self, name: ImportedName) -> str:
        """Return from where a missing name can be imported, or what is called nearly so, if any."""
        if name.member is not None and (places := list(self._find_definitions(name))):
            return f"`from {min(places, key=plainness)} import {name.member}`"
        path = name.module if name.member is None else f"{name.module}.{name.member}"
        package, _, wanted = path.rpartition(".")
        spec = self._spec(package) if package else None
        tree = _tree(spec) if spec is not None else None
        known = _names_bound_by(tree.body) if tree is not None else set()
        if spec is not None and spec.submodule_search_locations:
            known |= {one.name for one in iter_modules(spec.submodule_search_locations)}
        close = get_close_matches(wanted, sorted(known), 1)
        return f"`{package}.{close[0]}`" if close else ""

    def _find_definitions(self, name: ImportedName) -> Iterator[str]:
        """Yield the modules of the same package that define a class or function of a name."""
        parts = name.module.split(".")
        tops = (".".join(parts[:length]) for length in range(1, len(parts) + 1))
        found = ((one, spec) for one in tops if (spec := self._spec(one)) and spec.origin)
        top, spec = next(found, ("", None))
        pattern = rf"^(?:class|(?:async )?def) {re.escape(name.member or '')}\b".encode()
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            for path in islice(Path(folder).rglob("*.py"), _MOST_FILES):
                if _search(pattern, path):
                    inner = path.relative_to(folder).with_suffix("").parts
                    yield ".".join([top, *(one for one in inner if one != "__init__")])

    def _spec(self, module: str) -> ModuleSpec | None:
        found, where = None, self.path
        for part in module.split("."):
            # By its last name alone: a dotted one would be looked for in `sys.modules`.
            found = PathFinder.find_spec(part, where)
            if found is None:
                return None
            where = list(found.submodule_search_locations or ())
        return found

    def _is_plain(self, package: str) -> bool:
        """Tell whether a package's submodules are its files and nothing else."""
        spec = self._spec(package) if package else None
        if spec is None:
            return bool(package) and self._is_plain(package.rpartition(".")[0])
        if spec.origin is None:
            # Other distributions may add to a namespace, unless a package holds it.
            return self._is_plain(package.rpartition(".")[0])
        tree = _tree(spec)
        return tree is not None and not _names_any(tree, _MODULE_MAKERS)


def _has_name(spec: ModuleSpec, name: str) -> bool | None:
    tree = _tree(spec)
    if tree is None:
        return None
    if name in _names_bound_by(tree.body):
        return True
    return None if _makes_names(tree) else False


def _tree(spec: ModuleSpec) -> ast.Module | None:
    if spec.origin is None or not spec.origin.endswith(".py"):
        return None
    try:
        return ast.parse(read_bytes(Path(spec.origin), LARGEST_SOURCE))
    except (OSError, SyntaxError, ValueError, RecursionError, UnreadableFileError):
        return None


def _search(pattern: bytes, path: Path) -> bool:
    try:
        return re.search(pattern, read_bytes(path, LARGEST_SOURCE), re.MULTILINE) is not None
    except (OSError, UnreadableFileError):
        return False


def _makes_names(tree: ast.Module | None) -> bool:
    if tree is None:
        return True
    return any(
        (isinstance(node, ast.FunctionDef) and node.name == "__getattr__")
        or (isinstance(node, ast.alias) and node.name == "*")
        for node in ast.walk(tree)
    ) or _names_any(tree, {"globals", "vars", "setattr", *_MODULE_MAKERS})


# What can make a submodule that is no file; a `__getattr__` cannot.
_MODULE_MAKERS = frozenset({"modules", "meta_path", "__path__", "extend_path", "exec"})


def _names_any(tree: ast.Module, names: Collection[str]) -> bool:
    return any(
        (isinstance(node, ast.Name) and node.id in names)
        or (isinstance(node, ast.Attribute) and node.attr in names)
        for node in ast.walk(tree)
    )


def _names_bound_by(body: list[ast.stmt]) -> set[str]:
    return {name for statement in body for name in _binds(statement)}


def _binds(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of the top level may bind, whatever branch is taken."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
