"""Changes fields of one question in the text of its suite, and proves that nothing else changed.

After every change the text is parsed again: unless exactly that field changed, to the intended
value, the change is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from assay.documents import (
    DocumentError,
    KeyPath,
    ListNode,
    MappingNode,
    Node,
    ScalarNode,
    change_value,
    get_node,
    parse_document,
    to_texts,
)
from assay.errors import InputError, nearest

# By dotted path within the question: a text, texts in a list or mapping, or None to remove it.
Changes: TypeAlias = Mapping[str, Any]
_MARK = "\ufeff"


def edit_suite(text: str, question_id: str, changes: Changes, *, suffix: str = ".yaml") -> str:
    """Return the text of a suite with these fields of one question changed, such as `options.B`.

    `text` is the file as it is, line ends included. An InputError says what cannot be done.
    """
    mark, text = (_MARK, text[1:]) if text.startswith(_MARK) else ("", text)
    number = _find(_read(text, suffix), question_id)
    for field, value in changes.items():
        text = _change(text, suffix, number, field, value, f"`{field}` of {question_id}")
    return mark + text


def definition_of(text: str, question_id: str, *, suffix: str = ".yaml") -> dict[str, Any]:
    """Return the fields of one question as strings, as its suite has them."""
    document = _read(text.removeprefix(_MARK), suffix)
    fields = get_node(document, ("benchmarks", _find(document, question_id)))
    assert fields is not None
    definition: dict[str, Any] = to_texts(fields)
    return definition


def changes_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return what to change so that one definition of a question becomes another.

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
    items = questions.items if isinstance(questions, ListNode) else ()
    names = [_name(item) for item in items]
    if names.count(question_id) != 1:
        what = "two questions have" if question_id in names else "there is no question with"
        advice = nearest(question_id, (name for name in names if name))
        raise InputError(f"{what} the id {question_id!r}", advice=advice)
    return names.index(question_id)


def _name(item: Node) -> str | None:
    name = item.get("id") if isinstance(item, MappingNode) else None
    return name.text.strip() if isinstance(name, ScalarNode) and name.text else None


def _change(text: str, suffix: str, number: int, field: str, value: Any, who: str) -> str:
    before = _read(text, suffix)
    path = _path(before, ("benchmarks", number), field)
    if path is None:
        raise InputError(f"{who} does not exist and cannot be added", advice="check its path")
    _check(value, who)
    changed = change_value(text, path, value, suffix)
    if changed is None:
        raise InputError(
            f"{who} cannot be changed without changing something else",
            advice="change it by hand: an anchor may share it, or it may be the only one there",
        )
    return changed


def _check(value: Any, who: str) -> None:
    parts = value.values() if isinstance(value, dict) else value
    is_text = value is None or isinstance(value, str)
    if not is_text and not (
        isinstance(value, dict | list) and all(isinstance(one, str) for one in parts)
    ):
        raise InputError(f"{who} must become text, or texts in a list or a mapping")


def _path(document: Node, base: KeyPath, field: str) -> KeyPath | None:
    """Return the path of a field, which may be one that is not there yet; keys may contain dots."""
    node, path, rest = get_node(document, base), base, field
    while rest:
        if isinstance(node, ListNode):
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
