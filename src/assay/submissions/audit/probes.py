"""Results that are wrong all over: a check that none of them makes fail is hardly a check.

They are no mutants, because a verifier need not look at everything they change. They try single
checks, also those that fail only when something is there that should not be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from assay.results import CaseResult
from assay.submissions.audit.changes import EXTRA, walk
from assay.submissions.audit.forms import read_form
from assay.submissions.audit.mutants import altered

# What programs print when something went wrong, for checks that look for such words.
_TROUBLE = (
    "Traceback (most recent call last):\n"
    "Error: error ERROR: Exception: exception, failed, failure, fatal, warning, invalid, panic, "
    "null, None, NaN, undefined"
)
_MOST_TEXTS = 50
_LONGEST_TEXT = 2_000
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,15}(?!\w)", re.ASCII)


def probes(right: CaseResult, expected: CaseResult) -> list[tuple[str, CaseResult]]:
    """Each with its name."""
    words = "\n".join([_TROUBLE, *_texts(expected.given())])
    late = {"timed_out": True, "elapsed": 1e9, "adapter_error": True}
    return [
        ("nothing at all", _everywhere(right, _emptied, status_code=-1, files={}, headers={})),
        ("all of it wrong", _everywhere(right, _garbled, status_code=99, headers={}, **late)),
        ("words of trouble added", _everywhere(right, lambda value: _told(value, words))),
        ("every number higher", _everywhere(right, lambda value: _moved(value, 100_000))),
        ("every number lower", _everywhere(right, lambda value: _moved(value, -100_000))),
    ]


def _everywhere(right: CaseResult, change: Callable[[Any], Any], **fields: Any) -> CaseResult:
    files = right.files if isinstance(right.files, dict) else {}
    changed: dict[str, Any] = {
        "output": change(right.output),
        "stderr": change(right.stderr),
        "files": {name: change(content) for name, content in files.items()},
    }
    changed |= {name: value for name, value in fields.items() if hasattr(right, name)}
    return altered(right, **changed)


def _emptied(value: Any) -> Any:
    return type(value)() if isinstance(value, str | bytes | dict | list) else None


def _garbled(value: Any) -> Any:
    match value:
        case str():
            return "<<< no such thing >>>\n"
        case bytes():
            return b"\x00\xff no such thing"
        case list():
            return {EXTRA: "no such thing"}
    return ["no such thing"]


def _told(value: Any, words: str) -> Any:
    match value:
        case None:
            return words
        case str():
            return f"{value}\n{words}\n"
        case bytes():
            return value + f"\n{words}\n".encode()
        case dict():
            return {**value, EXTRA: words}
        case list():
            return [*value, words]
    return words


def _moved(value: Any, distance: int) -> Any:
    """The value with so much added to every number in it."""
    form = read_form(value)

    def move(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: move(item) for key, item in node.items()}
        if isinstance(node, list):
            return [move(item) for item in node]
        if isinstance(node, int | float) and not isinstance(node, bool):
            return node + distance
        if form.is_textual and isinstance(node, str):
            return _NUMBER.sub(lambda found: str(int(found[0]) + distance), node)
        return node

    return form.write(move(form.tree))


def _texts(expected: dict[str, Any]) -> Iterator[str]:
    """What is expected in words: a check may be that they are not there."""
    found = [node for _, node in walk(expected) if isinstance(node, str)]
    yield from (text for text in found[:_MOST_TEXTS] if len(text) <= _LONGEST_TEXT)
