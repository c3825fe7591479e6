"""HTML and SVG made of elements: text is escaped unless it is `Html` already."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TypeAlias

from assay.escaping import escape_hidden

# Elements without content. SVG has none of these: `<rect></rect>` is right there.
_VOID = frozenset({"br", "col", "hr", "img", "input", "meta"})

Attribute: TypeAlias = str | float | bool | None


class Html(str):
    """Text that is HTML already; templates and `element` do not escape it again."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


def escape(text: str) -> Html:
    """Return a text as HTML, for content and for attributes, with hidden characters visible."""
    return Html(html.escape(escape_hidden(text)))


def element(name: str, *content: str, **attributes: Attribute) -> Html:
    """Return an element. `class_` is class, `aria_label` aria-label; None and False are left out.

    A browser drops the first newline of a `pre`, so it gets one of its own.
    """
    opening = start(name, **attributes)
    if name in _VOID:
        return opening
    newline = "\n" if name == "pre" else ""
    return Html(f"{opening}{newline}{join(content)}</{name}>")


def start(name: str, **attributes: Attribute) -> Html:
    """Return the opening tag of an element whose content is written piece by piece."""
    several = attributes.items()
    # `is`, because 0 is a value.
    given = (_attribute(key, one) for key, one in several if one is not None and one is not False)
    return Html(f"<{name}{''.join(given)}>")


def join(pieces: Iterable[str]) -> Html:
    """Return pieces of text and HTML as one."""
    return Html("".join(one if isinstance(one, Html) else escape(one) for one in pieces))


def _attribute(key: str, value: Attribute) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return f' {name}="{escape(text)}"'
