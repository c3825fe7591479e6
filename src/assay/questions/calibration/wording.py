"""Other words for options: the same said differently, something weaker, a name that drifted."""

from __future__ import annotations

import builtins
import keyword
import re

_WHOLE_CODE = re.compile(r"`([^`]+)`[.]?")
_CODE = re.compile(r"`([^`]+)`")
_IMPORT = re.compile(r"from [\w.]+ import (\w+)")
_QUOTED = re.compile(r"'([^'\"\\]*)'")
_WORD = re.compile(r"[A-Za-z_]\w*")
_TEXT = re.compile(r"'[^']*'|\"[^\"]*\"")


def reworded(text: str) -> str:
    """The same in other words, whatever it says."""
    whole = _WHOLE_CODE.fullmatch(text.strip())
    code = whole[1] if whole else text.strip()
    mark = "`" if whole else ""
    if imported := _IMPORT.fullmatch(code):
        return f"{mark}{code} as {imported[1]}{mark}"
    if quoted := _QUOTED.fullmatch(code):
        return f'{mark}"{quoted[1]}"{mark}'
    if _WORD.fullmatch(code):
        return f"The one called {mark}{code}{mark}"
    if whole:
        return f"This one: {text.strip()}"
    return f"It is true that {_lowered(text.strip())}"


def either(text: str, other: str) -> str:
    """That one or the other is right, which is true as soon as one of them is."""
    first, second = (one.strip().rstrip(".") for one in (text, other))
    return f"Either this: {first}; or this: {second}"


def drifted(text: str) -> str | None:
    """The text with a name in it that nothing has; None where it names nothing."""
    names = [
        found
        for place in (_CODE.finditer(text) if "`" in text else _bare(text))
        for found in _names(
            text, place.start(place.lastindex or 0), place.end(place.lastindex or 0)
        )
    ]
    if not names:
        return None
    # The last name of a path is the one that a release renames.
    start, end = names[-1]
    return text[:start] + _renamed(text[start:end]) + text[end:]


def _bare(text: str) -> list[re.Match[str]]:
    """An option that is nothing but a name, a path or a call, without marks around it."""
    found = re.fullmatch(r"\s*([\w.]+(?:\(.*\))?)\s*", text)
    return [found] if found and re.search(r"[_.(]|[a-z][A-Z]", text) else []


def _names(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The names in a piece of code that are not Python's own; of a call, those before it."""
    code = text[start:end].partition("(")[0]
    blank = _TEXT.sub(lambda found: " " * len(found[0]), code)
    known = {*dir(builtins), *keyword.kwlist, "self"}
    return [
        (start + found.start(), start + found.end())
        for found in _WORD.finditer(blank)
        if found[0] not in known
    ]


def _renamed(name: str) -> str:
    if name[:1].isupper():
        return f"Legacy{name}"
    return f"legacy_{name.lstrip('_')}"


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text
