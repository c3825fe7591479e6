"""Positions of the keys in a HOCON text, which its parser does not report.

The text was already accepted by the parser, so nothing is validated here: only the lines of keys
and elements, the includes and the substituted names are collected.
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TypeAlias

_BLANK = re.compile(r"(?:[\s\ufeff]|#[^\n]*|//[^\n]*)*")
_BLANK_OR_COMMA = re.compile(r"(?:[\s\ufeff,]|#[^\n]*|//[^\n]*)*")
_QUOTED = re.compile(r'"""(?:.*?)"""+|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
_SUBSTITUTION = re.compile(r"\$\{(\??)([^}]*)\}")
_PLAIN = re.compile(r"""(?:(?!//)[^$"{}\[\]:=,+#\n])+""")
_INCLUDE = re.compile(
    r'include(?=[\s"])\s*(?:required\(\s*)?(?:(\w+)\(\s*)?("(?:[^"\\\n]|\\.)*")'
    r'(?:\s*,\s*("(?:[^"\\\n]|\\.)*"))?[\s)]*'
)
_SEPARATOR = re.compile(r"\+=|[:=]?")


@dataclass(frozen=True)
class Substitution:
    """`${path}` or `${?path}`."""

    path: str
    is_optional: bool
    line: int


@dataclass(frozen=True)
class Include:
    """`include "name"`; the qualifier is `file`, `package` and so on, or empty."""

    name: str
    qualifier: str
    line: int


@dataclass(frozen=True)
class ObjectOutline:
    line: int
    fields: list[FieldOutline | Include] = field(default_factory=list)
    strays: list[int] = field(default_factory=list)
    """Lines with a closing brace that nothing opened; the parser takes it for the end."""


@dataclass(frozen=True)
class ArrayOutline:
    line: int
    items: list[ValueOutline] = field(default_factory=list)


Part: TypeAlias = ObjectOutline | ArrayOutline | Substitution | str


@dataclass(frozen=True)
class ValueOutline:
    """The value of a key; HOCON concatenates several parts into one value."""

    line: int
    parts: list[Part] = field(default_factory=list)


@dataclass(frozen=True)
class FieldOutline:
    """A key, or a path of several, and its value."""

    keys: tuple[str, ...]
    line: int
    value: ValueOutline
    appends: bool = False


def outline(text: str) -> ObjectOutline:
    """Return the outline of a HOCON text that the parser has accepted."""
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        # Of numbers in 8 bytes each: a list would take 36 for every line of a long text.
        self._starts = array("q", [0])
        self._starts.extend(match.end() for match in re.finditer("\n", text))

    def scan(self) -> ObjectOutline:
        root, opened = ObjectOutline(1), 0
        while True:
            self._skip(_BLANK_OR_COMMA)
            if self._at >= len(self._text):
                return root
            # The braces of the root may be left out, and fields may follow them.
            if (brace := self._peek()) not in "{}":
                root.fields.append(self._field())
                continue
            opened += 1 if brace == "{" else -1
            if opened < 0:
                root.strays.append(self._line())
            self._at += 1

    def _object(self) -> ObjectOutline:
        found = ObjectOutline(self._line())
        self._at += 1
        while self._has_more("}"):
            found.fields.append(self._field())
        return found

    def _array(self) -> ArrayOutline:
        found = ArrayOutline(self._line())
        self._at += 1
        while self._has_more("]"):
            start = self._at
            found.items.append(self._value())
            self._advance_from(start)
        return found

    def _has_more(self, end: str) -> bool:
        self._skip(_BLANK_OR_COMMA)
        if self._peek() == end:
            self._at += 1
            return False
        return self._at < len(self._text)

    def _field(self) -> FieldOutline | Include:
        line = self._line()
        if include := _INCLUDE.match(self._text, self._at):
            self._at = include.end()
            return Include(_unquote(include[3] or include[2]), include[1] or "", line)
        keys = self._keys()
        self._skip(_BLANK)
        separator = _SEPARATOR.match(self._text, self._at)
        assert separator is not None  # it may be empty
        self._at = separator.end()
        return FieldOutline(keys, line, self._value(), appends=separator[0] == "+=")

    def _keys(self) -> tuple[str, ...]:
        start, keys, is_open = self._at, [""], False
        while True:
            if quoted := _QUOTED.match(self._text, self._at):
                keys[-1] += _unquote(quoted[0])
                self._at, is_open = quoted.end(), True
            elif plain := _PLAIN.match(self._text, self._at):
                first, *others = plain[0].split(".")
                keys[-1] += first if is_open or not first.isspace() else ""
                keys += others
                self._at, is_open = plain.end(), True
            else:
                break
        self._advance_from(start)
        return tuple(key.strip() for key in keys)

    def _value(self) -> ValueOutline:
        self._skip(_BLANK)
        value = ValueOutline(self._line())
        while (part := self._part()) is not None:
            value.parts.append(part)
        return value

    def _part(self) -> Part | None:
        """Return the next part of a value; None where the value ends."""
        start, next_character = self._at, self._peek()
        if next_character == "{":
            return self._object()
        if next_character == "[":
            return self._array()
        if found := _SUBSTITUTION.match(self._text, start):
            self._at = found.end()
            return Substitution(found[2].strip(), bool(found[1]), self._line(start))
        for pattern in (_QUOTED, _PLAIN):
            if found := pattern.match(self._text, start):
                self._at = found.end()
                return found[0]
        if next_character and next_character in "$:=+":
            self._at += 1
            return next_character
        return None

    def _advance_from(self, start: int) -> None:
        """Always advance; a parsed text never needs it, but a scan must end."""
        if self._at == start:
            self._at += 1

    def _skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self._text, self._at)
        assert found is not None  # it may be empty
        self._at = found.end()

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _line(self, at: int | None = None) -> int:
        return bisect_right(self._starts, self._at if at is None else at)


def _unquote(text: str) -> str:
    if text.startswith('"""'):
        return text[3:-3]
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        return text[1:-1]
