"""Where every part of a YAML or JSON text stands: from which character to which, in what style."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from json import JSONDecodeError, JSONDecoder
from typing import Any

import yaml

from assay.errors import InputError

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
ALIAS = "*"


@dataclass(frozen=True)
class Spot:
    """The characters of a value, without its anchor and tag."""

    start: int
    end: int


@dataclass(frozen=True)
class ScalarSpot(Spot):
    """`style` is a quote, `|`, `>`, nothing for a plain scalar, or `*` for an alias of anything."""

    style: str


@dataclass(frozen=True)
class PairSpot:
    """A key and its value; `start` and `end` are the key's."""

    key: str
    start: int
    end: int
    value: Spot


@dataclass(frozen=True)
class ListSpot(Spot):
    items: tuple[Spot, ...]
    is_flow: bool


@dataclass(frozen=True)
class MapSpot(Spot):
    pairs: tuple[PairSpot, ...]
    is_flow: bool

    def find(self, key: str) -> PairSpot | None:
        """The pair of a key; the last one, as every parser would have it."""
        return next((pair for pair in reversed(self.pairs) if pair.key == key), None)


def locate(text: str, *, is_json: bool) -> Spot:
    """The spots of a text that is known to be a document."""
    return _JsonLocator(text).value() if is_json else _locate_yaml(text)


@dataclass
class _Open:
    start: int
    is_mapping: bool
    is_flow: bool
    anchor: str | None
    keys: list[tuple[str, int, int]] = field(default_factory=list)
    values: list[Spot] = field(default_factory=list)
    awaits_value: bool = False

    def closed(self, end: int) -> Spot:
        # The end of a block collection is where the next token starts: far beyond its last part.
        last = end if self.is_flow or not self.values else self.values[-1].end
        if not self.is_mapping:
            return ListSpot(self.start, last, tuple(self.values), self.is_flow)
        pairs = zip(self.keys, self.values, strict=True)
        spots = tuple(PairSpot(*key, value) for key, value in pairs)
        return MapSpot(self.start, last, spots, self.is_flow)


class _YamlLocator:
    """Puts spots together from the parser's events."""

    def __init__(self, text: str) -> None:
        # An event starts at its anchor or tag; the token of a scalar starts at the scalar.
        self._starts = {
            token.end_mark.index: token.start_mark.index
            for token in yaml.scan(text, Loader=_LOADER)
            if isinstance(token, yaml.ScalarToken)
        }
        self._stack: list[_Open] = []
        self._named: dict[str, str] = {}
        self.root: Spot | None = None
        for event in yaml.parse(text, Loader=_LOADER):
            self._take(event)

    def _take(self, event: Any) -> None:
        start, end = event.start_mark.index, event.end_mark.index
        if isinstance(event, yaml.ScalarEvent):
            spot = ScalarSpot(self._starts.get(end, end), end, event.style or "")
            if event.anchor:
                self._named[event.anchor] = event.value
            self._add(spot, event.value)
        elif isinstance(event, yaml.AliasEvent):
            self._add(ScalarSpot(start, end, ALIAS), self._named.get(event.anchor or "", ""))
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            self._stack.append(_Open(start, is_mapping, bool(event.flow_style), event.anchor))
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._add(self._stack.pop().closed(end), "")

    def _add(self, spot: Spot, text: str) -> None:
        if not self._stack:
            self.root = spot
            return
        parent = self._stack[-1]
        if parent.is_mapping and not parent.awaits_value:
            parent.keys.append((text, spot.start, spot.end))
            parent.awaits_value = True
        else:
            parent.values.append(spot)
            parent.awaits_value = False


def _locate_yaml(text: str) -> Spot:
    try:
        root = _YamlLocator(text).root
    except yaml.YAMLError as error:
        raise InputError(f"is not valid YAML: {error}") from None
    if root is None:
        raise InputError("is empty")
    return root


_SPACE = re.compile(r"[ \t\n\r]*")
_ATOM = re.compile(r"[-+.\w]+")


class _JsonLocator:
    """Walks through JSON that has been parsed before, so that its shape is certain."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def value(self) -> Spot:
        self._skip()
        start = self._at
        match self._text[start]:
            case "{":
                pairs = tuple(self._pairs())
                return MapSpot(start, self._at, pairs, True)
            case "[":
                items = tuple(self.value() for _ in self._elements("]"))
                return ListSpot(start, self._at, items, True)
            case '"':
                self._string()
                return ScalarSpot(start, self._at, '"')
        atom = _ATOM.match(self._text, start)
        assert atom is not None
        self._at = atom.end()
        return ScalarSpot(start, self._at, "")

    def _pairs(self) -> Iterator[PairSpot]:
        for _ in self._elements("}"):
            start = self._at
            key = self._string()
            end = self._at
            self._skip()
            self._at += 1
            yield PairSpot(key, start, end, self.value())

    def _elements(self, closing: str) -> Iterator[None]:
        self._at += 1
        self._skip()
        while self._text[self._at] != closing:
            yield None
            self._skip()
            self._at += self._text[self._at] == ","
            self._skip()
        self._at += 1

    def _string(self) -> str:
        try:
            key, self._at = JSONDecoder().raw_decode(self._text, self._at)
        except JSONDecodeError as error:
            raise InputError(f"is not valid JSON: {error.msg}") from None
        return str(key)

    def _skip(self) -> None:
        found = _SPACE.match(self._text, self._at)
        assert found is not None
        self._at = found.end()
