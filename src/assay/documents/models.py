"""Validates a node as a pydantic model; every mistake has a position and advice."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from assay.documents.tree import (
    MISSING_KEY,
    UNKNOWN_KEY,
    WRONG_VALUE,
    InvalidValue,
    KeyPath,
    ListNode,
    MappingNode,
    Mistake,
    Node,
    Pair,
    Place,
    PlaceMap,
    ScalarNode,
    to_values,
)
from assay.errors import nearest

Model = TypeVar("Model", bound=BaseModel)
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_ADVISED = 100
_LISTS = (list, tuple)
_REQUIREMENTS = {
    "missing": "is missing",
    "union_tag_not_found": "is missing",
    "string_type": "must be text",
    "string_too_short": "is empty",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "list_type": "must be a list",
    "too_short": "is empty",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
}
_CHOICES = frozenset({"enum", "literal_error", "union_tag_invalid"})


def read_model(
    model: type[Model],
    node: Node,
    places: PlaceMap,
    *,
    allows_unknown: bool = False,
    preview: Callable[[Any], str] = repr,
) -> tuple[Model | None, list[Mistake]]:
    """Return a node as a model, or None, and all mistakes in it.

    A scalar is read as text where the model wants text, and as what it means elsewhere; in a strict
    model always as what it means. `preview` writes a value for a message. With `allows_unknown`
    unknown keys are mistakes only in the parts whose model forbids them.
    """
    mistakes = list(find_unknown_keys(model, node, places, allows_unknown=allows_unknown))
    try:
        is_strict = model.model_config.get("strict")
        return model.model_validate(to_values(node) if is_strict else _fit(node, model)), mistakes
    except ValidationError as error:
        found: dict[tuple[str, Place], Mistake] = {}
        for one in error.errors():
            # Unknown keys are among the mistakes already, with the nearest known one.
            if one["type"] != "extra_forbidden" or not mistakes:
                path, place = _locate((*one["loc"], *_find_tag(one)), places)
                found.setdefault((path, place), _explain(one, path, place, preview))
        return None, [*mistakes, *found.values()]


def find_unknown_keys(
    model: Any, node: Node, places: PlaceMap, *, allows_unknown: bool = False
) -> Iterator[Mistake]:
    """Yield a mistake for every key that the model of its mapping does not have."""
    found = list_unknown_keys(model, node, allows_unknown=allows_unknown)
    for number, (path, pair, known) in enumerate(found):
        # Searching for the nearest word is slow, and hundreds of suggestions are useless.
        advice = nearest(pair.key, known) if number < _ADVISED else ""
        message = f"there is no key `{pair.key}` here"
        file = places.nearest(".".join(map(str, path))).file
        yield Mistake(message, Place(file, pair.line), advice, UNKNOWN_KEY)


def list_unknown_keys(
    model: Any, node: Node, at: KeyPath = (), *, allows_unknown: bool = False
) -> Iterator[tuple[KeyPath, Pair, dict[str, Any]]]:
    """Yield every key that the model of its mapping does not have, and the keys it has."""
    chosen = _choose_one(model, node)
    if isinstance(node, ListNode):
        inner = get_args(chosen)[:1] if get_origin(chosen) in _LISTS else ()
        for number, item in enumerate(node.items if inner else ()):
            yield from list_unknown_keys(
                inner[0], item, (*at, number), allows_unknown=allows_unknown
            )
    elif isinstance(node, MappingNode):
        fields = _fields(chosen)
        for pair in node.pairs:
            path = (*at, pair.key)
            if fields is None:
                inner = get_args(chosen)[1:] if get_origin(chosen) is dict else ()
                if inner:
                    yield from list_unknown_keys(
                        inner[0], pair.value, path, allows_unknown=allows_unknown
                    )
            elif pair.key in fields:
                yield from list_unknown_keys(
                    fields[pair.key], pair.value, path, allows_unknown=allows_unknown
                )
            elif not allows_unknown or chosen.model_config.get("extra") == "forbid":
                yield path, pair, fields


def print_schema(name: str, schema: dict[str, Any]) -> str:
    """Return the text of a JSON Schema, for editors; its `$id` is the name of what it describes."""
    about = {"$schema": _DRAFT, "$id": f"urn:assaykit:{name}"}
    return json.dumps({**about, **schema}, indent=2, ensure_ascii=False) + "\n"


def _explain(
    error: ErrorDetails, path: str, place: Place, preview: Callable[[Any], str]
) -> Mistake:
    context = error.get("ctx") or {}
    invalid = context.get("error")
    if isinstance(invalid, InvalidValue):
        what = invalid.what.replace("{}", preview(invalid.value))
        return Mistake(f"`{path}` {what}", place, invalid.advice)
    valid = context.get("expected") or context.get("expected_tags")
    if error["type"] in _CHOICES and isinstance(valid, str):
        words = [word.strip().strip("'") for word in valid.replace(" or ", ",").split(",")]
        given = context.get("tag", error["input"])
        return Mistake(f"`{path}` cannot be {preview(given)}", place, nearest(str(given), words))
    if "advice" in context:
        return Mistake(f"`{path}`: {context['what']}", place, context["advice"])
    if requirement := _REQUIREMENTS.get(error["type"]):
        code = MISSING_KEY if requirement == _REQUIREMENTS["missing"] else WRONG_VALUE
        return Mistake(f"`{path}` {requirement}", place, code=code)
    message = error["msg"].removeprefix("Value error, ")
    return Mistake(f"`{path}`: {message[:1].lower()}{message[1:]}", place)


def _find_tag(error: ErrorDetails) -> tuple[str, ...]:
    """Return the key by which the member of a union is chosen, if the error is about it."""
    tag = (error.get("ctx") or {}).get("discriminator")
    return () if tag is None else (str(tag).strip("'"),)


def _locate(location: tuple[int | str, ...], places: PlaceMap) -> tuple[str, Place]:
    """Return pydantic's error path, without its internal steps, and its place."""
    path = ""
    for step in location:
        below = f"{path}.{step}" if path else str(step)
        path = below if below in places else path
    # One in place of a list has no number in it.
    is_named = location and isinstance(location[-1], str)
    last = str(location[-1]) if is_named else ""
    is_inside = path == last or path.endswith(f".{last}")
    # A missing part has no position; its parent has.
    named = path if is_inside or not last else f"{path}.{last}".lstrip(".")
    return named, places[path]


def _fit(node: Node, wanted: Any) -> Any:
    """Return the tree as values of the wanted type; strings as written."""
    chosen = _choose_one(wanted, node)
    if isinstance(node, ScalarNode):
        return node.text if _is_text(chosen) else to_values(node)
    if isinstance(node, ListNode):
        item = get_args(chosen)[0] if get_origin(chosen) in _LISTS else Any
        return [_fit(each, item) for each in node.items]
    fields, value = _fields(chosen) or {}, Any
    if get_origin(chosen) is dict:
        value = get_args(chosen)[1]
    return {pair.key: _fit(pair.value, fields.get(pair.key, value)) for pair in node.pairs}


def _choose_one(wanted: Any, node: Node) -> Any:
    """Return what fits a node; one in place of a list may be taken for a list of one."""
    chosen = _choose(wanted, node)
    while get_origin(chosen) is list and not isinstance(node, ListNode):
        chosen = _choose(get_args(chosen)[0], node)
    return chosen


def _choose(wanted: Any, node: Node) -> Any:
    """Return the member of a union that fits a node of this kind."""
    if get_origin(wanted) is Annotated:
        inner, *more = get_args(wanted)
        tag = next((one.discriminator for one in more if getattr(one, "discriminator", None)), None)
        if isinstance(tag, str) and isinstance(node, MappingNode):
            # Without a valid tag nothing is known about the other keys.
            return _find_tagged(get_args(inner), tag, node) or Any
        return _choose(inner, node)
    if isinstance(node, MappingNode) and hasattr(wanted, "choose_model"):
        # A model that stands for several, of which the node's `type` names one.
        given = node.get("type")
        return wanted.choose_model(given.text if isinstance(given, ScalarNode) else None)
    if get_origin(wanted) not in (typing.Union, types.UnionType):
        return wanted
    members = [_choose(one, node) for one in get_args(wanted) if one is not types.NoneType]
    if isinstance(node, ListNode):
        return next((one for one in members if get_origin(one) is list), Any)
    if isinstance(node, MappingNode):
        return _choose_model(members, node)
    kind = type(to_values(node))
    fitting = (one for one in members if one is kind or (one is float and kind is int))
    return next(fitting, str if any(map(_is_text, members)) else members[0])


def _choose_model(members: list[Any], node: MappingNode) -> Any:
    """Return the model whose `type` is the node's, else the first mapping."""
    if (tagged := _find_tagged(members, "type", node)) is not None:
        return tagged
    return next((one for one in members if _fields(one) or get_origin(one) is dict), Any)


def _find_tagged(members: Iterable[Any], tag: str, node: MappingNode) -> Any:
    """Return the model that has the node's value among the valid ones of a field."""
    given = node.get(tag)
    for one in members:
        field = one.model_fields.get(tag) if _fields(one) else None
        valid = get_args(field.annotation) if field is not None else ()
        if isinstance(given, ScalarNode) and given.text in valid:
            return one
    return None


def _fields(model: Any) -> dict[str, Any] | None:
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return None
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def _is_text(wanted: Any) -> bool:
    if get_origin(wanted) is typing.Literal:
        return True
    return isinstance(wanted, type) and issubclass(wanted, str | Path)
