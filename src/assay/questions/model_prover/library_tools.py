"""The tools with which agents look at the target: search, inspect, read source.

They answer from the index and from files; nothing is executed, and nothing outside the target can
be read.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

from assay.documents import LARGEST_SOURCE, UnreadableFileError, read_text
from assay.questions.claims import CLASSES, Library
from assay.questions.claims.library import CALLABLES
from assay.questions.index import Symbol
from assay.questions.model import Question
from assay.questions.model_prover.name_facts import describe_names, shorten, shorten_signature
from assay.sandbox import Environment

_HITS = 6
_MEMBERS = 40
_SHOWN_SOURCE = 40
_PAGE = 120
_BEFORE = 8
_WHOLE = 1_200
_DOC = 800
_LINE = 110


class LibraryTools:
    """Questions about one target, answered as JSON values; a model reads the docstrings."""

    def __init__(self, library: Library | str, environment: Environment | None) -> None:
        self._library = library
        self._environment = environment

    @property
    def library(self) -> Library | str:
        return self._library

    @property
    def roots(self) -> tuple[str, ...]:
        return () if isinstance(self._library, str) else self._library.roots

    def describe_names(self, question: Question, more: str = "") -> str:
        """Return what the index knows of the names in a question and its options, a line each."""
        if isinstance(self._library, str):
            return self._library
        return describe_names(self._library, question, more)

    @property
    def described(self) -> str:
        """The target in words: its distributions with their versions."""
        if isinstance(self._library, str):
            return self._environment.described if self._environment else "what is installed"
        versions = self._library.index.versions
        return ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))

    def search_ranked_targets(self, query: str) -> dict[str, Any]:
        """Find the public names of the library that fit a query best.

        Args:
            query: Plain words or a whole question; names in it count most.
        """
        if isinstance(self._library, str):
            return {"error": self._library}
        hits = self._library.index.search(query, _HITS)
        return {
            "matches": [
                {
                    **_short(hit.symbol),
                    **({"members": [one.name for one in hit.members]} if hit.members else {}),
                }
                for hit in hits
            ]
        }

    def inspect_fqn(self, name: str) -> dict[str, Any]:
        """Show signature, documentation, bases and members of one name of the library.

        Args:
            name: A full dotted name, or a plain one that only one thing has.
        """
        symbol = self._resolve(name)
        if isinstance(symbol, dict):
            return symbol
        assert isinstance(self._library, Library)
        told = {
            **_short(symbol, _DOC, _WHOLE),
            "import": self._library.place(symbol).statement,
            "bases": list(symbol.bases),
            "deprecated": symbol.deprecated,
            "extra_fields": symbol.extra,
            "is_async": symbol.is_async,
            "is_abstract": symbol.is_abstract,
            "default": symbol.default,
            "annotation": shorten(symbol.annotation),
            "aliases": list(symbol.aliases),
            "members": self._members(symbol),
            "source": self._source(symbol, 1, _SHOWN_SOURCE) if symbol.kind in CALLABLES else "",
        }
        return {key: value for key, value in told.items() if value}

    def read_source(self, name: str, first_line: int = 1, containing: str = "") -> dict[str, Any]:
        """Read the source of a module, class, function or method of the library, in pages.

        Args:
            name: Its full dotted name.
            first_line: Where to begin within the definition.
            containing: Begin at the next line that has this word.
        """
        symbol = self._resolve(name)
        if isinstance(symbol, dict):
            return symbol
        first = max(1, first_line)
        if containing:
            found = self._line_with(symbol, containing, first)
            if found is None:
                return {"error": f"{containing!r} does not occur in {symbol.path} from there on"}
            first = max(1, found - _BEFORE)
        source = self._source(symbol, first, _PAGE)
        return {"name": symbol.path, "source": source or "no source is available"}

    def _resolve(self, name: str) -> Symbol | dict[str, Any]:
        if isinstance(self._library, str):
            return {"error": self._library}
        index = self._library.index
        name = name.strip().strip("`").removesuffix("()")
        found = index.resolve(name) or self._library.owner(name)
        if found is not None:
            return found
        nearest = [one.path for one in index.find(name.rpartition(".")[2])[:_HITS]]
        similar = nearest or [hit.symbol.path for hit in index.search(name, _HITS)]
        return {"error": f"the library has no {name!r}", "similar": similar}

    def _members(self, symbol: Symbol) -> list[str]:
        if symbol.kind not in (*CLASSES, "module"):
            return []
        assert isinstance(self._library, Library)
        members = self._library.members(symbol)
        if symbol.kind == "module":
            known = self._library.index.of_kinds((*CLASSES, "function", "constant"))
            members = {one.name: one for one in known if one.module == symbol.path}
        given = {one.name for one in symbol.parameters or ()}
        public = [
            one
            for name, one in members.items()
            if not name.startswith("_") and name not in given and not one.foreign
        ]
        told = [_member(one) for one in public[:_MEMBERS]]
        more = len(public) - len(told)
        return [*told, f"… and {more} more"] if more > 0 else told

    def _line_with(self, symbol: Symbol, word: str, first: int) -> int | None:
        _, lines = self._lines(symbol)
        places = (place for place, line in enumerate(lines, 1) if place >= first and word in line)
        return next(places, None)

    def _lines(self, symbol: Symbol) -> tuple[int, list[str]]:
        if self._environment is None:
            return 1, []
        module = symbol.path if symbol.kind == "module" else symbol.module
        return source_of(self._environment, module, symbol.path) or (1, [])

    def _source(self, symbol: Symbol, first: int, most: int) -> str:
        start, lines = self._lines(symbol)
        if not lines:
            return ""
        module = symbol.path if symbol.kind == "module" else symbol.module
        shown = lines[first - 1 : first - 1 + most]
        left = len(lines) - (first - 1 + len(shown))
        more = [f"… {left} more lines: first_line={first + most}"] if left > 0 else []
        return "\n".join([f"# line {start + first - 1} of {module}", *shown, *more])


def _short(symbol: Symbol, doc: int = 160, signature: int = 200) -> dict[str, Any]:
    told = {
        "name": symbol.import_path,
        "defined_as": symbol.path if symbol.path != symbol.import_path else "",
        "kind": symbol.kind,
        "signature": "" if symbol.parameters is None else shorten_signature(symbol, signature),
        "doc": f"{symbol.doc}\n\n{symbol.details}".strip()[:doc],
        "unavailable": "" if symbol.available else "its module cannot be imported here",
    }
    return {key: value for key, value in told.items() if value}


def _member(symbol: Symbol) -> str:
    annotation = f": {shorten(symbol.annotation)}" if symbol.annotation else ""
    signature = shorten(symbol.signature) if symbol.parameters is not None else annotation
    default = f" = {symbol.default}" if symbol.default is not None else ""
    return f"{symbol.name}{signature}{default} ({symbol.kind})"[:_LINE]


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def module_file(environment: Environment, module: str) -> Path | None:
    """Return the file of a module of the target."""
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
    """Return the lines of a definition and the number of the first; of a module, all of them."""
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
    """Return the statements of a body, and of the `if` and `try` directly in it."""
    found: list[ast.stmt] = []
    for one in body:
        found.append(one)
        if isinstance(one, ast.If | ast.Try):
            found += _statements([*one.body, *one.orelse])
    return found
