"""Markdown made of text from cases: only ever inside code, where nothing of it can act.

In code there is no markup, no HTML, no mention of people, no reference to issues and no link.
"""

from __future__ import annotations

import re
from html import escape

_BACKTICKS = re.compile("`+")


def code_span(text: str) -> str:
    """One line as inline code."""
    if not text.strip():
        return "*(empty)*" if not text else f"`{text}`"
    marks = "`" * (_longest_run(text) + 1)
    # A space on both sides is taken away again, and keeps a backtick or space at the edge.
    pad = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{marks}{pad}{text}{pad}{marks}"


def cell(text: str) -> str:
    """One line as inline code in a table, where a bar would end the cell even in code."""
    # A backslash before a bar belongs to the table; before anything else it is itself.
    return code_span(text.replace("|", "\\|"))


def code_block(text: str, language: str = "") -> str:
    """Lines as a block of code that no line of them can end."""
    marks = "`" * max(3, _longest_run(text) + 1)
    return f"{marks}{language}\n{text}\n{marks}\n"


def html_code(text: str) -> str:
    """One line as code in HTML, for places where Markdown is not read."""
    return f"<code>{escape(text)}</code>"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)
