"""Which values are expected, and each of them changed: does anybody look at it?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from assay.results import CaseResult
from assay.submissions.audit.changes import (
    EXTRA,
    GONE,
    Path,
    find,
    pattern,
    replaced,
    spread,
    type_change,
    walk,
    wrong_value,
)

_MOST = 16
_LONGEST = 10_000
# What a result says of its own sort and of what was asked, not of what came of it.
_NOT_STATED = {"type", "command", "method", "resource_path"}
_FREE = {"output", "stderr", "files"}


@dataclass(frozen=True)
class Statement:
    """One value that is expected, and the expected result with other values in its place."""

    attribute: str
    place: str
    others: tuple[CaseResult, ...]


def statements(expected: CaseResult, actual: CaseResult) -> list[Statement]:
    """The values that an expected result was given, spread over it, a few of each pattern."""
    stated = {name: value for name, value in expected.given().items() if _says(expected, name)}
    # A mapping has its keys in no particular order here, and an audit is to be repeatable.
    stated = dict(sorted(stated.items()))
    leaves = [(path, node) for path, node in walk(stated) if path and _is_leaf(node)]
    return [
        Statement(
            _attribute(path, expected),
            _place(path, expected),
            tuple(_others(expected, path, node, actual)),
        )
        for path, node in spread(leaves, _MOST)
    ]


def _says(expected: CaseResult, name: str) -> bool:
    """Whether a field tells more than that nobody filled it in."""
    value = getattr(expected, name)
    if name in _NOT_STATED or value in ("", None):
        return False
    field = type(expected).model_fields.get(name)
    if field is None or name == "status_code":
        return True
    return bool(value != field.get_default(call_default_factory=True))


def _is_leaf(node: Any) -> bool:
    return not isinstance(node, dict | list) or not node


def _attribute(path: Path, expected: CaseResult) -> str:
    is_file = path[0] == "files" and isinstance(expected.files, dict)
    return f"files-{path[1]}" if is_file else str(path[0])


def _place(path: Path, expected: CaseResult) -> str:
    attribute = _attribute(path, expected)
    rest = path[2:] if attribute.startswith("files-") else path[1:]
    return pattern((attribute, *rest))


def _others(
    expected: CaseResult, path: Path, node: Any, actual: CaseResult
) -> Iterator[CaseResult]:
    top = str(path[0])
    whole = getattr(expected, top)
    for value in _values(node, _seen(actual, path)):
        # A field with a type must keep it: else it is refused before anybody looks at it.
        if top in _FREE or type(value) is type(node) or top not in type(expected).model_fields:
            yield expected.model_copy(update={top: replaced(whole, path[1:], value)})
    if len(path) > 1:
        yield expected.model_copy(update={top: replaced(whole, path[1:], GONE)})


def _values(node: Any, seen: Any) -> list[Any]:
    """Other values; those far off last, for limits, and what the program gave, for prohibitions."""
    if isinstance(node, dict | list):
        return [{EXTRA: 1}, ["unexpected"], None]
    others = [wrong_value(node)] if node is not None else []
    others.append(type_change(node) if not isinstance(node, bytes) else b"")
    if isinstance(node, int | float) and not isinstance(node, bool):
        others += [node + 100_000, node - 100_000]
    if isinstance(node, str) and isinstance(seen, str):
        others += [seen[:_LONGEST], seen.strip()[:20]]
    return others


def _seen(actual: CaseResult, path: Path) -> Any:
    """What the program gave in that place, or its output."""
    there = find(getattr(actual, str(path[0]), None), path[1:])
    return there if isinstance(there, str) else actual.output
