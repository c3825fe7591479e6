"""Values of earlier answers in later cases: `{{saved:name}}`, wherever it stands."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_MARK = re.compile(r"\{\{saved:([^{}]+)\}\}")


def saved_names(value: Any) -> Iterator[str]:
    """The names of saved values that a text or structure uses, in its keys too."""
    if isinstance(value, str):
        yield from (found.strip() for found in _MARK.findall(value))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from saved_names(key)
            yield from saved_names(item)
    elif isinstance(value, list):
        for item in value:
            yield from saved_names(item)


def is_mark(value: Any) -> bool:
    """Whether it is nothing but the mark of a saved value."""
    return isinstance(value, str) and _MARK.fullmatch(value) is not None


def as_text(value: Any) -> str:
    """A saved value as it stands in a path, an argument or a header."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def fill(value: Any, saved: Mapping[str, Any]) -> Any:
    """The structure with saved values in place of their marks.

    A text that is nothing but a mark becomes the value itself, a number say; within a longer text
    the value is written out. What was not saved stays as it is.
    """
    if isinstance(value, str):
        whole = _MARK.fullmatch(value)
        if whole and whole[1].strip() in saved:
            return saved[whole[1].strip()]
        return fill_text(value, saved)
    if isinstance(value, Mapping):
        return {fill_text(key, saved): fill(item, saved) for key, item in value.items()}
    if isinstance(value, list):
        return [fill(item, saved) for item in value]
    return value


def fill_text(text: str, saved: Mapping[str, Any], write: Callable[[Any], str] = as_text) -> str:
    """The text with saved values written out."""

    def written(found: re.Match[str]) -> str:
        name = found[1].strip()
        return write(saved[name]) if name in saved else found[0]

    return _MARK.sub(written, text)


def clash(value: Any, saved: Mapping[str, Any]) -> str:
    """What is wrong if keys that are written apart become one when filled; empty if none do."""
    if isinstance(value, Mapping):
        keys = Counter(fill_text(key, saved) for key in value)
        twice = [key for key, number in keys.items() if number > 1]
        if twice:
            return f"earlier answers make two expected keys the same, {twice[0]!r}"
        value = list(value.values())
    inner = value if isinstance(value, list) else []
    return next((found for one in inner if (found := clash(one, saved))), "")
