"""From a document with lines to a model, with a finding for whatever it says wrongly."""

from __future__ import annotations

import contextlib
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from assay import documents
from assay.documents import DocumentError, Node, Pair, Place, Scalar, Sequence
from assay.errors import InputError, nearest
from assay.findings import UNREADABLE, Finding, Severity
from assay.submissions.config import AdapterConfig, find_adapter_config
from assay.submissions.misspelling import advise, near_miss
from assay.submissions.problems.rules import (
    UNKNOWN_KEY,
    WRONG_VALUE,
)

Model = TypeVar("Model", bound=BaseModel)
# What problems of the reference carry and nobody reads, here or there.
_OF_OTHERS = frozenset(
    {"design_doc", "inspiration", "loader", "setup_script", "spec_override", "teardown_script"}
)
# Keys that change nothing: `authors` for `author` is worth a word, and no reason not to run.
_DESCRIPTIVE = frozenset(
    {"author", "category", "description", "difficulty", "name", "state", "tags", "version"}
)
_WANTED = {
    "missing": "is missing",
    "string_type": "must be text",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "list_type": "must be a list",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
}


def read_file(file: Path, findings: list[Finding]) -> documents.Mapping | None:
    """The mapping a YAML or JSON file is; None, and a finding, if it is none."""
    node = read_mapping(file, findings)
    if node is not None:
        findings += repeated_keys(node, file, "error")
    return node


def read_mapping(file: Path, findings: list[Finding]) -> documents.Mapping | None:
    """Return the mapping in a file as it is written, keys that stand twice included."""
    try:
        node = documents.read_document(file)
    except DocumentError as error:
        findings.append(Finding(UNREADABLE, error.what, Place(file, error.line), error.advice))
        return None
    if not isinstance(node, documents.Mapping):
        findings.append(Finding(UNREADABLE, "must be a mapping", Place(file, node.line)))
        return None
    return node


def repeated_keys(node: Node, file: Path, severity: Severity) -> Iterator[Finding]:
    """Yield a finding for every key that stands more than once in its mapping."""
    advice = "only one of them would be read" if severity == "error" else "the last one is used"
    for one in documents.repetitions(node):
        what = f"the key `{one.key}` stands twice in one mapping, first in line {one.first}"
        yield Finding(UNREADABLE, what, Place(file, one.line), advice, severity=severity)


def last_of_each(node: Node) -> Node:
    """Return the tree with the last value of every key, in the place of the first as in a dict."""
    if isinstance(node, Sequence):
        return replace(node, items=tuple(map(last_of_each, node.items)))
    if isinstance(node, documents.Mapping):
        pairs = {pair.key: replace(pair, value=last_of_each(pair.value)) for pair in node.pairs}
        return replace(node, pairs=tuple(pairs.values()))
    return node


def validated(
    model: type[Model], node: Node, file: Path, findings: list[Finding], *, is_strict: bool
) -> Model | None:
    """The node as a model; None, and findings, if it is none. Unknown keys count if `is_strict`."""
    spots = documents.places(node, file)
    if is_strict:
        findings += unknown_keys(model, node, file)
    try:
        return model.model_validate(read_as(node, model))
    except ValidationError as error:
        told = set()
        for one in error.errors():
            if one["type"] == "extra_forbidden" and is_strict:
                # Told already, with the nearest key.
                continue
            path, place = _place(one["loc"], spots)
            if (path, place) not in told:
                told.add((path, place))
                findings.append(_wrong(path, place, one))
        return None


def _wrong(path: str, place: Place, error: ErrorDetails) -> Finding:
    message = error["msg"].removeprefix("Value error, ")
    wanted = _WANTED.get(error["type"])
    said = f"`{path}` {wanted}" if wanted else f"`{path}`: {message[:1].lower()}{message[1:]}"
    context = error.get("ctx") or {}
    if error["type"] == "unknown_type":
        return Finding(WRONG_VALUE, f"`{path}`: {context['what']}", place, context["advice"])
    valid = context.get("expected") or context.get("expected_tags")
    advice = ""
    if error["type"] in ("enum", "literal_error", "union_tag_invalid") and isinstance(valid, str):
        words = [word.strip().strip("'") for word in valid.replace(" or ", ",").split(",")]
        given = context.get("tag", error["input"])
        said, advice = f"`{path}` cannot be {given!r}", nearest(str(given), words)
    return Finding(WRONG_VALUE, said, place, advice)


def _place(location: tuple[int | str, ...], spots: Mapping[str, Place]) -> tuple[str, Place]:
    """The path pydantic means, without the steps that only it knows, and where that stands."""
    path, place = "", spots[""]
    for step in location:
        below = f"{path}.{step}" if path else str(step)
        if below in spots:
            path, place = below, spots[below]
    last = str(location[-1]) if location else ""
    is_inside = path == last or path.endswith(f".{last}")
    # What is missing has no place of its own; what should hold it has.
    return (path if is_inside or not last else f"{path}.{last}".lstrip(".")), place


def unknown_keys(model: Any, node: Node, file: Path) -> Iterator[Finding]:
    """A finding for every key that the model of its mapping does not have."""
    for pair, fields in _unknown_pairs(model, node):
        what = f"there is no key `{pair.key}` here"
        yield Finding(UNKNOWN_KEY, what, Place(file, pair.line), nearest(pair.key, fields))


def doubtful_keys(
    model: Any, node: Node, file: Path, is_read: Callable[[str], bool]
) -> Iterator[Finding]:
    """Yield a finding for every key that neither the model nor the problem's own code knows.

    An error if it is almost a key that changes how cases are run, else a warning: problems have
    keys of their own, and keys of programs that Assay does not know.
    """
    for pair, fields in _unknown_pairs(model, node):
        if pair.key in _OF_OTHERS or is_read(pair.key):
            continue
        near = near_miss(pair.key, fields)
        severity: Severity = "error" if near and near not in _DESCRIPTIVE else "warning"
        what = f"there is no key `{pair.key}` here, and no code of the problem reads it"
        advice = advise(pair.key, near) if near else f"known: {', '.join(sorted(fields))}"
        yield Finding(UNKNOWN_KEY, what, Place(file, pair.line), advice, severity=severity)


def _unknown_pairs(model: Any, node: Node) -> Iterator[tuple[Pair, dict[str, Any]]]:
    """Yield every key that the model of its mapping does not have, and the keys it has."""
    chosen = _chosen(model, node)
    if isinstance(node, Sequence):
        inner = get_args(chosen)[:1] if get_origin(chosen) is list else ()
        for item in node.items if inner else ():
            yield from _unknown_pairs(inner[0], item)
    elif isinstance(node, documents.Mapping):
        fields = _fields(chosen)
        for pair in node.pairs:
            if fields is None:
                inner = get_args(chosen)[1:] if get_origin(chosen) is dict else ()
                yield from _unknown_pairs(inner[0], pair.value) if inner else ()
            elif pair.key in fields:
                yield from _unknown_pairs(fields[pair.key], pair.value)
            else:
                yield pair, fields


def _fields(model: Any) -> dict[str, Any] | None:
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return None
    return {
        name: field.annotation
        for field_name, field in model.model_fields.items()
        for name in {field.alias or field_name}
    }


def read_as(node: Node, wanted: Any) -> Any:
    """The tree as values of the type that is wanted: where that is text, it is as written."""
    chosen = _chosen(wanted, node)
    if isinstance(node, Scalar):
        return node.text if _is_text(chosen) else documents.typed(node)
    if isinstance(node, Sequence):
        item = get_args(chosen)[0] if get_origin(chosen) is list else Any
        return [read_as(each, item) for each in node.items]
    fields, value = _fields(chosen) or {}, Any
    if get_origin(chosen) is dict:
        value = get_args(chosen)[1]
    return {pair.key: read_as(pair.value, fields.get(pair.key, value)) for pair in node.pairs}


def _chosen(wanted: Any, node: Node) -> Any:
    """The member of a union that a node of this kind is meant for."""
    if get_origin(wanted) is Annotated:
        return _chosen(get_args(wanted)[0], node)
    if wanted is AdapterConfig and isinstance(node, documents.Mapping):
        return _chosen_adapter(node)
    if get_origin(wanted) not in (typing.Union, types.UnionType):
        return wanted
    members = [_chosen(one, node) for one in get_args(wanted) if one is not types.NoneType]
    if isinstance(node, Sequence):
        return next((one for one in members if get_origin(one) is list), Any)
    if isinstance(node, documents.Mapping):
        return next((one for one in members if _fields(one) or get_origin(one) is dict), Any)
    kind = type(documents.typed(node))
    fitting = (one for one in members if one is kind or (one is float and kind is int))
    return next(fitting, str if any(map(_is_text, members)) else Any)


def _chosen_adapter(node: documents.Mapping) -> Any:
    """Return the model of the adapter's type; that there is none is said by its validator."""
    said = node.get("type")
    with contextlib.suppress(InputError):
        return find_adapter_config(str(said.text) if isinstance(said, Scalar) else "cli")
    return Any


def _is_text(wanted: Any) -> bool:
    if get_origin(wanted) is typing.Literal:
        return True
    return isinstance(wanted, type) and issubclass(wanted, str | Path)
