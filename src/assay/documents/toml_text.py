"""Reads untrusted TOML, into values or into a tree with line numbers."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from assay.documents.files import LARGEST_SETTINGS, read_text
from assay.documents.tree import KeyPath, MappingNode, to_node
from assay.errors import InputError

# Every part of a dotted key is looked up from the top again: 100,000 parts would take an hour.
_MOST_PARTS = 50
_PART = r"""(?:"[^"\n]*"|'[^'\n]*'|[\w-]++)"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*\.[ \t]*{_PART}){{{_MOST_PARTS}}}")
_KEY = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_HEADER = re.compile(rf"[ \t]*\[(\[?)[ \t]*({_KEY})[ \t]*\]")
_ENTRY = re.compile(rf"[ \t]*({_KEY})[ \t]*=")


def read_toml(path: Path, *, keep_mark: bool = False) -> dict[str, Any]:
    """Return the content of a TOML file, or raise an InputError.

    `keep_mark` refuses a byte order mark, as TOML does.
    """
    return _parse(_read(path, keep_mark), path)


def read_toml_tree(path: Path) -> MappingNode:
    """Return the tree of a TOML file, or raise an InputError."""
    text = _read(path, True)
    value = _parse(text, path)
    node = to_node(value, 1, _find_lines(text))
    assert isinstance(node, MappingNode)
    return node


def _read(path: Path, keep_mark: bool) -> str:
    try:
        return read_text(path, LARGEST_SETTINGS, keep_mark=keep_mark)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None


def _parse(text: str, path: Path) -> dict[str, Any]:
    if _LONG_KEY.search(text):
        raise InputError(
            f"is nested too deeply: a key has more than {_MOST_PARTS} parts", where=str(path)
        )
    try:
        return tomllib.loads(text)
    except ValueError as error:
        # Not only TOMLDecodeError: an integer of 5,000 digits is a plain ValueError.
        raise InputError(f"is not valid TOML: {error}", where=str(path)) from None
    except RecursionError:
        raise InputError("is nested too deeply", where=str(path)) from None


def _find_lines(text: str) -> dict[KeyPath, int]:
    """Return the lines of tables and keys, which tomllib does not report."""
    lines: dict[KeyPath, int] = {}
    counts: dict[KeyPath, int] = {}
    table: KeyPath = ()
    is_in_text = False
    for number, line in enumerate(text.split("\n"), 1):
        was_in_text = is_in_text
        is_in_text ^= (line.count('"""') + line.count("'''")) % 2 == 1
        if was_in_text:
            continue
        if header := _HEADER.match(line):
            table = _split(header[2])
            if header[1]:
                lines.setdefault(table, number)
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            path = table
        elif entry := _ENTRY.match(line):
            path = (*table, *_split(entry[1]))
        else:
            continue
        for depth in range(1, len(path) + 1):
            lines.setdefault(path[:depth], number)
    return lines


def _split(key: str) -> KeyPath:
    return tuple(part.strip("\"'") for part in re.findall(_PART, key))
