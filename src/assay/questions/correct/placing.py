"""Offers texts with a new value in its place, likest to the old one first."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import yaml
from yaml.resolver import Resolver

from assay.questions.correct.spots import ALIAS, ListSpot, MapSpot, PairSpot, ScalarSpot, Spot

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


_SIMPLE_KEY = re.compile(r"[A-Za-z_][\w-]*")


@dataclass(frozen=True)
class Slot:
    """A key of a mapping, or a number of a list, in a text; what stands there may be nothing."""

    text: str
    is_json: bool
    parent: MapSpot | ListSpot
    step: str | int

    @cached_property
    def pair(self) -> PairSpot | None:
        return self.parent.find(str(self.step)) if isinstance(self.parent, MapSpot) else None

    @cached_property
    def spot(self) -> Spot | None:
        if isinstance(self.parent, ListSpot):
            return self.parent.items[int(self.step)]
        return self.pair.value if self.pair else None

    @property
    def style(self) -> str:
        return self.spot.style if isinstance(self.spot, ScalarSpot) else ""

    @property
    def newline(self) -> str:
        """The line end that is used here."""
        near = self.text.find("\n", self.parent.start)
        near = near if near >= 0 else self.text.rfind("\n")
        return "\r\n" if near > 0 and self.text[near - 1] == "\r" else "\n"

    def column(self, position: int) -> int:
        return position - (self.text.rfind("\n", 0, position) + 1)

    @property
    def key_column(self) -> int:
        """How deep the parent is, so that a block must be deeper."""
        if isinstance(self.parent, MapSpot) and self.parent.pairs:
            return self.column(self.parent.pairs[0].start)
        return max(0, self.column(self.parent.start) - 2)

    def rest_of_line(self, position: int) -> str:
        end = self.text.find("\n", position)
        return self.text[position : end if end >= 0 else len(self.text)]


def replaced(slot: Slot, wanted: Any) -> Iterator[str]:
    """The text with another value in place of the one that is there."""
    spot = slot.spot
    assert spot is not None
    start, end = spot.start, end_of(slot, spot)
    if not isinstance(wanted, str):
        if isinstance(spot, MapSpot | ListSpot) and not spot.is_flow and slot.pair:
            # A list in brackets goes on the line of its key, whatever the lines below had.
            start = slot.pair.end + 1
            yield slot.text[:start] + " " + _collection(wanted) + slot.text[end:]
        yield slot.text[:start] + _collection(wanted) + slot.text[end:]
        return
    before = _before(slot, slot.text[start:end], slot.style, end)
    is_empty = start == end
    for offer in _written(wanted, before, slot):
        space = " " if is_empty and slot.text[start - 1 : start] == ":" else ""
        yield slot.text[:start] + space + offer + slot.text[end:]


def _before(slot: Slot, raw: str, style: str, end: int) -> Before:
    return Before(
        style=style,
        raw=raw,
        value=raw if style == "" else None,
        column=slot.key_column,
        newline=slot.newline,
        in_flow=slot.parent.is_flow,
        is_alone=not slot.rest_of_line(end).strip(),
    )


def _written(wanted: Any, before: Before, slot: Slot) -> Iterator[str]:
    if not isinstance(wanted, str):
        yield _collection(wanted)
    elif slot.is_json:
        yield from json_text(wanted, before, slot.text)
    else:
        yield from offers(wanted, before)


def _collection(wanted: Any) -> str:
    """Texts in brackets or braces, which YAML and JSON write alike."""
    return json.dumps(wanted, ensure_ascii=False)


def end_of(slot: Slot, spot: Spot) -> int:
    """Where a value ends; a block ends before the break and the blank lines that follow it."""
    if isinstance(spot, ScalarSpot):
        if spot.style not in ("|", ">"):
            return spot.end
        raw = slot.text[spot.start : spot.end]
        return spot.start + block_extent(raw, slot.key_column)
    if isinstance(spot, MapSpot) and spot.pairs and not spot.is_flow:
        return end_of(slot, spot.pairs[-1].value)
    if isinstance(spot, ListSpot) and spot.items and not spot.is_flow:
        return end_of(slot, spot.items[-1])
    return spot.end


# --- Something new -----------------------------------------------------------------------------


def inserted(slot: Slot, wanted: Any) -> Iterator[str]:
    """The text with a new key at the end of its mapping."""
    if not isinstance(slot.parent, MapSpot):
        return
    yield from (_into_flow if slot.parent.is_flow else _into_block)(slot, wanted)


def _into_block(slot: Slot, wanted: Any) -> Iterator[str]:
    last = slot.parent.pairs[-1]  # type: ignore[union-attr] # a block mapping is never empty
    indent = " " * slot.key_column
    ends = [end_of(slot, last.value)]
    ends[0] += len(slot.rest_of_line(ends[0]).rstrip("\r"))
    # After a block that keeps its blank lines, a key must come behind them.
    ends.append(last.value.end)
    for end in ends:
        at_start = slot.text[:end].endswith("\n")
        opening, closing = ("", slot.newline) if at_start else (slot.newline, "")
        for value in _written(wanted, _new(slot, last.value), slot):
            line = f"{opening}{indent}{_key(slot)}: {value}{closing}"
            yield slot.text[:end] + line + slot.text[end:]


def _into_flow(slot: Slot, wanted: Any) -> Iterator[str]:
    assert isinstance(slot.parent, MapSpot)
    pairs = slot.parent.pairs
    like = pairs[-1].value if pairs else Spot(0, 0)
    for value in _written(wanted, _new(slot, like), slot):
        new = f"{_key(slot)}: {value}"
        if not pairs:
            start = slot.parent.start + 1
            yield slot.text[:start] + new + slot.text[start:]
            continue
        end = pairs[-1].value.end
        before = pairs[-2].value.end if len(pairs) > 1 else slot.parent.start + 1
        space = re.search(r"\s*$", slot.text[before : pairs[-1].start])
        assert space is not None
        joint = "," + (space[0] or ("" if len(pairs) > 1 else " "))
        yield slot.text[:end] + joint + new + slot.text[end:]


def _new(slot: Slot, like: Spot) -> Before:
    """As its neighbour is written, if that is in quotes."""
    quote = like.style if isinstance(like, ScalarSpot) and like.style in ("'", '"') else ""
    return replace(_before(slot, "", quote, 0), is_alone=True)


def _key(slot: Slot) -> str:
    key = str(slot.step)
    if slot.is_json:
        return json.dumps(key, ensure_ascii=False)
    assert isinstance(slot.parent, MapSpot)
    quotes = {slot.text[pair.start] for pair in slot.parent.pairs} & {"'", '"'}
    return key if _SIMPLE_KEY.fullmatch(key) and not quotes else double(key)


# --- Something gone ----------------------------------------------------------------------------


def removed(slot: Slot) -> Iterator[str]:
    """The text without a key and its value."""
    if not isinstance(slot.parent, MapSpot) or slot.pair is None:
        return
    pairs, pair, text = slot.parent.pairs, slot.pair, slot.text
    number = pairs.index(pair)
    end = end_of(slot, pair.value)
    following = pairs[number + 1].start if number + 1 < len(pairs) else None
    if slot.parent.is_flow:
        if number:
            yield text[: pairs[number - 1].value.end] + text[end:]
        elif following is not None:
            yield text[: pair.start] + text[following:]
        else:
            yield text[: pair.start] + text[end:]
        return
    line = text.rfind("\n", 0, pair.start) + 1
    if not text[line : pair.start].strip():
        next_line = text.find("\n", end)
        yield text[:line] + (text[next_line + 1 :] if next_line >= 0 else "")
    elif following is not None and not text[end:following].strip():
        yield text[: pair.start] + text[following:]
