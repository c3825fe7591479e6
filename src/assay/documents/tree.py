"""A document as a tree in which every node knows its line and its character offsets.

Scalars keep their text as written: an option `No` stays "No" and `1.10` stays "1.10". `to_texts`
returns the texts, `to_values` the parsed values. `start` and `end` are character offsets in the
text; they are 0 in nodes that were created rather than parsed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeAlias

from assay.documents.files import LARGEST_DOCUMENT, UnreadableFileError, read_text
from assay.errors import InputError

ALIAS = "*"
FLOW = "{"
MISSING_KEY = "missing-key"
UNKNOWN_KEY = "unknown-key"
WRONG_VALUE = "wrong-value"
UNREADABLE = "unreadable"
MAX_DEPTH = 50
MAX_NODES = 500_000
KeyPath: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A file and a line: what a message or an editor points to."""

    file: Path
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """A string, or nothing (`null`)."""

    line: int
    text: str | None
    is_bare: bool = False
    """Written without quotes: `to_values` takes `12` for a number and `true` for a truth."""
    start: int = 0
    end: int = 0
    style: str = ""
    """A quote, `|`, `>`, nothing for a plain scalar, or `*` for an alias."""


@dataclass(frozen=True, slots=True)
class ListNode:
    """Values in their order."""

    line: int
    items: tuple[Node, ...]
    start: int = 0
    end: int = 0
    style: str = ""
    """`{` for brackets, nothing for a block, or `*` for an alias."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A key and its value; line, start and end are the key's."""

    key: str
    line: int
    value: Node
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class MappingNode:
    """Keys with their values; a key may be repeated."""

    line: int
    pairs: tuple[Pair, ...]
    start: int = 0
    end: int = 0
    style: str = ""
    """`{` for braces, nothing for a block, or `*` for an alias."""
    written: tuple[Pair, ...] | None = None
    """The pairs with `<<` in place of those that it brings; None if there is no `<<`."""

    def get(self, key: str) -> Node | None:
        """Return the value of a key; the last one if it is repeated, as parsers do."""
        return next((pair.value for pair in reversed(self.pairs) if pair.key == key), None)


Node: TypeAlias = ScalarNode | ListNode | MappingNode


class DocumentError(Exception):
    """A text that is not a valid document, the line of the error, and what to do."""

    def __init__(self, what: str, line: int = 1, advice: str = "") -> None:
        super().__init__(what)
        self.what, self.line, self.advice = what, line, advice


class InvalidValue(ValueError):  # noqa: N818 - it says what is the case
    """A value that is invalid for its key, raised by validators, and what to write instead.

    `{}` in `what` is replaced by the value once secrets have been removed from it.
    """

    def __init__(self, what: str, value: Any = None, advice: str = "") -> None:
        super().__init__(what)
        self.what, self.value, self.advice = what, value, advice


@dataclass(frozen=True)
class Mistake:
    """An error in a document, with its finding code."""

    message: str
    place: Place
    advice: str = ""
    code: str = WRONG_VALUE

    def error(self) -> InputError:
        return InputError(self.message, where=str(self.place), advice=self.advice or None)


def read_document(path: Path) -> Node:
    """Return the tree of a YAML or JSON file, or raise a DocumentError."""
    try:
        text = read_text(path, LARGEST_DOCUMENT)
    except UnreadableFileError as error:
        raise DocumentError(error.what, error.line, error.advice or "") from None
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}") from None
    return parse_document(text, path.suffix.lower())


def parse_document(text: str, suffix: str = ".yaml") -> Node:
    """Return the tree of a text, in the format of the given file name."""
    from assay.documents.json_text import parse_json
    from assay.documents.yaml_text import parse_yaml

    if suffix == ".json":
        return parse_json(text)
    # YAML forbids the tabs that JSON allows, so JSON is read as what it is, under any name.
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        try:
            return parse_json(text)
        except DocumentError:
            pass
    return parse_yaml(text)


def is_nothing(node: Node) -> bool:
    """Return whether a node is `null` or empty."""
    return isinstance(node, ScalarNode) and node.text is None


def to_texts(node: Node) -> Any:
    """Return the tree as dictionaries, lists, strings and None."""
    return _convert(node, lambda scalar: scalar.text)


def to_values(node: Node) -> Any:
    """Return the tree as values by the core schema of YAML 1.2: `yes` and `012` stay strings."""
    return _convert(node, _to_value)


def _convert(node: Node, convert: Callable[[ScalarNode], Any]) -> Any:
    if isinstance(node, ScalarNode):
        return convert(node)
    if isinstance(node, ListNode):
        return [_convert(item, convert) for item in node.items]
    return {pair.key: _convert(pair.value, convert) for pair in node.pairs}


_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", "+.inf"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf"), -math.inf),
    **dict.fromkeys((".nan", ".NaN"), math.nan),
}
# Python converts no longer ones.
_LONGEST_INTEGER = 4000


def _to_value(scalar: ScalarNode) -> Any:
    text = scalar.text
    if text is None or not scalar.is_bare:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text) and len(text) <= _LONGEST_INTEGER:
        return int(text)
    # A number with a leading zero is a code or a date, not a quantity.
    if _NUMBER.fullmatch(text) and not re.match(r"[-+]?0[0-9]", text):
        return float(text)
    return text


def to_node(value: Any, line: int, lines: Mapping[KeyPath, int] | None = None) -> Node:
    """Return a value as the tree it would be read from, each part with its own line if known."""
    return _to_node(value, line, lines or {}, ())


def _to_node(value: Any, line: int, lines: Mapping[KeyPath, int], at: KeyPath) -> Node:
    line = lines.get(at, line)
    if isinstance(value, dict):
        inner = [(str(key), _to_node(each, line, lines, (*at, key))) for key, each in value.items()]
        return MappingNode(line, tuple(Pair(key, node.line, node) for key, node in inner))
    if isinstance(value, list):
        items = (_to_node(each, line, lines, (*at, number)) for number, each in enumerate(value))
        return ListNode(line, tuple(items))
    if isinstance(value, bool):
        return ScalarNode(line, "true" if value else "false", is_bare=True)
    if isinstance(value, int | float):
        return ScalarNode(line, re.sub("(?=inf|nan)", ".", repr(value)), is_bare=True)
    return ScalarNode(line, value)


def find_lines(node: Node) -> dict[KeyPath, int]:
    """Return the line of every part by its path; for a value, the line of its key."""
    return dict(_find_lines(node, (), node.line))


def _find_lines(node: Node, at: KeyPath, line: int) -> Iterator[tuple[KeyPath, int]]:
    yield at, line
    if isinstance(node, ListNode):
        for index, item in enumerate(node.items):
            yield from _find_lines(item, (*at, index), item.line)
    elif isinstance(node, MappingNode):
        for pair in node.pairs:
            yield from _find_lines(pair.value, (*at, pair.key), pair.line)


class PlaceMap(dict[str, Place]):
    """The place of every part of a document by its dotted path; the whole is the empty path."""

    @classmethod
    def of(cls, places: Mapping[KeyPath, Place]) -> Self:
        """Return the places of parts by their keys as such a map."""
        return cls((".".join(map(str, path)), place) for path, place in places.items())

    def nearest(self, path: str) -> Place:
        """Return the place of a part, or of its parent if it is missing."""
        while path and path not in self:
            path = path.rpartition(".")[0]
        return self[path]


def find_places(node: Node, file: Path) -> PlaceMap:
    """Return the places of a document that was read from a file."""
    return PlaceMap.of({path: Place(file, line) for path, line in find_lines(node).items()})


@dataclass(frozen=True)
class Repetition:
    """A repeated key in a mapping."""

    key: str
    first: int
    line: int

    def __str__(self) -> str:
        return f"the key `{self.key}` occurs twice in one mapping, first in line {self.first}"


def find_repetitions(node: Node) -> Iterator[Repetition]:
    """Yield every key given more than once in one mapping: all but one value would be lost."""
    if isinstance(node, ListNode):
        for item in node.items:
            yield from find_repetitions(item)
    elif isinstance(node, MappingNode):
        seen: dict[str, int] = {}
        for pair in node.pairs:
            if pair.key in seen:
                yield Repetition(pair.key, seen[pair.key], pair.line)
            seen.setdefault(pair.key, pair.line)
            yield from find_repetitions(pair.value)


def repeat_mistake(key: str, first: int, place: Place) -> Mistake:
    """Return the mistake for a key whose earlier value would be ignored."""
    return Mistake(
        f"the key `{key}` occurs twice in one object, first in line {first}",
        place,
        "remove one of them, only the last would be read; several values of a test are a list",
        "repeated-key",
    )
