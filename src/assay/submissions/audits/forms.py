"""Reads a value of a result as a tree that can be changed, and writes a changed tree as it was.

A program prints text, and what the text means is often JSON, JSON lines or a table. A mutant must
be wrong in what it says and not in how it is written, so each form keeps its way of writing.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from assay.model import check_value, compute_fingerprint
from assay.submissions.audits.changes import Path, place_of

# A longer text is changed as a whole: each of its mutants would have to be read again.
_LONGEST_READ = 1_000_000


@dataclass(frozen=True)
class Form:
    """A value as a tree of dictionaries, lists and scalars."""

    tree: Any
    write: Callable[[Any], Any]
    is_textual: bool = False
    """Whether every leaf is text: there are no types to change, and numbers stand in words."""
    place: Callable[[Path], str] = place_of
    """How a place in the tree is told."""


def read_form(value: Any) -> Form:
    """The form a value has; whatever is not recognized is text, or is left as it is."""
    if isinstance(value, bytes):
        return _read_bytes(value)
    if isinstance(value, str):
        if len(value) > _LONGEST_READ:
            return Form([value], "".join, is_textual=True, place=_whole)
        return _read_json(value) or _read_lines_of_json(value) or _read_table(value) or _text(value)
    return Form(value, _same)


def substance(value: Any) -> str:
    """What a value says: the same for values that differ only in white space or order of keys."""
    form = read_form(value)
    tree = form.tree
    if form.is_textual:
        tree = [" ".join(line.split()) for line in tree if line.strip()] if _is_text(tree) else tree
    return compute_fingerprint(tree)


def _is_text(tree: Any) -> bool:
    return isinstance(tree, list) and all(isinstance(line, str) for line in tree)


def _same(tree: Any) -> Any:
    return tree


def _read_bytes(data: bytes) -> Form:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return Form(data, _same)
    if "\0" in text:
        return Form(data, _same)
    form = read_form(text)
    return replace(form, write=lambda tree: _encoded(form.write(tree)))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _parse(text: str) -> Any:
    """A JSON object or array, None if it is neither: a bare number or word is rather text."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        found = json.loads(text)
        check_value(found)
    except (ValueError, RecursionError):
        return None
    return found


def _read_json(text: str) -> Form | None:
    tree = _parse(text)
    if tree is None:
        return None
    body = text.strip()
    before, after = text[: text.index(body)], text[text.index(body) + len(body) :]
    style = _style_of(tree, body)
    return Form(tree, lambda changed: before + json.dumps(changed, **style) + after)


_STYLES: list[dict[str, Any]] = [
    {"indent": indent, "separators": separators, "ensure_ascii": is_ascii}
    for indent in (None, 2, 4, 1, "\t")
    for separators in (None, (",", ":"))
    for is_ascii in (True, False)
]


def _style_of(tree: Any, text: str) -> dict[str, Any]:
    for style in _STYLES:
        if json.dumps(tree, **style) == text:
            return style
    return {"indent": 2 if "\n" in text else None}


def _read_lines_of_json(text: str) -> Form | None:
    lines = text.split("\n")
    written = [line for line in lines if line.strip()]
    trees = [_parse(line) for line in written]
    if len(written) < 2 or any(tree is None for tree in trees):
        return None
    style = {**_style_of(trees[0], written[0].strip()), "indent": None}
    end = "\n" if text.endswith("\n") else ""

    def write(changed: list[Any]) -> str:
        return "\n".join(json.dumps(one, **style) for one in changed) + end

    return Form(trees, write)


def _read_table(text: str) -> Form | None:
    """Rows by the names of their columns, if each row has as many cells as the first."""
    delimiter = "\t" if "\t" in text else ","
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=delimiter, strict=True))
    except csv.Error:
        return None
    if len(rows) < 2 or len(rows[0]) < 2 or len({len(row) for row in rows}) > 1:
        return None
    header = rows[0]
    if len(set(header)) < len(header) or not all(name.strip() for name in header):
        return None
    tree = [dict(zip(header, row, strict=True)) for row in rows[1:]]
    end = "\r\n" if "\r\n" in text else "\n"

    def write(changed: list[Any]) -> str:
        return _table_text(changed, header, delimiter, end)

    return Form(tree, write, is_textual=True)


def _table_text(rows: list[dict[str, str]], header: list[str], delimiter: str, end: str) -> str:
    # A key that one row lost is a column that the table lost, and the same for one it gained.
    kept = [name for name in header if all(name in row for row in rows)]
    gained = dict.fromkeys(name for row in rows for name in row if name not in header)
    target = io.StringIO()
    writer = csv.DictWriter(
        target, [*kept, *gained], delimiter=delimiter, lineterminator=end, extrasaction="ignore"
    )
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue()


def _text(text: str) -> Form:
    end = "\n" if text.endswith("\n") else ""
    lines = text.removesuffix("\n").split("\n") if text else []

    def write(changed: list[str]) -> str:
        return "\n".join(changed) + (end if changed else "")

    return Form(lines, write, is_textual=True, place=_line)


def _whole(path: Path) -> str:
    return ""


def _line(path: Path) -> str:
    return f"line {int(path[0]) + 1}" if path else ""
