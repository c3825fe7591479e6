"""Changes fields of one question in the text of its suite, and proves that nothing else changed.

Every change is made at its place in the text and the text is read again: unless exactly that field
says something new, and what was meant, the change is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from assay.documents import (
    DocumentError,
    Node,
    Scalar,
    Sequence,
    parse_document,
    plain,
)
from assay.documents import Mapping as MappingNode
from assay.documents.json_text import parse_json
from assay.errors import InputError, nearest
from assay.questions.correct.placing import Slot, inserted, removed, replaced
from assay.questions.correct.spots import ListSpot, MapSpot, Spot, locate

# By dotted path within the question: a text, texts in a list or mapping, or None to remove it.
Changes: TypeAlias = Mapping[str, Any]
_Path: TypeAlias = tuple[str | int, ...]
_MARK = "\ufeff"


def edit_suite(text: str, question_id: str, changes: Changes, *, suffix: str = ".yaml") -> str:
    """The text of a suite with these fields of one question changed, such as `options.B`.

    `text` is the file as it is, line ends included. An InputError says what cannot be done.
    """
    mark, text = (_MARK, text[1:]) if text.startswith(_MARK) else ("", text)
    number = _find(_read(text, suffix), question_id)
    for field, value in changes.items():
        text = _change(text, suffix, number, field, value, f"`{field}` of {question_id}")
    return mark + text


def definition_of(text: str, question_id: str, *, suffix: str = ".yaml") -> dict[str, Any]:
    """The fields of one question as they stand in its suite, as texts."""
    document = _read(text.removeprefix(_MARK), suffix)
    fields = _get(document, ("benchmarks", _find(document, question_id)))
    assert fields is not None
    definition: dict[str, Any] = plain(fields)
    return definition


def changes_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What to change so that one definition of a question becomes another.

    Fields that the new definition does not mention stay; options are those it gives. White space
    at the end of a text is no change.
    """
    changes: dict[str, Any] = {}
    for name, value in after.items():
        changes |= _between(name, before.get(name), value)
    return changes


def _between(path: str, old: Any, new: Any) -> dict[str, Any]:
    if isinstance(old, dict) and isinstance(new, dict):
        found: dict[str, Any] = {f"{path}.{key}": None for key in old if key not in new}
        for key, value in new.items():
            found |= _between(f"{path}.{key}", old.get(key), value)
        return found
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        found = {}
        for place, (one, other) in enumerate(zip(old, new, strict=True)):
            found |= _between(f"{path}.{place}", one, other)
        return found
    same = old == new or (
        isinstance(old, str) and isinstance(new, str) and old.rstrip() == new.rstrip()
    )
    return {} if same else {path: new}


def _read(text: str, suffix: str) -> Node:
    try:
        return parse_document(text, suffix)
    except DocumentError as error:
        raise InputError(error.what, where=f"line {error.line}", advice=error.advice) from None


def _find(document: Node, question_id: str) -> int:
    questions = document.get("benchmarks") if isinstance(document, MappingNode) else None
    items = questions.items if isinstance(questions, Sequence) else ()
    names = [_name(item) for item in items]
    if names.count(question_id) != 1:
        what = "two questions have" if question_id in names else "there is no question with"
        advice = nearest(question_id, (name for name in names if name))
        raise InputError(f"{what} the id {question_id!r}", advice=advice)
    return names.index(question_id)


def _name(item: Node) -> str | None:
    name = item.get("id") if isinstance(item, MappingNode) else None
    return name.text.strip() if isinstance(name, Scalar) and name.text else None


def _change(text: str, suffix: str, number: int, field: str, value: Any, who: str) -> str:
    before = _read(text, suffix)
    path = _path(before, ("benchmarks", number), field)
    if path is None:
        raise InputError(f"{who} does not exist and cannot be added", advice="check its path")
    _check(value, who)
    slot = _slot(text, _is_json(text, suffix), path)
    wanted = _as_before(value, _get(before, path), slot)
    current = _get(before, path)
    if (None if current is None else plain(current)) == wanted:
        return text
    if slot is not None:
        for offer in _offers(slot, wanted):
            if _says(before, offer, suffix, path, wanted):
                return offer
    raise InputError(
        f"{who} cannot be changed without changing something else",
        advice="change it by hand: it may be shared through an anchor, or be the only one there",
    )


def _check(value: Any, who: str) -> None:
    parts = value.values() if isinstance(value, dict) else value
    is_text = value is None or isinstance(value, str)
    if not is_text and not (
        isinstance(value, dict | list) and all(isinstance(one, str) for one in parts)
    ):
        raise InputError(f"{who} must become text, or texts in a list or a mapping")


def _as_before(value: Any, current: Node | None, slot: Slot | None) -> Any:
    """A text in a block ends as the one before it did, unless it says itself how it ends."""
    is_block = slot is not None and slot.style in ("|", ">")
    if not (value and isinstance(value, str) and isinstance(current, Scalar) and is_block):
        return value
    before = current.text or ""
    return value if value.endswith("\n") else value + before[len(before.rstrip("\n")) :]


def _offers(slot: Slot, wanted: Any) -> Iterator[str]:
    if wanted is None:
        yield from removed(slot)
    elif slot.spot is None:
        yield from inserted(slot, wanted)
    else:
        yield from replaced(slot, wanted)


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


# --- Where it is -------------------------------------------------------------------------------


def _path(document: Node, base: _Path, field: str) -> _Path | None:
    """The path of a field, which may be one that is not there yet; keys may contain dots."""
    node, path, rest = _get(document, base), base, field
    while rest:
        if isinstance(node, Sequence):
            step, _, rest = rest.partition(".")
            if not step.isdecimal() or int(step) >= len(node.items):
                return None
            node, path = node.items[int(step)], (*path, int(step))
            continue
        if not isinstance(node, MappingNode):
            return None
        known = [one.key for one in node.pairs if f"{rest}.".startswith(f"{one.key}.")]
        if not known:
            return None if "." in rest else (*path, rest)
        key = max(known, key=len)
        node, path, rest = node.get(key), (*path, key), rest[len(key) + 1 :]
    return path


def _get(document: Node, path: _Path) -> Node | None:
    node: Node | None = document
    for step in path:
        if isinstance(node, Sequence) and isinstance(step, int):
            node = node.items[step]
        elif isinstance(node, MappingNode):
            node = node.get(str(step))
        else:
            return None
    return node


def _slot(text: str, is_json: bool, path: _Path) -> Slot | None:
    """The place of a path in the text; None where its parents are shared through an alias."""
    spot: Spot = locate(text, is_json=is_json)
    for step in path[:-1]:
        if isinstance(spot, ListSpot) and isinstance(step, int):
            spot = spot.items[step]
        elif isinstance(spot, MapSpot) and (pair := spot.find(str(step))) is not None:
            spot = pair.value
        else:
            return None
    if not isinstance(spot, ListSpot | MapSpot):
        return None
    return Slot(text, is_json, spot, path[-1])


# --- What it says now --------------------------------------------------------------------------


def _says(before: Node, text: str, suffix: str, path: _Path, wanted: Any) -> bool:
    """Whether a text says what is wanted at a path and the same as before everywhere else."""
    try:
        after = parse_document(text, suffix)
    except DocumentError:
        return False
    found = _get(after, path)
    said = None if found is None else plain(found)
    if said != wanted or (found is not None and wanted is None):
        return False
    kept = [part for part in _parts(before) if part[0][: len(path)] != path]
    return kept == [part for part in _parts(after) if part[0][: len(path)] != path]


def _parts(node: Node, path: _Path = ()) -> Iterator[tuple[_Path, str | None, bool]]:
    """Every part of a document in its order, lines apart."""
    if isinstance(node, Scalar):
        yield path, node.text, node.is_bare
    elif isinstance(node, Sequence):
        yield path, "[]", False
        for number, item in enumerate(node.items):
            yield from _parts(item, (*path, number))
    else:
        yield path, "{}", False
        for pair in node.pairs:
            yield from _parts(pair.value, (*path, pair.key))
