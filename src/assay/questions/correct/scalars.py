"""Ways to write a text in YAML or JSON, likest to how it was written before first.

They are offers: whoever takes one reads the file again and sees whether it says what was meant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.resolver import Resolver

from assay.questions.correct.spots import ALIAS

_HEADER = re.compile(r"[|>]([-+]?)([1-9]?)([-+]?)([^\r\n]*)")
_BLOCKS = ("|", ">")
_SHORTEST = 40
_STEP = 2
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}
_RESOLVER: Any = Resolver()
_TEXT_TAG = "tag:yaml.org,2002:str"


@dataclass(frozen=True)
class Before:
    """How a value was written, and where: `column` is that of its key.

    `is_alone` says that nothing follows it on its line, so that a block may take its place.
    """

    style: str
    raw: str
    value: str | None
    column: int
    newline: str
    in_flow: bool
    is_alone: bool


def offers(text: str, before: Before) -> Iterator[str]:
    """The text in the style it had, then in ever more cautious ones."""
    literal = "\n" in text and before.is_alone and not before.in_flow
    match before.style:
        case "|":
            yield from _blocks(text, before, "|")
        case ">":
            yield from _blocks(text, before, ">")
            yield from _blocks(text, before, "|")
        case "'":
            yield from _wrapped(_single(text), before)
        case '"':
            yield from _wrapped(double(text), before)
        case _ if _stays_plain(text, before):
            yield from _wrapped(text, before)
    if literal and before.style != '"':
        yield from _blocks(text, before, "|")
    if before.style in ("", ALIAS) and ('"' in text or "\\" in text):
        yield _single(text)
    yield double(text)


def _stays_plain(text: str, before: Before) -> bool:
    """Whether others than Assay would read text too: `yes` and `1.10` are more than that."""
    if "\n" in text or text != text.strip():
        return False
    new, old = _tag(text), _tag(before.value or "")
    return new in (_TEXT_TAG, old if before.style == "" and before.value else None)


def _tag(text: str) -> str:
    return str(_RESOLVER.resolve(yaml.ScalarNode, text, (True, False)))


def _single(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def double(text: str) -> str:
    """In double quotes, with escapes only where there must be."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    # Separators of lines and what cannot be seen would be folded, refused or lost.
    if character.isprintable() or character == " ":
        return character
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _wrapped(written: str, before: Before) -> Iterator[str]:
    """First over several lines, if it stood on several before."""
    lines = before.raw.splitlines()
    if len(lines) > 1:
        indent = re.match(r"[ \t]*", lines[-1])
        assert indent is not None
        filled = _refilled(written, _width(lines), [line.strip() for line in lines])
        yield (before.newline + indent[0]).join(filled)
    yield written


def _width(lines: list[str]) -> int:
    return max(_SHORTEST, *(len(line.strip()) for line in lines))


def _refilled(text: str, width: int, old: list[str]) -> list[str]:
    """The lines of a paragraph: those at its beginning and end that still fit stay as they were."""
    first, rest = [], text
    while old and rest.startswith(f"{old[0]} ") and not rest.startswith(f"{old[0]}  "):
        first.append(old[0])
        rest, old = rest[len(old[0]) + 1 :], old[1:]
    last: list[str] = []
    while old and rest.endswith(f" {old[-1]}") and not rest.endswith(f"  {old[-1]}"):
        last.insert(0, old[-1])
        rest, old = rest[: -len(old[-1]) - 1], old[:-1]
    return [*first, *_filled(rest, width), *last]


def _filled(text: str, width: int) -> list[str]:
    """Lines of about this width, broken only where one space stands alone."""
    lines, line = [], ""
    for word in re.split(r"(?<![ \\]) (?! )", text):
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]


# --- Blocks ------------------------------------------------------------------------------------


def _blocks(text: str, before: Before, mark: str) -> Iterator[str]:
    """A block with the header it had, then with one that fits the end of the text."""
    old = _HEADER.match(before.raw) if before.style in _BLOCKS else None
    indent = _indent(before, old)
    lines = text.rstrip("\n").split("\n")
    written = lines if mark == "|" else _folded(lines, _content(before, indent))
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


def _indent(before: Before, header: re.Match[str] | None) -> int:
    if header is None:
        return before.column + _STEP
    if header[2]:
        return before.column + int(header[2])
    for line in before.raw.splitlines()[1:]:
        if line.strip():
            return len(line) - len(line.lstrip(" "))
    return before.column + _STEP


def _content(before: Before, indent: int) -> list[str]:
    """The lines that a folded block had."""
    return [line[indent:] for line in before.raw.splitlines()[1:]] if before.style == ">" else []


def _folded(lines: list[str], old: list[str]) -> list[str]:
    """Lines whose folding gives the lines of the text: between two of them stands an empty one."""
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
            written += there if " ".join(there) == line else _refilled(line, width, there)
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
    """How many characters of a block are its own; the break at its end and blank lines are not."""
    lines = raw.splitlines(keepends=True)
    contents = [line for line in lines[1:] if line.strip()]
    indent = min((len(one) - len(one.lstrip(" ")) for one in contents), default=indent_of_key + 1)
    while len(lines) > 1 and not lines[-1].strip() and len(lines[-1].rstrip("\r\n")) <= indent:
        lines.pop()
    return len("".join(lines).rstrip("\r\n"))


# --- JSON --------------------------------------------------------------------------------------


def json_text(text: str, before: Before, whole: str) -> Iterator[str]:
    """In quotes, or bare where it was bare and still can be; escapes as the file has them."""
    if before.style == "" and re.fullmatch(r"-?\d+(\.\d+)?|true|false", text):
        yield text
    escapes = whole.isascii() and "\\u" in whole
    # Half of a surrogate pair cannot be written to a file.
    lone = any("\ud800" <= character <= "\udfff" for character in text)
    yield json.dumps(text, ensure_ascii=escapes or lone)
