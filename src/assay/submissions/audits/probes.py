"""Results that are wrong everywhere; a check that accepts all of them checks almost nothing.

They are not mutants, because a verifier need not look at everything they change. They test single
checks, including those that fail only on unexpected content.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from assay.model import CaseResult
from assay.submissions.audits.changes import EXTRA, replace_node, spread, walk, wrong_value
from assay.submissions.audits.mutants import alter, read_form

# What programs print when something went wrong, for checks that look for such words.
_TROUBLE = (
    "Traceback (most recent call last): Error: error ERROR: Exception: exception, failed, "
    "failure, fatal, warning, invalid, panic, null, None, NaN, undefined"
)
_MOST_STATED = 12
_MOST_PLACES = 8
_MOST_TEXTS = 50
_LONGEST_TEXT = 2_000
_LONGEST_VALUE = 100_000
_FAR = 100_000
# What a check may be about though nothing of it is expected: null, emptiness, truth, length, signs.
_EVERYWHERE: tuple[Any, ...] = (
    None,
    "",
    [],
    {},
    True,
    False,
    0,
    -1,
    "x" * 5_000,
    "\u202e\u00e9\x07",
)
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,15}(?!\w)", re.ASCII)


def probes(
    right: CaseResult, stated: Mapping[str, Any], vocabulary: Collection[str] = ()
) -> Iterator[tuple[str, CaseResult]]:
    """Yield names and results; `stated` are expected values, `vocabulary` words of the verifier."""
    status = right.status_code
    words = " ".join([_TROUBLE, *_texts(stated), *vocabulary])
    nothing = {"status_code": -1, "files": {}, "headers": {}, "elapsed": 0.0}
    late = {"timed_out": True, "elapsed": 1e9, "adapter_error": True}
    yield "nothing at all", _everywhere(right, _empty, **nothing)
    yield "all of it wrong", _everywhere(right, _garble, status_code=99, headers={}, **late)
    yield "about another case", _everywhere(right, lambda value: value, **_other_fields(right))
    yield "words about errors added", _everywhere(right, lambda value: _add_words(value, words))
    for distance, name in ((_FAR, "every number higher"), (-_FAR, "every number lower")):
        yield name, _everywhere(right, _mover(distance), status_code=status + distance)
    for value in _EVERYWHERE:
        yield f"{value!r:.20} everywhere", _everywhere(right, _filler(value))
    for value in _scalars(stated):
        number = value if type(value) is int and abs(value) < 2**31 else status
        yield f"{value!r} everywhere", _everywhere(right, _filler(value), status_code=number)


def fill_with(right: CaseResult, value: Any) -> CaseResult:
    """Return the result with this value in every place."""
    return _everywhere(right, _filler(value))


def place_in(right: CaseResult, value: Any) -> Iterator[CaseResult]:
    """Yield the result with this value in one place of its output, for some places."""
    form = read_form(right.output)
    if form.is_textual and not isinstance(value, str):
        value = str(value).lower()
    leaves = [(path, node) for path, node in walk(form.tree) if not isinstance(node, dict | list)]
    for path, _ in spread(leaves, _MOST_PLACES):
        yield alter(right, output=form.write(replace_node(form.tree, path, value)))


def _everywhere(right: CaseResult, change: Callable[[Any], Any], **fields: Any) -> CaseResult:
    files = right.files if isinstance(right.files, dict) else {}
    changed: dict[str, Any] = {
        "output": change(right.output),
        "stderr": change(right.stderr),
        "files": {name: change(content) for name, content in files.items()},
    }
    changed |= {name: value for name, value in fields.items() if hasattr(right, name)}
    return alter(right, **changed)


def _other_fields(right: CaseResult) -> dict[str, Any]:
    """Return the result with every other field changed to another value of its type."""
    fields = {**right.__dict__, **(right.__pydantic_extra__ or {})}
    own = {"id", "group", "group_type", "type", "output", "stderr", "files", "status_code"}
    changed = {name: _other(value) for name, value in fields.items() if name not in own}
    return {name: value for name, value in changed.items() if value is not None}


def _other(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _other(item) for key, item in value.items()}
    return "other" if value is None else wrong_value(value) if _is_scalar(value) else None


def _is_scalar(value: Any) -> bool:
    return isinstance(value, bool | int | float | str | bytes)


def _empty(value: Any) -> Any:
    return type(value)() if isinstance(value, str | bytes | dict | list) else None


def _garble(value: Any) -> Any:
    match value:
        case str():
            return "<<< no such thing \u00e9 >>>\n"
        case bytes():
            return b"\x00\xff no such thing"
        case list():
            return {EXTRA: "no such thing"}
    return ["no such thing"]


def _add_words(value: Any, words: str) -> Any:
    """Return the value with the words added wherever possible."""
    if value is None:
        return words
    if isinstance(value, bytes):
        return value + f"\n{words}\n".encode()
    form = read_form(value)
    if form.is_textual or len(str(value)) > _LONGEST_VALUE:
        return f"{value}\n{words}\n" if isinstance(value, str) else value
    tree = _map_leaves(form.tree, lambda node: f"{node} {words}" if isinstance(node, str) else node)
    if isinstance(tree, dict):
        tree = {**tree, EXTRA: words}
    return form.write([*tree, words] if isinstance(tree, list) else tree)


def _mover(distance: int) -> Callable[[Any], Any]:
    """Adds so much to every number."""

    def move(node: Any) -> Any:
        if isinstance(node, int | float) and not isinstance(node, bool):
            return node + distance
        if isinstance(node, str):
            return _NUMBER.sub(lambda found: str(int(found[0]) + distance), node)
        return node

    def change(value: Any) -> Any:
        form = read_form(value)
        return form.write(_map_leaves(form.tree, move))

    return change


def _filler(new: Any) -> Callable[[Any], Any]:
    """Puts this into every place."""
    text = new if isinstance(new, str) else str(new).lower()

    def change(value: Any) -> Any:
        form = read_form(value)
        if isinstance(value, bytes) and (form.is_textual or form.tree is value):
            return text.encode("utf-8", "surrogatepass")
        return text if form.is_textual else form.write(_map_leaves(form.tree, lambda _: new))

    return change


def _map_leaves(tree: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(tree, dict):
        return {key: _map_leaves(item, change) for key, item in tree.items()}
    if isinstance(tree, list):
        return [_map_leaves(item, change) for item in tree]
    return change(tree)


def _texts(stated: Mapping[str, Any]) -> list[str]:
    """Return the expected strings: a check may require their absence."""
    found = [node for _, node in walk(dict(stated)) if isinstance(node, str)]
    return [text for text in found[:_MOST_TEXTS] if len(text) <= _LONGEST_TEXT]


def _scalars(stated: Mapping[str, Any]) -> list[Any]:
    found = [node for _, node in walk(dict(stated)) if isinstance(node, str | int | float)]
    # By how they are written, because True and 1 are equal.
    distinct = {repr(node): node for node in found if len(str(node)) <= _LONGEST_TEXT}
    return list(distinct.values())[:_MOST_STATED]
