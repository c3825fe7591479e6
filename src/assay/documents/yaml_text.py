"""Reads YAML into a tree with line numbers, from the parser's events.

Processing events needs no recursion, so deep nesting or an alias to itself cannot crash it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from assay.documents.tree import (
    ALIAS,
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

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_MERGE = "<<"
# An anchor and a tag, with what may stand between them and their value.
_PROPERTIES = re.compile(r"(?:[&!]\S*+(?:\s++(?:#[^\n]*+)?)*+)*+")


def parse_yaml(text: str) -> Node:
    """Return the tree of the one document in a text."""
    try:
        return _Builder(text).build()
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
    """A collection being read; in a mapping, keys and values alternate."""

    line: int
    start: int
    style: str
    is_mapping: bool
    anchor: str | None
    parts: list[Node] = field(default_factory=list)
    size: int = 1

    def close(self, end: int) -> Node:
        # The end of a block is where the next token starts: far beyond its last part.
        end = self.parts[-1].end if self.parts and not self.style else end
        if not self.is_mapping:
            return ListNode(self.line, tuple(self.parts), self.start, end, self.style)
        pairs = tuple(_pair(key, value) for key, value in zip(*[iter(self.parts)] * 2, strict=True))
        has_merge = any(pair.key == _MERGE for pair in pairs)
        return MappingNode(
            self.line,
            _merge(pairs) if has_merge else pairs,
            self.start,
            end,
            self.style,
            pairs if has_merge else None,
        )


class _Builder:
    """Builds a tree from a stream of events."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._stack: list[_Open] = []
        # What an anchor names, with its size: a copy of a large part is as large as that part.
        self._anchors: dict[str, tuple[Node, int]] = {}
        self._root: Node | None = None

    def build(self) -> Node:
        for event in yaml.parse(self._text, Loader=_LOADER):
            self._take(event)
        if self._root is None:
            raise DocumentError("is empty")
        return self._root

    def _take(self, event: Any) -> None:
        line, start, end = event.start_mark.line + 1, event.start_mark.index, event.end_mark.index
        if isinstance(event, yaml.DocumentStartEvent) and self._root is not None:
            raise DocumentError("holds more than one document", line, "make a file of each")
        if isinstance(event, yaml.ScalarEvent):
            # Only a plain scalar means null; in quotes the same letters are text.
            is_null = event.implicit[0] and event.value in _NULLS
            text = None if is_null else event.value
            start = self._skip_properties(start, end)
            scalar = ScalarNode(line, text, event.implicit[0], start, end, event.style or "")
            self._add(scalar, 1, event.anchor)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            style = FLOW if event.flow_style else ""
            self._stack.append(_Open(line, start, style, is_mapping, event.anchor))
            if len(self._stack) > MAX_DEPTH:
                raise DocumentError(f"is nested more than {MAX_DEPTH} levels deep", line)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            done = self._stack.pop()
            self._add(done.close(end), done.size, done.anchor)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise DocumentError(f"the alias *{event.anchor} names nothing above it", line)
            node, size = self._anchors[event.anchor]
            self._add(replace(node, start=start, end=end, style=ALIAS), size, None)

    def _skip_properties(self, start: int, end: int) -> int:
        """Return where a scalar starts after its anchor and tag."""
        found = _PROPERTIES.match(self._text, start)
        return min(found.end(), end) if found else start

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


def _pair(key: Node, value: Node) -> Pair:
    if not isinstance(key, ScalarNode):
        raise DocumentError("a key must be text", key.line, "put the key in quotes")
    text = "" if key.text is None else key.text
    return Pair(text, key.line, value, key.start, key.end)


def _merge(pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
    """Return the pairs with those of `<<: *name` that are not given directly."""
    own = [pair for pair in pairs if pair.key != _MERGE]
    given = {pair.key for pair in own}
    for pair in pairs:
        if pair.key == _MERGE:
            sources = pair.value.items if isinstance(pair.value, ListNode) else (pair.value,)
            for source in sources:
                if not isinstance(source, MappingNode):
                    raise DocumentError("`<<` takes a mapping", pair.line)
                own += [one for one in source.pairs if one.key not in given]
                given |= {one.key for one in source.pairs}
    return tuple(own)
