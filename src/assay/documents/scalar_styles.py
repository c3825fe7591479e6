"""Candidate ways to write a string in YAML or JSON, most similar to the previous one first.

The caller parses the file again to check that a candidate has the intended value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.resolver import Resolver

from assay.documents.tree import ALIAS

_HEADER = re.compile(r"[|>]([-+]?)([1-9]?)([-+]?)([^\r\n]*)")
_BLOCKS = ("|", ">")
_SHORTEST = 40
_STEP = 2
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}
_RESOLVER: Any = Resolver()
_TEXT_TAG = "tag:yaml.org,2002:str"


@dataclass(frozen=True)
class OldScalar:
    """A value as written; `column` is that of its key.

    `is_alone` means that nothing follows it on its line, so that a block can replace it.
    """

    style: str
    raw: str
    value: str | None
    column: int
    newline: str
    in_flow: bool
    is_alone: bool


def offer_yaml(text: str, before: OldScalar) -> Iterator[str]:
    """Yield the text in its previous style, then in increasingly cautious ones."""
    literal = "\n" in text and before.is_alone and not before.in_flow
    match before.style:
        case "|":
            yield from _blocks(text, before, "|")
        case ">":
            yield from _blocks(text, before, ">")
            yield from _blocks(text, before, "|")
        case "'":
            yield from _wrap(_single(text), before)
        case '"':
            yield from _wrap(quote(text), before)
        case _ if _stays_plain(text, before):
            yield from _wrap(text, before)
    if literal and before.style != '"':
        yield from _blocks(text, before, "|")
    if before.style in ("", ALIAS) and ('"' in text or "\\" in text):
        yield _single(text)
    yield quote(text)


def _stays_plain(text: str, before: OldScalar) -> bool:
    """Return whether other parsers would read a string too: `yes` and `1.10` are ambiguous."""
    if "\n" in text or text != text.strip():
        return False
    new, old = _tag(text), _tag(before.value or "")
    return new in (_TEXT_TAG, old if before.style == "" and before.value else None)


def _tag(text: str) -> str:
    return str(_RESOLVER.resolve(yaml.ScalarNode, text, (True, False)))


def _single(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def quote(text: str) -> str:
    """Return a text in double quotes, with escapes only where necessary."""
    return '"' + "".join(map(_escape, text)) + '"'


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    # Separators of lines and what cannot be seen would be folded, refused or lost.
    if character.isprintable() or character == " ":
        return character
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _wrap(written: str, before: OldScalar) -> Iterator[str]:
    """Yield it on several lines, if it was on several before, and on one."""
    lines = before.raw.splitlines()
    if len(lines) > 1:
        indent = re.match(r"[ \t]*", lines[-1])
        assert indent is not None
        filled = _refill(written, _width(lines), [line.strip() for line in lines])
        yield (before.newline + indent[0]).join(filled)
    yield written


def _width(lines: list[str]) -> int:
    return max(_SHORTEST, *(len(line.strip()) for line in lines))


def _refill(text: str, width: int, old: list[str]) -> list[str]:
    """Return the lines of a paragraph, keeping those at its start and end that still fit."""
    first, rest = [], text
    while old and rest.startswith(f"{old[0]} ") and not rest.startswith(f"{old[0]}  "):
        first.append(old[0])
        rest, old = rest[len(old[0]) + 1 :], old[1:]
    last: list[str] = []
    while old and rest.endswith(f" {old[-1]}") and not rest.endswith(f"  {old[-1]}"):
        last.insert(0, old[-1])
        rest, old = rest[: -len(old[-1]) - 1], old[:-1]
    return [*first, *_fill(rest, width), *last]


def _fill(text: str, width: int) -> list[str]:
    """Return lines of about this width, broken only at single spaces."""
    lines, line = [], ""
    for word in re.split(r"(?<![ \\]) (?! )", text):
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]


# --- Blocks ------------------------------------------------------------------------------------


def _blocks(text: str, before: OldScalar, mark: str) -> Iterator[str]:
    """Yield a block with its previous header, then with one that fits the end of the text."""
    old = _HEADER.match(before.raw) if before.style in _BLOCKS else None
    indent = _indent(before, old)
    lines = text.rstrip("\n").split("\n")
    written = lines if mark == "|" else _fold(lines, _content(before, indent))
    content = [" " * indent + line if line else "" for line in written]
    digit = old[2] if old else ""
    if not digit and text[:1] in (" ", "\n"):
        digit = str(indent - before.column)
    comment = old[4] if old else ""
    for chomp in dict.fromkeys([*([old[1] or old[3]] if old else []), _chomp(text)]):
        yield before.newline.join([f"{mark}{digit}{chomp}{comment}", *content])


def _chomp(text: str) -> str:
    breaks = len(text) - len(text.rstrip("\n"))
    return ("-", "", "+")[min(breaks, 2)]


def _indent(before: OldScalar, header: re.Match[str] | None) -> int:
    if header is None:
        return before.column + _STEP
    if header[2]:
        return before.column + int(header[2])
    for line in before.raw.splitlines()[1:]:
        if line.strip():
            return len(line) - len(line.lstrip(" "))
    return before.column + _STEP


def _content(before: OldScalar, indent: int) -> list[str]:
    """Return the previous lines of a folded block."""
    return [line[indent:] for line in before.raw.splitlines()[1:]] if before.style == ">" else []


def _fold(lines: list[str], old: list[str]) -> list[str]:
    """Return lines that fold to those of the text, separated by empty lines."""
    width = _width(old or [""])
    paragraphs = _paragraphs(old)
    as_many = len(paragraphs) == sum(map(_folds, lines))
    known = {" ".join(one): one for one in paragraphs}
    written: list[str] = []
    previous: str | None = None
    for line in lines:
        if previous is not None and _folds(previous) and _folds(line):
            written.append("")
        if _folds(line):
            there = paragraphs.pop(0) if as_many else known.get(line, [])
            written += there if " ".join(there) == line else _refill(line, width, there)
        else:
            written.append(line)
        previous = line or previous
    return written


def _paragraphs(lines: list[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for line in lines:
        if _folds(line):
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [one for one in found if one]


def _folds(line: str) -> bool:
    return bool(line) and line[0] not in " \t"


def block_extent(raw: str, indent_of_key: int) -> int:
    """Return the length of a block, without its last line break and blank lines."""
    lines = raw.splitlines(keepends=True)
    contents = [line for line in lines[1:] if line.strip()]
    indent = min((len(one) - len(one.lstrip(" ")) for one in contents), default=indent_of_key + 1)
    while len(lines) > 1 and not lines[-1].strip() and len(lines[-1].rstrip("\r\n")) <= indent:
        lines.pop()
    return len("".join(lines).rstrip("\r\n"))


# --- JSON --------------------------------------------------------------------------------------


def offer_json(text: str, before: OldScalar, whole: str) -> Iterator[str]:
    """Yield a text in quotes, or bare if it was and still can be; with the file's escape style."""
    if before.style == "" and re.fullmatch(r"-?\d+(\.\d+)?|true|false", text):
        yield text
    escapes = whole.isascii() and "\\u" in whole
    # Half of a surrogate pair cannot be written to a file.
    lone = any("\ud800" <= character <= "\udfff" for character in text)
    yield json.dumps(text, ensure_ascii=escapes or lone)
