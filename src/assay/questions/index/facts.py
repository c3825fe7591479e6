"""Turns the facts collected inside the sandbox into symbols with their documentation.

Docstring sections may be in Google, numpy or reST style.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from textwrap import dedent
from typing import Any

from pydantic import ValidationError

from assay.errors import InfrastructureError
from assay.questions.index.symbols import Parameter, Symbol, plainness

_SECTIONS = {
    "args", "arguments", "parameters", "params", "keyword args", "keyword arguments",
    "other parameters", "attributes", "fields", "members",
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


def parse_docstring(text: str) -> Docstring:
    """Take a docstring apart; text without any structure is a first paragraph and a rest."""
    if not text.strip():
        return Docstring()
    first, _, rest = text.strip().partition("\n\n")
    names = {**_read_rest_fields(text), **_read_sections(text)}
    return Docstring(_flat(first), rest.strip(), names, _find_deprecation(first, rest))


def _find_deprecation(first: str, rest: str) -> str:
    """Return the deprecation line; beyond the first paragraph only a directive counts."""
    for part, wanted in ((first, True), (rest, False)):
        found = _DEPRECATED.search(part)
        if found and (wanted or found[0].startswith("..")):
            start = part.rfind("\n", 0, found.start()) + 1
            return _flat(part[start:].split("\n\n")[0])[:200]
    return ""


def _flat(text: str) -> str:
    return " ".join(text.split())


def _read_rest_fields(text: str) -> dict[str, str]:
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


def _read_sections(text: str) -> dict[str, str]:
    lines = text.splitlines()
    found: dict[str, str] = {}
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if _UNDERLINE.match(following) and line.strip().lower() in _SECTIONS:
            found.update(_read_entries(_numpy_body(lines[number + 2 :]), _NUMPY_ENTRY))
        match = _GOOGLE.match(line.strip())
        if match and match["title"].lower() in _SECTIONS:
            found.update(_read_entries(_google_body(line, lines[number + 1 :]), _ENTRY))
    return found


def _google_body(title: str, lines: list[str]) -> list[str]:
    """Return the lines that are indented deeper than the title, without that indentation."""
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


def _read_entries(lines: list[str], pattern: re.Pattern[str]) -> dict[str, str]:
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


_LONGEST_REST = 2000
_LONGEST_ENTRY = 600


def read_facts(data: bytes) -> list[Symbol]:
    """Return the symbols of `facts.jsonl`, one per path, without a last line that was cut off.

    A command may be called like a package; the space after its path tells them apart.
    """
    docs: dict[str, Docstring] = {}
    found: dict[str, Symbol] = {}
    lines = data.split(b"\n")
    try:
        for number, line in enumerate(lines):
            if line:
                fact = _decode(line, is_last=number >= len(lines) - 2)
                symbol = Symbol.model_validate(fact) if fact else None
                if symbol is None:
                    continue
                key = f"{symbol.path} " if symbol.kind == "command" else symbol.path
                if key not in found:
                    docs[key] = parse_docstring(symbol.doc)
                    found[key] = symbol
    except (ValueError, ValidationError) as error:
        raise InfrastructureError(f"the sandbox returned an invalid index: {error}") from None
    _inherit_constructor_docs(found, docs)
    return list(_complete(found, docs))


def _decode(line: bytes, *, is_last: bool) -> dict[str, Any] | None:
    try:
        fact = json.loads(line)
    except ValueError:
        if is_last:
            return None
        raise
    return fact if isinstance(fact, dict) else None


def _inherit_constructor_docs(found: dict[str, Symbol], docs: dict[str, Docstring]) -> None:
    """Apply the parameter documentation of `__init__` to the class as well."""
    for path in found:
        owner = path.removesuffix(".__init__")
        if owner != path and owner in docs:
            docs[owner].names.update(
                (name, text) for name, text in docs[path].names.items() if text
            )


def _complete(found: dict[str, Symbol], docs: dict[str, Docstring]) -> Iterator[Symbol]:
    for path, symbol in found.items():
        own, around = docs[path], docs.get(symbol.owner, Docstring())
        said = around.names.get(symbol.name, "") if symbol.owner else ""
        first, rest = own.first, own.rest
        if not first:
            first, _, rest = said.partition("\n\n")
        yield symbol.model_copy(
            update={
                "doc": first[:_LONGEST_ENTRY],
                "details": rest[:_LONGEST_REST],
                "paths": _sort_paths(symbol, found),
                "parameters": _add_docs(symbol.parameters, own),
                "deprecated": symbol.deprecated or own.deprecated or _find_mark(symbol),
            }
        )


def _sort_paths(symbol: Symbol, found: dict[str, Symbol]) -> tuple[str, ...]:
    """Return the paths to a symbol, the best first; a member is reached through its class."""
    owner = found.get(symbol.owner)
    if owner is not None and symbol.kind not in ("command", "option"):
        return tuple(f"{path}.{symbol.name}" for path in _sort_paths(owner, found))
    paths = {symbol.path, *symbol.paths}
    return tuple(
        sorted(paths, key=lambda path: (_is_accidental(path, symbol, found), plainness(path)))
    )


def _is_accidental(path: str, symbol: Symbol, found: dict[str, Symbol]) -> bool:
    """Return whether a module has the name only because it imports it for its own use.

    A package that re-exports names from its submodules does so on purpose, with or without
    `__all__`.
    """
    module, _, name = path.rpartition(".")
    where = found.get(module)
    return not (
        path == symbol.path
        or symbol.module == module
        or symbol.module.startswith(f"{module}.")
        or (where is not None and name in where.exports)
    )


def _add_docs(
    parameters: Iterable[Parameter] | None, docs: Docstring
) -> tuple[Parameter, ...] | None:
    if parameters is None:
        return None
    return tuple(
        one.model_copy(update={"doc": docs.names.get(one.name, "")[:_LONGEST_ENTRY]})
        for one in parameters
    )


def _find_mark(symbol: Symbol) -> str:
    return next((one for one in symbol.decorators if "deprecated" in one.lower()), "")
