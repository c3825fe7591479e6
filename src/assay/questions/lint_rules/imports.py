"""The rule for broken imports in snippet files, and the resolver that reads installed packages."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from assay.documents import LARGEST_SOURCE, Place, UnreadableFileError, read_bytes
from assay.errors import InputError
from assay.findings import Finding
from assay.questions.lint_rules.context import Linted, Resolve, rule
from assay.questions.suite.references import ImportedName
from assay.questions.suite.suite import Suite
from assay.questions.suite.targets import resolve_target


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
        if not any(one.section for one in suite.references.values()):
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
        return spec.origin is None or not _makes_names(_tree(spec))


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


def _makes_names(tree: ast.Module | None) -> bool:
    if tree is None:
        return True
    return any(
        (isinstance(node, ast.FunctionDef) and node.name == "__getattr__")
        or (isinstance(node, ast.alias) and node.name == "*")
        or (isinstance(node, ast.Name) and node.id in ("globals", "vars", "setattr", "exec"))
        or (isinstance(node, ast.Attribute) and node.attr == "modules")
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
