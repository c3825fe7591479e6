"""YAML and JSON as a tree of texts in which every part knows its line.

Everything in a suite is text, so scalars are kept as they were written: an option `No` stays "No"
and `1.10` stays "1.10", whatever else YAML would make of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from assay.questions.model import Place


@dataclass(frozen=True)
class Scalar:
    """A text, or nothing (`null`)."""

    line: int
    text: str | None


@dataclass(frozen=True)
class Sequence:
    line: int
    items: tuple[Node, ...]


@dataclass(frozen=True)
class Pair:
    """A key with its own line and what it stands for."""

    key: str
    line: int
    value: Node


@dataclass(frozen=True)
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
    text = _read(path)
    # YAML forbids the tabs that JSON allows, so JSON is read as what it is, under any name.
    if path.suffix == ".json" or text.lstrip("\ufeff \t\r\n").startswith("{"):
        return _parse_json(path, text)
    return _parse_yaml(text)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise DocumentError("is not UTF-8 text", line, "save it as UTF-8") from None
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}") from None


def _parse_json(path: Path, text: str) -> Node:
    from assay.questions.suites.json_documents import parse_json

    try:
        return parse_json(text)
    except DocumentError:
        if path.suffix == ".json":
            raise
        return _parse_yaml(text)


def _parse_yaml(text: str) -> Node:
    from assay.questions.suites.yaml_documents import parse_yaml

    return parse_yaml(text)


def plain(node: Node) -> Any:
    """The tree as dictionaries, lists, texts and None."""
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {pair.key: plain(pair.value) for pair in node.pairs}


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
