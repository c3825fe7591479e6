"""All small ways to make a tree of values wrong, each with its position."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar

Path: TypeAlias = tuple[str | int, ...]
T = TypeVar("T")


class MutationKind(StrEnum):
    """In what way a mutant is wrong."""

    WRONG_VALUE = "wrong value"
    MISSING_KEY = "missing key"
    EXTRA_KEY = "extra key"
    MISSING_ELEMENT = "missing element"
    EXTRA_ELEMENT = "extra element"
    TYPE_CHANGE = "type change"
    REORDERED = "reordered list"
    OFF_BY_ONE = "off by one"
    TRUNCATED = "truncated text"
    WRONG_STATUS = "wrong status"
    MISSING_FILE = "missing file"
    UNEXPECTED_FILE = "unexpected file"


@dataclass(frozen=True)
class TreeChange:
    """A tree that is wrong in one place."""

    kind: MutationKind
    path: Path
    tree: Any


# A key name that no program uses.
EXTRA = "unexpected_key"
_SPREAD = {MutationKind.WRONG_VALUE: 8}
_USUAL_SPREAD = 3


def list_changes(
    tree: Any, again: Any, *, is_textual: bool, most: int | None = None
) -> list[TreeChange]:
    """Changes of each kind, a few of each, spread over the tree.

    `again` is the same tree of another run: what differs there nobody can compare, so it is left
    alone. `most` lowers how many there are of a kind.
    """
    found: list[TreeChange] = []
    for kind, make in _MAKERS.items():
        places = [
            (path, changed)
            for path, node in walk(tree)
            for changed in [make(path, node, is_textual)]
            if changed is not _NONE and _is_steady(kind, path, node, again)
        ]
        limit = min(_SPREAD.get(kind, _USUAL_SPREAD), most or _USUAL_SPREAD * 100)
        for path, changed in spread(places, limit):
            found.append(TreeChange(kind, path, replace_node(tree, path, changed)))
    return found


def walk(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every node of a tree with its place, the outer before the inner."""
    yield path, tree
    inner: Any = ()
    if isinstance(tree, dict):
        inner = tree.items()
    elif isinstance(tree, list):
        inner = enumerate(tree)
    for key, item in inner:
        yield from walk(item, (*path, key))


def find(tree: Any, path: Path, default: Any = None) -> Any:
    """Return the node at a place."""
    for step in path:
        try:
            tree = tree[step]
        except (KeyError, IndexError, TypeError):
            return default
    return tree


def replace_node(tree: Any, path: Path, new: Any) -> Any:
    """Return the tree with another node at a place, or without it; the rest is shared."""
    if not path:
        return new
    copy = tree.copy()
    inner = replace_node(tree[path[0]], path[1:], new)
    if inner is GONE:
        del copy[path[0]]
    else:
        copy[path[0]] = inner
    return copy


def format_place(path: Path) -> str:
    """Return a place in the usual notation: rows[0].price."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def pattern(path: Path) -> str:
    """Return a place with all list positions replaced: rows[].price."""
    return "".join("[]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


def spread(places: Sequence[tuple[Path, T]], most: int) -> list[tuple[Path, T]]:
    """Return at most the given number: first one of each pattern, spread evenly."""
    by_pattern: dict[str, list[tuple[Path, T]]] = {}
    for place in places:
        by_pattern.setdefault(pattern(place[0]), []).append(place)
    lists = list(by_pattern.values())
    chosen = [several[0] for several in lists]
    if len(chosen) < most:
        # The last of a list too: many a comparison ends too early.
        chosen += [several[-1] for several in lists if len(several) > 1]
    if len(chosen) <= most:
        return chosen
    return [chosen[number * len(chosen) // most] for number in range(most)]


def _is_steady(kind: MutationKind, path: Path, node: Any, again: Any) -> bool:
    """Return whether the other run has the same value there, as far as this change requires."""
    there = find(again, path, _NONE)
    if kind in (MutationKind.MISSING_KEY, MutationKind.MISSING_ELEMENT):
        return there is not _NONE
    if kind in (MutationKind.EXTRA_KEY, MutationKind.EXTRA_ELEMENT):
        return type(there) is type(node) and len(there) == len(node)
    return bool(there == node)


class _Sign:
    """A marker that no value of a result can equal."""


_NONE = _Sign()
"""There is nothing of that kind to change."""
GONE = _Sign()
"""In the place of a node that is left out."""


def wrong_value(node: Any) -> Any:
    """Another scalar of the same type."""
    match node:
        case bool():
            return not node
        case int():
            return -node - 7
        case float():
            other = -node - 7.5 if math.isfinite(node) else 0.0
            return other if other != node else 0.0
        case str():
            return rotate(node)
        case bytes():
            return bytes([node[0] ^ 0xFF]) + node[1:] if node else b"wrong"
    return _NONE


def rotate(text: str) -> str:
    """Replace each letter and digit with a different one of the same kind, keeping the length."""
    changed = text.translate(_OTHERS)
    return changed if changed != text else f"{text}x"


def _other_characters() -> dict[int, int]:
    # By more than one, so that no number is off by one only.
    rounds = ("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789")
    pairs = [pair for each in rounds for pair in zip(each, each[4:] + each[:4], strict=True)]
    return {ord(before): ord(after) for before, after in pairs}


_OTHERS = _other_characters()


def type_change(node: Any) -> Any:
    """Return the value in another type."""
    match node:
        case bool() | None:
            return str(node).lower()
        case int() | float():
            return str(node)
        case str():
            return int(node) if _is_number(node) else [node]
        case list():
            return {str(position): item for position, item in enumerate(node)}
        case dict():
            return [node]
    return _NONE


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 16


def _make_wrong(path: Path, node: Any, is_textual: bool) -> Any:
    # An empty line of text says nothing, so it cannot say anything wrong.
    return _NONE if is_textual and isinstance(node, str) and not node.strip() else wrong_value(node)


def _change_type(path: Path, node: Any, is_textual: bool) -> Any:
    return _NONE if is_textual else type_change(node)


_NUMBER = re.compile(r"(?<![\w.])\d{1,15}(?!\w|\.\d)", re.ASCII)


def _add_one(path: Path, node: Any, is_textual: bool) -> Any:
    if isinstance(node, bool):
        return _NONE
    if isinstance(node, int | float):
        return node + 1 if math.isfinite(node) and node + 1 != node else _NONE
    if isinstance(node, str) and is_textual and (found := list(_NUMBER.finditer(node))):
        last = found[-1]
        return f"{node[: last.start()]}{int(last[0]) + 1}{node[last.end() :]}"
    return _NONE


def _drop_key(path: Path, node: Any, is_textual: bool) -> Any:
    return GONE if path and isinstance(path[-1], str) else _NONE


def _drop_element(path: Path, node: Any, is_textual: bool) -> Any:
    return GONE if path and isinstance(path[-1], int) else _NONE


def _add_key(path: Path, node: Any, is_textual: bool) -> Any:
    if isinstance(node, dict) and EXTRA not in node:
        return {**node, EXTRA: "unexpected" if is_textual else 1}
    return _NONE


def _add_element(path: Path, node: Any, is_textual: bool) -> Any:
    if not isinstance(node, list):
        return _NONE
    return [*node, node[-1]] if node else ["unexpected"]


def _reorder(path: Path, node: Any, is_textual: bool) -> Any:
    if not isinstance(node, list):
        return _NONE
    turned = node[1:] + node[:1]
    return turned if turned != node else _NONE


def _truncate(path: Path, node: Any, is_textual: bool) -> Any:
    if isinstance(node, str | bytes) and len(node) > 1:
        return node[: len(node) // 2]
    return _NONE


_MAKERS: dict[MutationKind, Callable[[Path, Any, bool], Any]] = {
    MutationKind.WRONG_VALUE: _make_wrong,
    MutationKind.OFF_BY_ONE: _add_one,
    MutationKind.MISSING_KEY: _drop_key,
    MutationKind.EXTRA_KEY: _add_key,
    MutationKind.MISSING_ELEMENT: _drop_element,
    MutationKind.EXTRA_ELEMENT: _add_element,
    MutationKind.TYPE_CHANGE: _change_type,
    MutationKind.REORDERED: _reorder,
    MutationKind.TRUNCATED: _truncate,
}
