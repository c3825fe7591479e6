"""The code a question refers to: a section of a file, with the imports that section uses."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from assay.documents import LARGEST_SOURCE, UnreadableFileError, read_text
from assay.errors import nearest
from assay.questions.model import Snippet
from assay.questions.suite.files import find_beside, root_of
from assay.questions.suite.formats import SnippetReference
from assay.questions.suite.imports import ImportedName, imported_names, used_names

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
        used = used_names(found.code)
        imports = tuple(
            one.statement
            for one in self.imported
            if one.bound in used and not found.first <= one.line <= found.last
        )
        return Snippet(found.code, imports, f"{self.path.name}:{section}")

    def unused(self, section: str) -> list[ImportedName]:
        """What the file imports and the section does not use."""
        used = used_names(cut_section(self.text, section, self.path.name).code)
        return [one for one in self.imported if one.bound not in used]


class SnippetFiles:
    """The snippet files of one suite."""

    def __init__(self, suite: Path) -> None:
        self._suite = suite
        self._files: dict[str, SnippetFile] = {}

    def get(self, name: str) -> SnippetFile:
        """The file of a name as the suite writes it; a SnippetError if there is none."""
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
        return SnippetFile(path, text, tuple(imported_names(text)))


def cut_section(text: str, section: str, name: str = "the file") -> Section:
    """The lines between the markers of a section, dedented; a SnippetError if there are none."""
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
