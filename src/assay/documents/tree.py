"""YAML and JSON as a tree of texts in which every part knows its line.

Scalars are kept as they were written, so that whoever wants text gets it: an option `No` stays "No"
and `1.10` stays "1.10". `plain` gives texts, `typed` gives what the scalars mean.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from assay.documents.files import LARGEST_DOCUMENT, UnreadableFileError, read_text


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a file: what a message or an editor points to."""

    file: Path
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text, or nothing (`null`)."""

    line: int
    text: str | None
    is_bare: bool = False
    """Written without quotes: `typed` then takes `12` for a number and `true` for a truth."""


@dataclass(frozen=True, slots=True)
class Sequence:
    line: int
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A key with its own line and what it stands for."""

    key: str
    line: int
    value: Node


@dataclass(frozen=True, slots=True)
class Mapping:
    line: int
    pairs: tuple[Pair, ...]

    def get(self, key: str) -> Node | None:
        """The value of a key; the last one, as every parser would have it."""
        return next((pair.value for pair in reversed(self.pairs) if pair.key == key), None)


Node: TypeAlias = Scalar | Sequence | Mapping

MAX_DEPTH = 50
MAX_NODES = 500_000


class DocumentError(Exception):
    """A file that is no document; the line where that shows, and what to do."""

    def __init__(self, what: str, line: int = 1, advice: str = "") -> None:
        super().__init__(what)
        self.what, self.line, self.advice = what, line, advice


def read_document(path: Path) -> Node:
    """The tree of a YAML or JSON file; a DocumentError says why there is none."""
    return parse_document(_read(path), path.suffix.lower())


def parse_document(text: str, suffix: str = ".yaml") -> Node:
    """The tree of a text from a file whose name ends like this."""
    # YAML forbids the tabs that JSON allows, so JSON is read as what it is, under any name.
    if suffix == ".json" or text.lstrip("\ufeff \t\r\n").startswith("{"):
        return _parse_json(suffix, text)
    return _parse_yaml(text)


def _read(path: Path) -> str:
    try:
        return read_text(path, LARGEST_DOCUMENT)
    except UnreadableFileError as error:
        raise DocumentError(error.what, error.line, error.advice or "") from None
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}") from None


def _parse_json(suffix: str, text: str) -> Node:
    from assay.documents.json_text import parse_json

    try:
        return parse_json(text)
    except DocumentError:
        if suffix == ".json":
            raise
        return _parse_yaml(text)


def _parse_yaml(text: str) -> Node:
    from assay.documents.yaml_text import parse_yaml

    return parse_yaml(text)


def plain(node: Node) -> Any:
    """The tree as dictionaries, lists, texts and None."""
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {pair.key: plain(pair.value) for pair in node.pairs}


_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", "+.inf"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf"), -math.inf),
    **dict.fromkeys((".nan", ".NaN"), math.nan),
}


def typed(node: Node) -> Any:
    """The tree as values, after the core schema of YAML 1.2: `yes` and `012` stay text."""
    if isinstance(node, Scalar):
        return _typed_scalar(node)
    if isinstance(node, Sequence):
        return [typed(item) for item in node.items]
    return {pair.key: typed(pair.value) for pair in node.pairs}


def _typed_scalar(scalar: Scalar) -> Any:
    text = scalar.text
    if text is None or not scalar.is_bare:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text) and len(text) <= _LONGEST_INTEGER:
        return int(text)
    # A number with a leading zero is somebody's code or date, not a quantity.
    if _NUMBER.fullmatch(text) and not re.match(r"[-+]?0[0-9]", text):
        return float(text)
    return text


# Python converts no longer ones.
_LONGEST_INTEGER = 4000


def places(node: Node, file: Path) -> dict[str, Place]:
    """The place of every part by its dotted path; the whole is the empty path."""
    return {path: Place(file, line) for path, line in _lines(node, "", node.line)}


def _lines(node: Node, path: str, line: int) -> Iterator[tuple[str, int]]:
    yield path, line
    before = f"{path}." if path else ""
    if isinstance(node, Sequence):
        for index, item in enumerate(node.items):
            yield from _lines(item, f"{before}{index}", item.line)
    elif isinstance(node, Mapping):
        for pair in node.pairs:
            yield from _lines(pair.value, f"{before}{pair.key}", pair.line)


@dataclass(frozen=True)
class Repetition:
    """A key that stands twice in one mapping."""

    key: str
    first: int
    line: int


def repetitions(node: Node) -> Iterator[Repetition]:
    """Every key given more than once in one mapping: all but one of its values would be lost."""
    if isinstance(node, Sequence):
        for item in node.items:
            yield from repetitions(item)
    elif isinstance(node, Mapping):
        seen: dict[str, int] = {}
        for pair in node.pairs:
            if pair.key in seen:
                yield Repetition(pair.key, seen[pair.key], pair.line)
            seen.setdefault(pair.key, pair.line)
            yield from repetitions(pair.value)
