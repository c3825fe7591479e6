"""Code and prose as HTML: coloured by what the tokens are, escaped, never interpreted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

from assay.escaping import escape_hidden
from assay.reports.markup import Html, element, escape, join

if TYPE_CHECKING:
    from pygments.lexer import Lexer

# Longer code is not coloured: a lexer takes longer for it than a reader is glad of.
_MOST = 50_000
_FENCE = re.compile(r"^```([\w+-]*)[^\n]*\n(.*?)(?:^```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"(?<!`)`([^`\n]{1,300})`(?!`)")


def render_code(text: str, language: str) -> Html:
    """Return code with a span for each token that has a colour; plain if the language has none."""
    lexer = _find_lexer(language) if language and len(text) <= _MOST else None
    if lexer is None:
        return escape(text)
    # Before the tokens are found, so that no escape ends up in two of them.
    return join(_spans(lexer.get_tokens(escape_hidden(text))))


def _spans(tokens: Any) -> Iterator[Html]:
    for name, several in groupby(tokens, lambda token: _name_class(token[0])):
        text = "".join(part for _, part in several)
        yield element("span", text, class_=name) if name else escape(text)


def _name_class(kind: Any) -> str:
    """Return the class of a token: one of few, so that the style sheet stays small."""
    from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String

    for token, name in (
        (Comment, "tok-comment"),
        (String, "tok-string"),
        (Number, "tok-number"),
        (Operator.Word, "tok-keyword"),
        (Keyword, "tok-keyword"),
        (Name.Function, "tok-name"),
        (Name.Class, "tok-name"),
        (Name.Decorator, "tok-name"),
        (Name.Tag, "tok-name"),
        (Generic.Deleted, "tok-removed"),
        (Generic.Inserted, "tok-added"),
        (Generic.Prompt, "tok-comment"),
    ):
        if kind in token:
            return name
    return ""


@lru_cache(maxsize=32)
def _find_lexer(language: str) -> Lexer | None:
    """Return what splits a language into tokens; it is imported when code is shown."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        # As it is: by default a lexer drops newlines at both ends.
        lexer: Lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
    return lexer


def render_prose(text: str) -> Html:
    """Return a text in which code between backticks, or in a fenced block, is shown as code."""
    pieces: list[Html] = []
    last = 0
    for fence in _FENCE.finditer(text):
        pieces += _paragraph(text[last : fence.start()])
        code = render_code(fence[2].rstrip("\n"), fence[1].lower())
        pieces.append(element("pre", code, tabindex=0))
        last = fence.end()
    return join([*pieces, *_paragraph(text[last:])])


def render_inline(text: str) -> Html:
    """Return a text in which code between backticks is shown as code."""
    # A pattern with a group splits into text, code, text and so on.
    parts = enumerate(_INLINE.split(text))
    return join(element("code", one) if place % 2 else escape(one) for place, one in parts)


def _paragraph(text: str) -> Iterator[Html]:
    if text := text.strip("\n"):
        yield element("p", render_inline(text))
