"""The files a question refers to: snippets with their imports, and the files of a repair."""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

from assay.documents import LARGEST_SOURCE, UnreadableFileError, read_bytes, read_text
from assay.errors import nearest
from assay.questions.model import FixQuestion, Snippet
from assay.questions.suite.files import find_beside, root_of
from assay.questions.suite.formats import FixError, SnippetReference

_MARKER = re.compile(
    r"^[ \t]*\S{0,4}[ \t]*-+8<-+[ \t]*\[[ \t]*(start|end)[ \t]*:[ \t]*(.+?)[ \t]*\]"
)


class MissingFileError(Exception):
    """A broken reference of a question: what is wrong, in which field, and advice."""

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
    """A file with snippets, parsed once for all questions that refer to it."""

    path: Path
    text: str
    imported: tuple[ImportedName, ...]

    def snippet(self, section: str | None) -> Snippet:
        if section is None:
            return Snippet(_clean(self.text.splitlines()), name=self.path.name)
        found = cut_section(self.text, section, self.path.name)
        helpers = find_helpers(self.text, found)
        used = find_used("\n".join([*helpers, found.code]))
        imports = tuple(
            one.statement
            for one in self.imported
            if one.bound in used and not found.first <= one.line <= found.last
        )
        return Snippet(found.code, imports, f"{self.path.name}:{section}", helpers)

    def revise(self, text: str) -> SnippetFile:
        """Return the same file with another text."""
        return SnippetFile(self.path, text, tuple(find_imports(text)))

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
        """Return the file of a name as the suite writes it; a MissingFileError if there is none."""
        if name not in self._files:
            self._files[name] = self._read(name)
        return self._files[name]

    def resolve(self, reference: SnippetReference) -> Snippet:
        return self.get(reference.file).snippet(reference.section)

    def _read(self, name: str) -> SnippetFile:
        path, text = read_beside(name, "code_snippet_ref.file", self._suite, "snippet file")
        return SnippetFile(path, "", ()).revise(text)


def read_beside(name: str, field: str, suite: Path, what: str = "file") -> tuple[Path, str]:
    """Return a file that a suite names, with its text, or raise MissingFileError."""
    path = find_beside(name, suite)
    if path is None:
        advice = f"it is sought from the suite's folder up to {root_of(suite)}"
        raise MissingFileError(f"the {what} {name} does not exist", field, advice)
    try:
        return path, read_text(path, LARGEST_SOURCE)
    except (OSError, UnreadableFileError) as error:
        reason = f": it {error.what}" if isinstance(error, UnreadableFileError) else ""
        message = f"the {what} {name} cannot be read{reason}"
        raise MissingFileError(message, field, "save it as UTF-8 text") from None


def cut_section(text: str, section: str, name: str = "the file") -> Section:
    """Return the dedented lines between the markers of a section, or raise MissingFileError."""
    lines = text.splitlines()
    first, last = _find_section(lines, section, name)
    return Section(_clean(lines[first : last - 1]), first, last)


def _find_section(lines: list[str], section: str, name: str) -> tuple[int, int]:
    """Return the numbers of the lines with the markers of a section."""
    marks = [(number, *_marker(line)) for number, line in enumerate(lines, 1)]
    first = next((n for n, kind, of in marks if kind == "start" and of == section), None)
    if first is None:
        known = sorted({of for _, kind, of in marks if kind == "start"})
        raise MissingFileError(
            f"{name} has no section {section!r}",
            "code_snippet_ref.section",
            nearest(section, known),
        )
    last = next((n for n, kind, of in marks if kind == "end" and of == section and n > first), None)
    if last is None:
        advice = f"add a line `# --8<-- [end:{section}]`"
        raise MissingFileError(
            f"the section {section!r} of {name} never ends", "code_snippet_ref.section", advice
        )
    return first, last


def replace_section(text: str, section: str | None, code: str) -> str | None:
    """Return the text of a file with other code in a section, or (without one) in all of it.

    Indentation, line ends and blank lines around the code stay as they are. None where markers of
    other sections stand in the code.
    """
    lines = text.splitlines(keepends=True)
    first, end = 0, len(lines)
    if section is not None:
        first, last = _find_section(text.splitlines(), section, "the file")
        end = last - 1
    old = lines[first:end]
    if any(_marker(line)[0] for line in (*old, *code.splitlines())):
        return None
    while old and not old[-1].strip():
        old.pop()
        end -= 1
    while old and not old[0].strip():
        old.pop(0)
        first += 1
    indents = [line[: len(line) - len(line.lstrip())] for line in old if line.strip()]
    shortest = min(indents, key=len, default="")
    indent = shortest if all(one.startswith(shortest) for one in indents) else ""
    newline = "\r\n" if (old or lines or [""])[0].endswith("\r\n") else "\n"
    given = textwrap.dedent(code).strip("\n").splitlines()
    new = [f"{indent}{line}{newline}" if line.strip() else newline for line in given]
    if old and new and not old[-1].endswith(("\n", "\r")):
        new[-1] = new[-1].removesuffix(newline)
    return "".join([*lines[:first], *new, *lines[end:]])


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
        for one in split_import(statement):
            found.setdefault(one.bound, one)
    return list(found.values())


def find_helpers(source: str, section: Section) -> tuple[str, ...]:
    """Return the definitions of a file that a section uses and does not hold, in their order."""
    try:
        body = ast.parse(source).body
        own = {name for one in ast.parse(section.code).body for name in _bound_by(one)}
    except (SyntaxError, ValueError, RecursionError):
        return ()
    outside = [one for one in body if not section.first <= one.lineno <= section.last]
    wanted, needed = find_used(section.code) - own, set[int]()
    while True:
        more = {
            place
            for place, one in enumerate(outside)
            if place not in needed and wanted & set(_bound_by(one))
        }
        if not more:
            break
        needed |= more
        wanted |= {name for place in more for name in find_used(ast.unparse(outside[place]))}
    return tuple(_text_of(source, outside[place]) for place in sorted(needed))


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement defines at the top level, imports left out."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (one.id for one in targets if isinstance(one, ast.Name))


def _text_of(source: str, statement: ast.stmt) -> str:
    """Return the lines of a statement, decorators included, markers of sections left out."""
    decorators = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(one.lineno for one in decorators)])
    return _clean(source.splitlines()[first - 1 : statement.end_lineno])


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


def split_import(statement: ast.Import | ast.ImportFrom) -> Iterator[ImportedName]:
    """Yield the names that a statement imports, each with the statement for it alone."""
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


@dataclass(frozen=True)
class _Source:
    """A file of the question with its text."""

    path: Path
    text: str

    def modules(self) -> list[str]:
        """Return the modules it imports, also inside functions, each once."""
        return list(dict.fromkeys(_find_imports(self.text)))

    def tops(self) -> set[str]:
        return {module.partition(".")[0] for module in self.modules()}


def read_repair(fields: FixError, suite: Path) -> FixQuestion:
    """Return the question with the text of its files; MissingFileError names a missing one."""
    test = _source(fields.test_file, "test_file", suite)
    unfixed = _source(fields.unfixed_file, "unfixed_file", suite)
    fixed = _source(fields.fixed_file, "fixed_file", suite)
    module = _find_module(test, unfixed, fixed)
    library = unfixed.tops() | fixed.tops()
    return FixQuestion(
        id=fields.id,
        name=fields.name or fields.id,
        description=fields.description,
        test=test.text,
        unfixed=unfixed.text,
        fixed=fixed.text,
        module=module,
        requirements=tuple(fields.requirements or ()),
        error_output=fields.error_output,
        companions=tuple(sorted(_companions(test, suite, library | {module}).items())),
    )


def _source(name: str, field: str, suite: Path) -> _Source:
    return _Source(*read_beside(name, field, suite))


def _find_module(test: _Source, unfixed: _Source, fixed: _Source) -> str:
    """Return the name under which the test imports the file to be repaired.

    A test that imports both files shows by the first that it is broken and tries the second: there
    the repair is what it imports under the name of the repaired file.
    """
    imported = test.tops()
    for stem in (fixed.path.stem, unfixed.path.stem):
        if stem in imported:
            return stem
    unknown = imported - unfixed.tops() - fixed.tops()
    missing = [name for name in sorted(unknown) if not _is_known(name, test.path.parent)]
    return missing[0] if len(missing) == 1 else unfixed.path.stem


def _is_known(name: str, folder: Path) -> bool:
    """Tell whether a module is the standard library's, installed, or beside the test."""
    if name in sys.stdlib_module_names or PathFinder.find_spec(name) is not None:
        return True
    return (folder / name).is_dir() or (folder / f"{name}.py").is_file()


def _companions(test: _Source, suite: Path, others: set[str]) -> dict[str, str]:
    """Return the local files the test imports, and those they import, by path.

    Never one of a package that the program itself imports or that is installed: it would stand
    before the library that is to be tested.
    """
    found: dict[str, str] = {}
    waiting = test.modules()
    while waiting:
        module = waiting.pop()
        top = module.partition(".")[0]
        if top in others or top in sys.stdlib_module_names or PathFinder.find_spec(top):
            continue
        local = _local_module(module, test.path, suite)
        if local is not None and local[0] not in found:
            name, source = local
            found[name] = source.text
            waiting += source.modules()
    return found


def _local_module(module: str, test: Path, suite: Path) -> tuple[str, _Source] | None:
    stem = module.replace(".", "/")
    for name in (f"{stem}.py", f"{stem}/__init__.py"):
        path = find_beside(name, test) or find_beside(name, suite)
        if path is not None:
            return name, _Source(
                path, read_bytes(path, LARGEST_SOURCE).decode("utf-8-sig", "replace")
            )
    return None


def _find_imports(source: str) -> Iterator[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)
