"""Changes one value in the text of a document, and nothing else.

After each edit the text is parsed again. Unless exactly that value changed, to the intended one,
the next more cautious way of writing it is tried.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from assay.documents.json_text import parse_json
from assay.documents.scalar_styles import OldScalar, block_extent, offer_json, offer_yaml, quote
from assay.documents.tree import (
    ALIAS,
    FLOW,
    DocumentError,
    KeyPath,
    ListNode,
    MappingNode,
    Node,
    Pair,
    ScalarNode,
    parse_document,
    to_texts,
)

_SIMPLE_KEY = re.compile(r"[A-Za-z_][\w-]*")


def change_value(text: str, path: KeyPath, value: Any, suffix: str = ".yaml") -> str | None:
    """Return a text with another value at a path; None if something else would change too.

    A value is a text, texts in a list or mapping, or None to remove it with its key.
    """
    before = parse_document(text, suffix)
    current = get_node(before, path)
    slot = _find_slot(text, suffix, before, path)
    wanted = _end_as_before(value, current, slot)
    if (None if current is None else to_texts(current)) == wanted:
        return text
    if slot is None:
        return None
    make = _remove if wanted is None else _insert if slot.node is None else _replace
    return next(
        (one for one in make(slot, wanted) if _says(before, one, suffix, path, wanted)), None
    )


def get_node(document: Node, path: KeyPath) -> Node | None:
    """Return the node at a path, if there is one."""
    node: Node | None = document
    for step in path:
        if isinstance(node, ListNode) and isinstance(step, int):
            node = node.items[step]
        elif isinstance(node, MappingNode):
            node = node.get(str(step))
        else:
            return None
    return node


@dataclass(frozen=True)
class _Slot:
    """A key of a mapping, or an index of a list, in a text; it may be empty."""

    text: str
    is_json: bool
    parent: MappingNode | ListNode
    step: str | int

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        return _list_pairs(self.parent)

    @cached_property
    def pair(self) -> Pair | None:
        return next((pair for pair in reversed(self.pairs) if pair.key == self.step), None)

    @cached_property
    def node(self) -> Node | None:
        if isinstance(self.parent, ListNode):
            return self.parent.items[int(self.step)]
        return self.pair.value if self.pair else None

    @property
    def style(self) -> str:
        if self.node is not None and _is_collection(self.node):
            return ""
        return self.node.style if self.node is not None else ""

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
        if self.pairs:
            return self.column(self.pairs[0].start)
        return max(0, self.column(self.parent.start) - 2)

    def rest_of_line(self, position: int) -> str:
        end = self.text.find("\n", position)
        return self.text[position : end if end >= 0 else len(self.text)]


def _replace(slot: _Slot, wanted: Any) -> Iterator[str]:
    """Yield the text with the existing value replaced."""
    node = slot.node
    assert node is not None
    start, end = node.start, _end_of(slot, node)
    if not isinstance(wanted, str):
        if _is_collection(node) and node.style != FLOW and slot.pair:
            # A list in brackets goes on the line of its key, whatever the lines below had.
            start = slot.pair.end + 1
            yield slot.text[:start] + " " + _collection(wanted) + slot.text[end:]
        yield slot.text[:start] + _collection(wanted) + slot.text[end:]
        return
    before = _old_scalar(slot, slot.text[start:end], slot.style, end)
    is_empty = start == end
    for offer in _offer(wanted, before, slot):
        space = " " if is_empty and slot.text[start - 1 : start] == ":" else ""
        yield slot.text[:start] + space + offer + slot.text[end:]


def _old_scalar(slot: _Slot, raw: str, style: str, end: int) -> OldScalar:
    return OldScalar(
        style=style,
        raw=raw,
        value=raw if style == "" else None,
        column=slot.key_column,
        newline=slot.newline,
        in_flow=slot.parent.style == FLOW,
        is_alone=not slot.rest_of_line(end).strip(),
    )


def _offer(wanted: Any, before: OldScalar, slot: _Slot) -> Iterator[str]:
    if not isinstance(wanted, str):
        yield _collection(wanted)
    elif slot.is_json:
        yield from offer_json(wanted, before, slot.text)
    else:
        yield from offer_yaml(wanted, before)


def _collection(wanted: Any) -> str:
    """Return strings in brackets or braces, in a syntax that YAML and JSON share."""
    return json.dumps(wanted, ensure_ascii=False)


def _end_of(slot: _Slot, node: Node) -> int:
    """Return where a value ends; a block ends before its line break and following blank lines."""
    if node.style in ("|", ">"):
        return node.start + block_extent(slot.text[node.start : node.end], slot.key_column)
    if _is_collection(node) and node.style != FLOW:
        last = _list_pairs(node)[-1:] or getattr(node, "items", ())[-1:]
        for part in last:
            return _end_of(slot, part.value if isinstance(part, Pair) else part)
    return node.end


def _is_collection(node: Node) -> bool:
    """Return whether a node is written out as a list or a mapping, not as an alias."""
    return not isinstance(node, ScalarNode) and node.style != ALIAS


def _list_pairs(node: Node) -> tuple[Pair, ...]:
    if not isinstance(node, MappingNode):
        return ()
    return node.pairs if node.written is None else node.written


# --- Something new -----------------------------------------------------------------------------


def _insert(slot: _Slot, wanted: Any) -> Iterator[str]:
    """Yield the text with a new key at the end of its mapping."""
    if isinstance(slot.parent, MappingNode):
        into = _into_flow if slot.parent.style == FLOW else _into_block
        yield from into(slot, wanted)


def _into_block(slot: _Slot, wanted: Any) -> Iterator[str]:
    last = slot.pairs[-1]  # a block mapping is never empty
    indent = " " * slot.key_column
    ends = [_end_of(slot, last.value)]
    ends[0] += len(slot.rest_of_line(ends[0]).rstrip("\r"))
    # After a block that keeps its blank lines, a key must come behind them.
    ends.append(last.value.end)
    for end in ends:
        at_start = slot.text[:end].endswith("\n")
        opening, closing = ("", slot.newline) if at_start else (slot.newline, "")
        for value in _offer(wanted, _new(slot, last.value), slot):
            line = f"{opening}{indent}{_key(slot)}: {value}{closing}"
            yield slot.text[:end] + line + slot.text[end:]


def _into_flow(slot: _Slot, wanted: Any) -> Iterator[str]:
    pairs = slot.pairs
    like = pairs[-1].value if pairs else None
    for value in _offer(wanted, _new(slot, like), slot):
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


def _new(slot: _Slot, like: Node | None) -> OldScalar:
    """Return how to write a new value: in quotes if its neighbour is."""
    style = like.style if like is not None and like.style in ("'", '"') else ""
    return replace(_old_scalar(slot, "", style, 0), is_alone=True)


def _key(slot: _Slot) -> str:
    key = str(slot.step)
    if slot.is_json:
        return json.dumps(key, ensure_ascii=False)
    quotes = {slot.text[pair.start] for pair in slot.pairs} & {"'", '"'}
    return key if _SIMPLE_KEY.fullmatch(key) and not quotes else quote(key)


# --- Something gone ----------------------------------------------------------------------------


def _remove(slot: _Slot, _: Any = None) -> Iterator[str]:
    """Yield the text without a key and its value."""
    if slot.pair is None:
        return
    pairs, pair, text = slot.pairs, slot.pair, slot.text
    number = pairs.index(pair)
    end = _end_of(slot, pair.value)
    following = pairs[number + 1].start if number + 1 < len(pairs) else None
    if slot.parent.style == FLOW:
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


# --- Where it is, and what it says -------------------------------------------------------------


def _find_slot(text: str, suffix: str, document: Node, path: KeyPath) -> _Slot | None:
    """Return the place of a path in the text; None where it is reached through an alias."""
    node = document
    for step in path[:-1]:
        if not _is_collection(node):
            return None
        if isinstance(node, ListNode):
            node = node.items[int(step)]
            continue
        written = (pair.value for pair in reversed(_list_pairs(node)) if pair.key == step)
        inner = next(written, None)
        if inner is None:
            return None
        node = inner
    if isinstance(node, ScalarNode) or not _is_collection(node):
        return None
    return _Slot(text, _is_json(text, suffix), node, path[-1])


def _is_json(text: str, suffix: str) -> bool:
    if suffix == ".json":
        return True
    if not text.lstrip(" \t\r\n").startswith("{"):
        return False
    try:
        parse_json(text)
    except DocumentError:
        return False
    return True


def _end_as_before(value: Any, current: Node | None, slot: _Slot | None) -> Any:
    """Return a text with the trailing newlines of the previous block, unless it has its own."""
    is_block = slot is not None and slot.style in ("|", ">")
    if not (value and isinstance(value, str) and isinstance(current, ScalarNode) and is_block):
        return value
    before = current.text or ""
    return value if value.endswith("\n") else value + before[len(before.rstrip("\n")) :]


def _says(before: Node, text: str, suffix: str, path: KeyPath, wanted: Any) -> bool:
    """Return whether a text has the intended value at a path and is unchanged elsewhere."""
    try:
        after = parse_document(text, suffix)
    except DocumentError:
        return False
    found = get_node(after, path)
    said = None if found is None else to_texts(found)
    if said != wanted or (found is not None and wanted is None):
        return False
    kept = [part for part in _parts(before) if part[0][: len(path)] != path]
    return kept == [part for part in _parts(after) if part[0][: len(path)] != path]


def _parts(node: Node, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str | None, bool]]:
    """Yield every part of a document in its order, without its place."""
    if isinstance(node, ScalarNode):
        yield path, node.text, node.is_bare
    elif isinstance(node, ListNode):
        yield path, "[]", False
        for number, item in enumerate(node.items):
            yield from _parts(item, (*path, number))
    else:
        yield path, "{}", False
        for pair in node.pairs:
            yield from _parts(pair.value, (*path, pair.key))
