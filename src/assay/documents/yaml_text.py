"""Reads YAML into a tree with lines, from the parser's events.

Events need no recursion, so that neither deep nesting nor an alias to itself can bring it down.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import yaml

from assay.documents.tree import (
    MAX_DEPTH,
    MAX_NODES,
    DocumentError,
    Mapping,
    Node,
    Pair,
    Scalar,
    Sequence,
)

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_MERGE = "<<"


def parse_yaml(text: str) -> Node:
    """The tree of the one document in a text."""
    try:
        return _Builder().build(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = ", ".join(part for part in (error.context, error.problem) if part)
        raise DocumentError(
            f"is not valid YAML: {what}",
            mark.line + 1 if mark else 1,
            "look at the indentation, the colons and the quotes around this line",
        ) from None
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise DocumentError(
            f"holds a character that YAML does not allow: {error.reason}",
            line,
            "write it as an escape inside double quotes",
        ) from None


@dataclass
class _Open:
    """A collection that is being read; in a mapping, keys and values take turns."""

    line: int
    is_mapping: bool
    anchor: str | None
    parts: list[Node] = field(default_factory=list)
    size: int = 1


class _Builder:
    """Puts a stream of events together."""

    def __init__(self) -> None:
        self._stack: list[_Open] = []
        # What an anchor names, with its size: a copy of a large part is as large as that part.
        self._anchors: dict[str, tuple[Node, int]] = {}
        self._root: Node | None = None

    def build(self, events: Iterable[Any]) -> Node:
        for event in events:
            self._take(event)
        if self._root is None:
            raise DocumentError("is empty")
        return self._root

    def _take(self, event: Any) -> None:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.DocumentStartEvent) and self._root is not None:
            raise DocumentError("holds more than one document", line, "make a file of each")
        if isinstance(event, yaml.ScalarEvent):
            # Only a plain scalar means null; in quotes the same letters are text.
            is_null = event.implicit[0] and event.value in _NULLS
            scalar = Scalar(line, None if is_null else event.value, event.implicit[0])
            self._add(scalar, 1, event.anchor)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            self._stack.append(_Open(line, is_mapping, event.anchor))
            if len(self._stack) > MAX_DEPTH:
                raise DocumentError(f"is nested more than {MAX_DEPTH} levels deep", line)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            done = self._stack.pop()
            self._add(_closed(done), done.size, done.anchor)
        elif isinstance(event, yaml.AliasEvent):
            self._add(*self._named(event.anchor, line), None)

    def _named(self, anchor: str | None, line: int) -> tuple[Node, int]:
        if anchor is None or anchor not in self._anchors:
            raise DocumentError(f"the alias *{anchor} names nothing above it", line)
        return self._anchors[anchor]

    def _add(self, node: Node, size: int, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = (node, size)
        if not self._stack:
            self._root = node
            return
        parent = self._stack[-1]
        parent.parts.append(node)
        parent.size += size
        if parent.size > MAX_NODES:
            raise DocumentError(f"has more than {MAX_NODES} parts", node.line)


def _closed(done: _Open) -> Node:
    if not done.is_mapping:
        return Sequence(done.line, tuple(done.parts))
    pairs = [_pair(key, value) for key, value in zip(*[iter(done.parts)] * 2, strict=True)]
    return Mapping(done.line, tuple(_merged(pairs)))


def _pair(key: Node, value: Node) -> Pair:
    if not isinstance(key, Scalar):
        raise DocumentError("a key must be text", key.line, "put the key in quotes")
    return Pair("" if key.text is None else key.text, key.line, value)


def _merged(pairs: list[Pair]) -> list[Pair]:
    """The pairs with those of `<<: *name` among them, where they are not given directly."""
    own = [pair for pair in pairs if pair.key != _MERGE]
    given = {pair.key for pair in own}
    for pair in pairs:
        if pair.key == _MERGE:
            sources = pair.value.items if isinstance(pair.value, Sequence) else (pair.value,)
            for source in sources:
                if not isinstance(source, Mapping):
                    raise DocumentError("`<<` takes a mapping", pair.line)
                own += [one for one in source.pairs if one.key not in given]
                given |= {one.key for one in source.pairs}
    return own
