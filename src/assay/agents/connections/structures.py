"""Finds the structure in an answer that is only text: a JSON object, bare or in a fence."""

from __future__ import annotations

import json
import re
from typing import Any

_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)


def structure_in(text: str) -> dict[str, Any] | None:
    """The object that the whole text is, or else the first one in a fence."""
    for candidate in (text, *_FENCED.findall(text)):
        if "{" not in candidate:
            continue
        try:
            found = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return None


def write_text(value: Any) -> str | None:
    """Return a value as the text of an answer; None if there is none."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
