"""The expected values, and variants with each one changed, to find those that no check reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from assay.model import CaseResult
from assay.submissions.audits.changes import (
    EXTRA,
    GONE,
    Path,
    find,
    format_place,
    pattern,
    replace_node,
    spread,
    type_change,
    wrong_value,
)

_MOST = 16
_LONGEST = 10_000
# What a result says of its own sort and of what was asked, not of what came of it.
_NOT_STATED = {"type", "command", "method", "resource_path"}
_FREE = {"output", "stderr", "files"}


# What says that a mapping is a JSON Schema, beside a `type`.
_SCHEMA_KEYS = {"$schema", "properties", "items", "required", "anyOf", "oneOf", "allOf", "enum"}
# What a word means that names a type.
_OF_TYPE: dict[str, Any] = {
    "null": None,
    "none": None,
    "string": "text",
    "str": "text",
    "number": 1.5,
    "float": 1.5,
    "integer": 7,
    "int": 7,
    "boolean": True,
    "bool": True,
    "array": [],
    "list": [],
    "object": {},
    "dict": {},
}


@dataclass(frozen=True)
class Statement:
    """An expected value, and the expected result with other values in its place."""

    attribute: str
    place: str
    """With every position in a list alike: rows[].price."""
    exact: str
    """With the positions: rows[0].price."""
    value: Any
    others: tuple[CaseResult, ...]

    def list_meanings(self) -> list[Any]:
        """Return the result values it may allow: the value, one of the type it names, null.

        Null is always included, because a boolean or another word of the author's may allow it.
        """
        if isinstance(self.value, dict | list):
            return []
        named = isinstance(self.value, str) and self.value.lower() in _OF_TYPE
        several = [self.value, *([_OF_TYPE[self.value.lower()]] if named else [])]
        return several if None in several else [*several, None]


def list_statements(
    expected: CaseResult, actual: CaseResult, vocabulary: Collection[str] = ()
) -> list[Statement]:
    """Return the given values of an expected result, a few of each pattern.

    A word may select how something is compared, so that only another word known to the verifier
    makes a difference: words of the `vocabulary` are among the other values.
    """
    stated = {name: value for name, value in expected.given().items() if _says(expected, name)}
    # A mapping has its keys in no particular order here, and an audit is to be repeatable.
    stated = dict(sorted(stated.items()))
    leaves = [(path, node) for path, node in _whole_values(stated) if path and _is_leaf(node)]
    return [
        Statement(
            _attribute(path, expected),
            pattern(_steps(path, expected)),
            format_place(_steps(path, expected)),
            node,
            tuple(_others(expected, path, node, actual, vocabulary)),
        )
        for path, node in spread(leaves, _MOST)
    ]


def _says(expected: CaseResult, name: str) -> bool:
    """Return whether a field has more than its empty default."""
    value = getattr(expected, name)
    if name in _NOT_STATED or value in ("", None):
        return False
    field = type(expected).model_fields.get(name)
    if field is None or name == "status_code":
        return True
    return bool(value != field.get_default(call_default_factory=True))


def _whole_values(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Walk a tree, but not into a schema: it allows more than any trial needs."""
    yield path, tree
    if _is_schema(tree):
        return
    inner: Any = ()
    if isinstance(tree, dict):
        inner = tree.items()
    elif isinstance(tree, list):
        inner = enumerate(tree)
    for key, item in inner:
        yield from _whole_values(item, (*path, key))


def _is_schema(node: Any) -> bool:
    """Return whether this looks like a JSON Schema."""
    if not isinstance(node, dict):
        return False
    types = node.get("type")
    named = types if isinstance(types, list) else [types]
    is_typed = all(isinstance(one, str) and one in _OF_TYPE for one in named)
    return "$schema" in node or (is_typed and bool(_SCHEMA_KEYS & node.keys()))


def _is_leaf(node: Any) -> bool:
    return not isinstance(node, dict | list) or not node or _is_schema(node)


def _attribute(path: Path, expected: CaseResult) -> str:
    is_file = path[0] == "files" and isinstance(expected.files, dict)
    return f"files-{path[1]}" if is_file else str(path[0])


def _steps(path: Path, expected: CaseResult) -> Path:
    attribute = _attribute(path, expected)
    return (attribute, *(path[2:] if attribute.startswith("files-") else path[1:]))


def _others(
    expected: CaseResult, path: Path, node: Any, actual: CaseResult, vocabulary: Collection[str]
) -> Iterator[CaseResult]:
    top = str(path[0])
    whole = getattr(expected, top)
    words = [word for word in vocabulary if isinstance(node, str) and word != node]
    for value in (*_values(node, _find_actual(actual, path)), *words):
        # A field with a type must keep it: else it is refused before anybody looks at it.
        if top in _FREE or type(value) is type(node) or top not in type(expected).model_fields:
            yield expected.model_copy(update={top: replace_node(whole, path[1:], value)})
    if len(path) > 1:
        yield expected.model_copy(update={top: replace_node(whole, path[1:], GONE)})


def _values(node: Any, seen: Any) -> list[Any]:
    """Other values; those far off last, for limits, and what the program gave, for prohibitions."""
    if isinstance(node, dict | list):
        # The last is a schema that nothing is valid under.
        return [{EXTRA: 1}, ["unexpected"], None, {"not": {}}]
    others = [wrong_value(node)] if node is not None else []
    others.append(type_change(node) if not isinstance(node, bytes) else b"")
    if isinstance(node, int | float) and not isinstance(node, bool):
        others += [node + 100_000, node - 100_000]
    if isinstance(node, str) and isinstance(seen, str):
        others += [seen[:_LONGEST], seen.strip()[:20]]
    return others


def _find_actual(actual: CaseResult, path: Path) -> Any:
    """Return the program's value at that place, or its output."""
    there = find(getattr(actual, str(path[0]), None), path[1:])
    return there if isinstance(there, str) else actual.output
