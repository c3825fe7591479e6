"""Reads JSON into a tree with line numbers, which the standard library's parser does not keep."""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder

from assay.documents.tree import (
    FLOW,
    MAX_DEPTH,
    MAX_NODES,
    DocumentError,
    ListNode,
    MappingNode,
    Node,
    Pair,
    ScalarNode,
)

_STRING = JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_ATOM = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")


def parse_json(text: str) -> Node:
    """Return the tree of the one value in a text; numbers stay as they were written."""
    return _Parser(text.removeprefix("\ufeff")).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._nodes = 0
        # The offset up to which lines are counted; a list of all line starts takes 32 bytes a line.
        self._counted = 0
        self._lines = 1

    def parse(self) -> Node:
        self._skip()
        node = self._value(0)
        self._skip()
        if self._at != len(self._text):
            raise self._error("something follows the end of the document")
        return node

    def _value(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self._error(f"nested more than {MAX_DEPTH} levels deep")
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise self._error(f"has more than {MAX_NODES:,} parts")
        line, start, next_character = self._line(), self._at, self._peek()
        if next_character == "{":
            pairs = tuple(self._pairs(depth))
            return MappingNode(line, pairs, start, self._at, FLOW)
        if next_character == "[":
            items = tuple(self._items(depth))
            return ListNode(line, items, start, self._at, FLOW)
        if next_character == '"':
            return ScalarNode(line, self._string(), False, start, self._at, '"')
        atom = _ATOM.match(self._text, self._at)
        if atom is None:
            raise self._error("a value was expected")
        self._at = atom.end()
        return ScalarNode(line, None if atom[0] == "null" else atom[0], True, start, self._at)

    def _pairs(self, depth: int) -> list[Pair]:
        pairs: list[Pair] = []
        while self._has_more("}", bool(pairs)):
            line, start = self._line(), self._at
            if self._peek() != '"':
                raise self._error("a key in double quotes was expected")
            key, end = self._string(), self._at
            self._skip()
            self._expect(":")
            pairs.append(Pair(key, line, self._value(depth + 1), start, end))
        return pairs

    def _items(self, depth: int) -> list[Node]:
        items: list[Node] = []
        while self._has_more("]", bool(items)):
            items.append(self._value(depth + 1))
        return items

    def _has_more(self, end: str, after_one: bool) -> bool:
        """Skip the opening bracket, the comma or the end; return whether an element follows."""
        if not after_one:
            self._at += 1
        self._skip()
        if self._peek() == end:
            self._at += 1
            return False
        if after_one:
            self._expect(",")
        return True

    def _expect(self, mark: str) -> None:
        if self._peek() != mark:
            raise self._error(f"`{mark}` was expected")
        self._at += 1
        self._skip()

    def _string(self) -> str:
        text: str
        try:
            text, self._at = _STRING.raw_decode(self._text, self._at)
        except JSONDecodeError as error:
            self._at = error.pos
            raise self._error(error.msg[:1].lower() + error.msg[1:]) from None
        return text

    def _skip(self) -> None:
        self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr] # it may be empty

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _line(self) -> int:
        if self._at < self._counted:
            return self._text.count("\n", 0, self._at) + 1
        self._lines += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._lines

    def _error(self, what: str) -> DocumentError:
        advice = "look at the commas and quotes around this line"
        return DocumentError(f"is not valid JSON: {what}", self._line(), advice)
