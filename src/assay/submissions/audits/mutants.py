"""Mutants: results that wrong programs might produce, derived from a correct one.

Pure, deterministic and bounded. A mutant is always a result that some program could produce: the
output of a command stays text, a file keeps its type of value. Text that is JSON, JSON lines or a
table is changed in its content and written in the same format.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from assay.model import (
    CaseResult,
    check_value,
    compute_fingerprint,
)
from assay.submissions.audits.changes import MutationKind, Path, format_place, list_changes, spread
from assay.submissions.cases import APIResult

MOST_OF_A_CASE = 80
_MOST_FILES = 6
# Of a file only this many of each kind, because there may be several files.
_MOST_IN_A_FILE = 2
_FILES = "files-"


@dataclass(frozen=True)
class ResultMutant:
    """A result that differs from a correct one in one attribute."""

    kind: MutationKind
    attribute: str
    place: str
    """Where in the attribute; empty if it is all of it."""
    result: CaseResult

    @property
    def label(self) -> str:
        where = f"{self.attribute} {self.place}".rstrip()
        return f"{self.kind.value} in {where}"


def mutants(
    right: CaseResult, again: CaseResult | None = None, also: Collection[str] = ()
) -> list[ResultMutant]:
    """Return mutants of a correct result, at most `MOST_OF_A_CASE`.

    `again` is the result of the same program in another run: values that differ there are left
    alone. Output, status and files are changed; `also` names other attributes that a verifier looks
    at.
    """
    again = right if again is None else again
    found: list[ResultMutant] = [*_status_mutants(right, again)]
    found += _attribute_mutants(right, again, "output")
    found += _file_mutants(right, again)
    found += _add_files(right, also)
    for name in ("stderr", "headers"):
        if name in also and hasattr(right, name):
            found += _attribute_mutants(right, again, name)
    return _limit(_drop_equal(found, right))


def alter(result: CaseResult, **fields: Any) -> CaseResult:
    """Return a copy with other values, and with dependent fields updated."""
    if isinstance(output := fields.get("output"), bytes) and _is_binary(result):
        fields["binary_response_size"] = len(output)
        fields["binary_response_hash"] = hashlib.sha256(output).hexdigest()
    return result.model_copy(update=fields)


def _is_binary(result: CaseResult) -> bool:
    return bool(getattr(result, "binary_response", False))


def other_statuses(result: CaseResult) -> tuple[int, ...]:
    """Yield success for failure or failure for success, then another of the same kind."""
    status = result.status_code
    if isinstance(result, APIResult):
        return (500, 201 if status == 200 else 200) if status < 400 else (200, 418)
    return (1,) if status == 0 else (0, 2 if status == 1 else 1)


def _status_mutants(right: CaseResult, again: CaseResult) -> Iterator[ResultMutant]:
    if again.status_code != right.status_code:
        return
    for status in other_statuses(right):
        place = f"{right.status_code} to {status}"
        yield ResultMutant(
            MutationKind.WRONG_STATUS, "status_code", place, alter(right, status_code=status)
        )


def _attribute_mutants(right: CaseResult, again: CaseResult, name: str) -> Iterator[ResultMutant]:
    value = getattr(right, name)
    for kind, place, changed in _value_mutants(
        value, getattr(again, name, None), is_textual=name == "headers"
    ):
        yield ResultMutant(kind, name, place, alter(right, **{name: changed}))


def _file_mutants(right: CaseResult, again: CaseResult) -> Iterator[ResultMutant]:
    files = right.files
    if not isinstance(files, dict) or not isinstance(again.files, dict):
        return
    names: list[tuple[Path, str]] = [((name,), name) for name in sorted(files)]
    for _, name in spread(names, _MOST_FILES):
        if name not in again.files:
            continue
        rest = {other: content for other, content in files.items() if other != name}
        yield ResultMutant(MutationKind.MISSING_FILE, _FILES + name, "", alter(right, files=rest))
        for kind, place, changed in _value_mutants(files[name], again.files[name], _MOST_IN_A_FILE):
            yield ResultMutant(
                kind, _FILES + name, place, alter(right, files={**files, name: changed})
            )


def _add_files(right: CaseResult, judged: Collection[str]) -> Iterator[ResultMutant]:
    """Add files that a verifier judges although the correct result must not have them."""
    files = right.files if isinstance(right.files, dict) else {}
    for name in judged:
        if name.startswith(_FILES) and (file := name.removeprefix(_FILES)) not in files:
            more = alter(right, files={**files, file: "unexpected\n"})
            yield ResultMutant(MutationKind.UNEXPECTED_FILE, name, "", more)


def _value_mutants(
    value: Any, again: Any, most: int | None = None, *, is_textual: bool = False
) -> Iterator[tuple[MutationKind, str, Any]]:
    form, other = read_form(value), read_form(again)
    is_textual = is_textual or form.is_textual
    for change in list_changes(form.tree, other.tree, is_textual=is_textual, most=most):
        yield change.kind, form.place(change.path), form.write(change.tree)
    if isinstance(value, str | bytes) and len(value) > 1:
        yield MutationKind.TRUNCATED, "", value[: len(value) // 2]


def _drop_equal(found: list[ResultMutant], right: CaseResult) -> list[ResultMutant]:
    """Drop mutants equal to the correct result or to an earlier mutant."""
    original = right.attributes()
    seen: dict[str, set[str]] = {}
    kept = []
    for mutant in found:
        name = mutant.attribute
        before = seen.setdefault(name, {fingerprint_content(original.get(name, _MISSING))})
        said = fingerprint_content(mutant.result.attributes().get(name, _MISSING))
        if said not in before:
            before.add(said)
            kept.append(mutant)
    return kept


# A file that is missing says something else than any file, an empty one included.
_MISSING: dict[str, Any] = {"assay": "missing"}


def _limit(found: list[ResultMutant]) -> list[ResultMutant]:
    """Return the first of each kind and attribute, then the second, up to the limit."""
    if len(found) <= MOST_OF_A_CASE:
        return found
    rank: dict[tuple[MutationKind, str], int] = {}
    ranked = []
    for position, mutant in enumerate(found):
        key = mutant.kind, mutant.attribute
        rank[key] = rank.get(key, -1) + 1
        ranked.append((rank[key], position))
    chosen = sorted(position for _, position in sorted(ranked)[:MOST_OF_A_CASE])
    return [found[position] for position in chosen]


# A longer text is changed as a whole: each of its mutants would have to be read again.
_LONGEST_READ = 1_000_000


@dataclass(frozen=True)
class ValueForm:
    """A value as a tree of dictionaries, lists and scalars."""

    tree: Any
    write: Callable[[Any], Any]
    is_textual: bool = False
    """Whether every leaf is text: there are no types to change, and numbers stand in words."""
    place: Callable[[Path], str] = format_place
    """How a place in the tree is told."""


def read_form(value: Any) -> ValueForm:
    """Return the form of a value; unrecognized values are text, or left unchanged."""
    if isinstance(value, bytes):
        return _read_bytes(value)
    if isinstance(value, str):
        if len(value) > _LONGEST_READ:
            return ValueForm([value], "".join, is_textual=True, place=_whole)
        return _read_json(value) or _read_lines_of_json(value) or _read_table(value) or _text(value)
    return ValueForm(value, _same)


def fingerprint_content(value: Any) -> str:
    """Return a digest that ignores white space and the order of keys."""
    form = read_form(value)
    tree = form.tree
    if form.is_textual:
        tree = [" ".join(line.split()) for line in tree if line.strip()] if _is_text(tree) else tree
    return compute_fingerprint(tree)


def _is_text(tree: Any) -> bool:
    return isinstance(tree, list) and all(isinstance(line, str) for line in tree)


def _same(tree: Any) -> Any:
    return tree


def _read_bytes(data: bytes) -> ValueForm:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return ValueForm(data, _same)
    if "\0" in text:
        return ValueForm(data, _same)
    form = read_form(text)
    return replace(form, write=lambda tree: _encode(form.write(tree)))


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _parse(text: str) -> Any:
    """Return a JSON object or array, else None: a bare number or word is text."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        found = json.loads(text)
        check_value(found)
    except (ValueError, RecursionError):
        return None
    return found


def _read_json(text: str) -> ValueForm | None:
    tree = _parse(text)
    if tree is None:
        return None
    body = text.strip()
    before, after = text[: text.index(body)], text[text.index(body) + len(body) :]
    style = _style_of(tree, body)
    return ValueForm(tree, lambda changed: before + json.dumps(changed, **style) + after)


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


def _read_lines_of_json(text: str) -> ValueForm | None:
    lines = text.split("\n")
    written = [line for line in lines if line.strip()]
    trees = [_parse(line) for line in written]
    if len(written) < 2 or any(tree is None for tree in trees):
        return None
    style = {**_style_of(trees[0], written[0].strip()), "indent": None}
    end = "\n" if text.endswith("\n") else ""

    def write(changed: list[Any]) -> str:
        return "\n".join(json.dumps(one, **style) for one in changed) + end

    return ValueForm(trees, write)


def _read_table(text: str) -> ValueForm | None:
    """Return rows by column name, if each row has as many cells as the first."""
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

    return ValueForm(tree, write, is_textual=True)


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


def _text(text: str) -> ValueForm:
    end = "\n" if text.endswith("\n") else ""
    lines = text.removesuffix("\n").split("\n") if text else []

    def write(changed: list[str]) -> str:
        return "\n".join(changed) + (end if changed else "")

    return ValueForm(lines, write, is_textual=True, place=_line)


def _whole(path: Path) -> str:
    return ""


def _line(path: Path) -> str:
    return f"line {int(path[0]) + 1}" if path else ""
