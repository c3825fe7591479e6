"""Text from cases made safe to show: hidden and control characters visible, length limited."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from assay.escaping import escape_hidden
from assay.model import to_json

if TYPE_CHECKING:
    from assay.runs import Run

VALUE_CHARACTERS = 2_000
VALUE_LINES = 40
LINE_CHARACTERS = 300
_SHORT_JSON = 72
_BYTES_SHOWN = 64
_BREAKS_SHOWN = 10

_BREAKS = str.maketrans({"\n": "\\n", "\t": "\\t"})


def one_line(text: str, limit: int = LINE_CHARACTERS) -> str:
    """Return the text on one line: for a heading, a table cell, an attribute."""
    return escape_hidden(shorten(text.strip("\n"), limit, lines=None)).translate(_BREAKS)


def shorten(text: str, limit: int = VALUE_CHARACTERS, lines: int | None = VALUE_LINES) -> str:
    """Return the beginning of a text, and how much of it is missing."""
    kept = text[:limit]
    if lines is not None and kept.count("\n") >= lines:
        kept = "\n".join(kept.split("\n", lines)[:lines])
    missing = len(text) - len(kept)
    if missing <= 0 or not text[len(kept) :].strip("\n"):
        return text
    gap = "\n" if lines is not None and "\n" in kept else " "
    return f"{kept}{gap}… [{count(missing, 'more character')}]"


def show_value(value: Any, limit: int = VALUE_CHARACTERS, lines: int = VALUE_LINES) -> str:
    """Return any JSON value or bytes in readable form.

    Text of several lines is shown as it is, with trailing newlines made visible; other text is
    quoted, so that "42" is not taken for 42 and a trailing space is visible.
    """
    if isinstance(value, bytes):
        return _show_bytes(value, limit, lines)
    if isinstance(value, str):
        return _lines(value, limit, lines) if "\n" in value.strip("\n") else _quote(value, limit)
    return escape_hidden(shorten(_json_text(value, limit), limit, lines))


def show_diff(diff: Any, limit: int = VALUE_CHARACTERS, lines: int = VALUE_LINES) -> str:
    """Return a difference: text is meant to be read as it is."""
    if isinstance(diff, str):
        return escape_hidden(shorten(diff.rstrip("\n"), limit, lines))
    return show_value(diff, limit, lines)


def _lines(text: str, limit: int, lines: int) -> str:
    body = text.rstrip("\n")
    shown = shorten(body, limit, lines)
    ending = text[len(body) :][:_BREAKS_SHOWN] if shown == body else ""
    return escape_hidden(shown) + ending.translate(_BREAKS)


def _quote(text: str, limit: int) -> str:
    note = f" … [{count(len(text) - limit, 'more character')}]" if len(text) > limit else ""
    return escape_hidden(json.dumps(text[:limit], ensure_ascii=False)) + note


def _show_bytes(data: bytes, limit: int, lines: int) -> str:
    size = count(len(data), "byte")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        rest = " …" if len(data) > _BYTES_SHOWN else ""
        return f"{size}: {data[:_BYTES_SHOWN].hex(' ')}{rest}"
    return f"{size} of text: {show_value(text, limit, lines)}"


def _json_text(value: Any, limit: int) -> str:
    plain = to_json(value)
    compact = json.dumps(plain, ensure_ascii=False)
    # A value that will be cut is not formatted first, which would be slow.
    if len(compact) <= _SHORT_JSON or len(compact) > limit:
        return compact
    return json.dumps(plain, ensure_ascii=False, indent=2)


def count(number: int, noun: str) -> str:
    """Return a number with its noun: 1 case, 1,000 cases."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def seconds(duration: float) -> str:
    """Return a duration in readable form."""
    if duration < 1:
        return f"{duration * 1000:.0f} ms"
    if duration < 60:
        return f"{duration:.1f} s"
    minutes, rest = divmod(round(duration), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def name_of(run: Run) -> str:
    """Return the name of this run for commands, or its path if it is stored elsewhere."""
    kept_as_usual = run.path.parent.parts[-2:] == (".assay", "runs")
    return run.name if kept_as_usual else str(run.path)


def show_command(run: Run, case: str = "CASE") -> str:
    """Return the command that shows one case of a run in full."""
    return f"assay runs show {one_line(shlex.quote(name_of(run)))} {one_line(shlex.quote(case))}"
