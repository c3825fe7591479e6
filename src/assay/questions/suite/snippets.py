"""Snippets: the section of a file that a question refers to, with the imports it uses."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.documents import LARGEST_SOURCE, UnreadableFileError, read_text
from assay.errors import nearest
from assay.questions.model import Snippet
from assay.questions.suite.files import find_beside, root_of
from assay.questions.suite.formats import SnippetReference

_MARKER = re.compile(
    r"^[ \t]*\S{0,4}[ \t]*-+8<-+[ \t]*\[[ \t]*(start|end)[ \t]*:[ \t]*(.+?)[ \t]*\]"
)


class SnippetError(Exception):
    """A reference that leads nowhere; what is wrong, in which field, and what to do."""

    def __init__(self, what: str, field: str, advice: str) -> None:
        super().__init__(what)
        self.what, self.field, self.advice = what, field, advice


@dataclass(frozen=True)
class Section:
    """Lines of a file, markers removed, with the numbers of their first and last line."""

    code: str
    first: int
    last: int


@dataclass(frozen=True)
class SnippetFile:
    """A file with snippets, read and looked through once for all questions that refer to it."""

    path: Path
    text: str
    imported: tuple[ImportedName, ...]

    def snippet(self, section: str | None) -> Snippet:
        if section is None:
            return Snippet(_clean(self.text.splitlines()), name=self.path.name)
        found = cut_section(self.text, section, self.path.name)
        used = find_used(found.code)
        imports = tuple(
            one.statement
            for one in self.imported
            if one.bound in used and not found.first <= one.line <= found.last
        )
        return Snippet(found.code, imports, f"{self.path.name}:{section}")

    def find_unused(self, section: str) -> list[ImportedName]:
        """Return what the file imports and the section does not use."""
        used = find_used(cut_section(self.text, section, self.path.name).code)
        return [one for one in self.imported if one.bound not in used]


class SnippetFiles:
    """The snippet files of one suite."""

    def __init__(self, suite: Path) -> None:
        self._suite = suite
        self._files: dict[str, SnippetFile] = {}

    def get(self, name: str) -> SnippetFile:
        """Return the file of a name as the suite writes it; a SnippetError if there is none."""
        if name not in self._files:
            self._files[name] = self._read(name)
        return self._files[name]

    def resolve(self, reference: SnippetReference) -> Snippet:
        return self.get(reference.file).snippet(reference.section)

    def _read(self, name: str) -> SnippetFile:
        path = find_beside(name, self._suite)
        if path is None:
            raise SnippetError(
                f"the snippet file {name} does not exist",
                "code_snippet_ref.file",
                f"it is sought from the suite's folder up to {root_of(self._suite)}",
            )
        try:
            text = read_text(path, LARGEST_SOURCE)
        except (OSError, UnreadableFileError) as error:
            reason = f": it {error.what}" if isinstance(error, UnreadableFileError) else ""
            raise SnippetError(
                f"the snippet file {name} cannot be read{reason}",
                "code_snippet_ref.file",
                "save it as UTF-8 text",
            ) from None
        return SnippetFile(path, text, tuple(find_imports(text)))


def cut_section(text: str, section: str, name: str = "the file") -> Section:
    """Return the dedented lines between the markers of a section, or raise SnippetError."""
    lines = text.splitlines()
    marks = [(number, *_marker(line)) for number, line in enumerate(lines, 1)]
    first = next((n for n, kind, of in marks if kind == "start" and of == section), None)
    if first is None:
        known = sorted({of for _, kind, of in marks if kind == "start"})
        raise SnippetError(
            f"{name} has no section {section!r}",
            "code_snippet_ref.section",
            nearest(section, known),
        )
    last = next((n for n, kind, of in marks if kind == "end" and of == section and n > first), None)
    if last is None:
        advice = f"add a line `# --8<-- [end:{section}]`"
        raise SnippetError(
            f"the section {section!r} of {name} never ends", "code_snippet_ref.section", advice
        )
    return Section(_clean(lines[first : last - 1]), first, last)


def _marker(line: str) -> tuple[str, str]:
    match = _MARKER.match(line)
    return (match[1], match[2]) if match else ("", "")


def _clean(lines: list[str]) -> str:
    kept = "\n".join(line for line in lines if not _MARKER.match(line))
    return textwrap.dedent(kept).strip("\n") + "\n"


_START = re.compile(r"^(?:import|from)\s", re.MULTILINE)
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class ImportedName:
    """One name that a file imports: the statement for it alone, and where it comes from.

    `member` is what is taken out of `module`; None where the module itself is imported.
    """

    bound: str
    statement: str
    module: str
    member: str | None
    line: int


def find_imports(source: str) -> list[ImportedName]:
    """Return what the top level of a file imports, also inside `if` and `try`."""
    found: dict[str, ImportedName] = {}
    for statement in _statements(source):
        for one in _names(statement):
            found.setdefault(one.bound, one)
    return list(found.values())


def find_used(code: str) -> frozenset[str]:
    """Return the names a piece of code uses; every word of it where it does not parse."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return frozenset(_WORD.findall(code))
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def _statements(source: str) -> Iterator[ast.Import | ast.ImportFrom]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        # Snippets may be broken on purpose; their imports can be read all the same.
        yield from _loose_statements(source)
    else:
        yield from _imports_in(tree.body)


def _imports_in(body: Iterable[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif isinstance(statement, ast.If | ast.Try | ast.TryStar):
            yield from _imports_in(statement.body)
            for handler in getattr(statement, "handlers", []):
                yield from _imports_in(handler.body)
            yield from _imports_in(statement.orelse)
            yield from _imports_in(getattr(statement, "finalbody", []))


def _loose_statements(source: str) -> Iterator[ast.Import | ast.ImportFrom]:
    for start in (match.start() for match in _START.finditer(source)):
        first, _, rest = source[start:].partition("\n")
        text = first if "(" not in first else first + "\n" + rest.partition(")")[0] + ")"
        line = source.count("\n", 0, start)
        try:
            statements = ast.parse(first if ")" in first else text).body
        except (SyntaxError, ValueError):
            continue
        for statement in statements:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                yield ast.increment_lineno(statement, line)


def _names(statement: ast.Import | ast.ImportFrom) -> Iterator[ImportedName]:
    # A future statement binds no name for use, and a star binds names nobody can know.
    if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
        return
    for alias in statement.names:
        if alias.name == "*":
            continue
        suffix = f" as {alias.asname}" if alias.asname else ""
        if isinstance(statement, ast.Import):
            bound = alias.asname or alias.name.partition(".")[0]
            text, module, member = f"import {alias.name}{suffix}", alias.name, None
        else:
            bound = alias.asname or alias.name
            module, member = "." * statement.level + (statement.module or ""), alias.name
            text = f"from {module} import {alias.name}{suffix}"
        yield ImportedName(bound, text, module, member, statement.lineno)
