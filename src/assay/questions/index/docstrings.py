"""Docstrings taken apart: first paragraph, the rest, and what is said of each parameter.

Understands the three usual ways to write sections: Google, numpy and reST fields.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from textwrap import dedent

_SECTIONS = {
    "args", "arguments", "parameters", "params", "keyword args", "keyword arguments",
    "other parameters", "attributes", "fields", "members",
}  # fmt: skip
_OTHER_SECTIONS = {
    "returns", "return", "yields", "raises", "example", "examples", "note", "notes", "see also",
    "warning", "warnings", "todo", "references", "usage",
}  # fmt: skip
_GOOGLE = re.compile(r"^(?P<title>[A-Z][A-Za-z ]{2,24}):\s*$")
_UNDERLINE = re.compile(r"^\s*-{3,}\s*$")
_ENTRY = re.compile(r"^(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?:\((?P<kind>.*?)\))?\s*:\s*")
_NUMPY_ENTRY = re.compile(r"^(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")
_REST = re.compile(
    r"^:(?:param|parameter|arg|argument|key|keyword|ivar|cvar|var|attribute)\s+"
    r"(?:[\w.\[\], |]+\s+)?(?P<name>\*{0,2}\w+)\s*:\s*(?P<text>.*)$"
)
_DEPRECATED = re.compile(
    r"(?:^\.\. deprecated::\s*(?P<version>\S*)|^\W*deprecated\b|\b(?:is|are) deprecated\b)",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class Docstring:
    """A docstring in parts."""

    first: str = ""
    rest: str = ""
    names: dict[str, str] = field(default_factory=dict)
    """What is said about each parameter or attribute."""
    deprecated: str = ""


def parse(text: str) -> Docstring:
    """Take a docstring apart; text without any structure is a first paragraph and a rest."""
    if not text.strip():
        return Docstring()
    first, _, rest = text.strip().partition("\n\n")
    names = {**_rest_fields(text), **_sections(text)}
    return Docstring(_flat(first), rest.strip(), names, _deprecation(first, rest))


def _deprecation(first: str, rest: str) -> str:
    """The line that says so; only a directive counts beyond the first paragraph."""
    for part, wanted in ((first, True), (rest, False)):
        found = _DEPRECATED.search(part)
        if found and (wanted or found[0].startswith("..")):
            start = part.rfind("\n", 0, found.start()) + 1
            return _flat(part[start:].split("\n\n")[0])[:200]
    return ""


def _flat(text: str) -> str:
    return " ".join(text.split())


def _rest_fields(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    current = ""
    for line in text.splitlines():
        match = _REST.match(line.strip())
        if match:
            current = match["name"].lstrip("*")
            found[current] = match["text"].strip()
        elif current and line.startswith((" ", "\t")) and not line.strip().startswith(":"):
            found[current] = f"{found[current]} {line.strip()}".strip()
        else:
            current = ""
    return found


def _sections(text: str) -> dict[str, str]:
    lines = text.splitlines()
    found: dict[str, str] = {}
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if _UNDERLINE.match(following) and line.strip().lower() in _SECTIONS:
            found.update(_entries(_numpy_body(lines[number + 2 :]), _NUMPY_ENTRY))
        match = _GOOGLE.match(line.strip())
        if match and match["title"].lower() in _SECTIONS:
            found.update(_entries(_google_body(line, lines[number + 1 :]), _ENTRY))
    return found


def _google_body(title: str, lines: list[str]) -> list[str]:
    """The lines that are indented deeper than the title, without that indentation."""
    depth = _depth(title)
    body = []
    for line in lines:
        if line.strip() and _depth(line) <= depth:
            break
        body.append(line)
    return dedent("\n".join(body)).splitlines()


def _numpy_body(lines: list[str]) -> list[str]:
    body: list[str] = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if _UNDERLINE.match(following):
            break
        body.append(line)
    return dedent("\n".join(body)).splitlines()


def _entries(lines: list[str], pattern: re.Pattern[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    current: list[str] = []
    for line in lines:
        match = None if line.startswith((" ", "\t")) else pattern.match(line)
        if match:
            current = [name.strip().lstrip("*") for name in match["names"].split(",")]
            text = line[match.end() :]
            found.update(dict.fromkeys(current, text.strip()))
        elif line.strip():
            for name in current:
                found[name] = f"{found[name]} {line.strip()}".strip()
    return found


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
