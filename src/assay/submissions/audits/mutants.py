"""From what a right program did to what wrong programs might do: mutants, each wrong in substance.

Pure, deterministic and bounded. A mutant is always a result that some program could produce: what
a command prints stays text, a file stays the kind of value it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from assay.model import CaseResult
from assay.submissions.audits.changes import MutationKind, Path, list_changes, spread
from assay.submissions.audits.forms import fingerprint_content, read_form
from assay.submissions.cases import APIResult

MOST_OF_A_CASE = 80
_MOST_FILES = 6
# Of a file only this many of each kind, because there may be several files.
_MOST_IN_A_FILE = 2
_FILES = "files-"


@dataclass(frozen=True)
class ResultMutant:
    """A result that differs from a right one in one attribute."""

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
    """Mutants of a right result, at most `MOST_OF_A_CASE`.

    `again` is what the same program gave in another run: what differs there by itself is left
    alone. Output, status and files are changed; `also` names what else a verifier looks at.
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
    """Return a copy with other values, and with the fields that follow from them made to agree."""
    if isinstance(output := fields.get("output"), bytes) and _is_binary(result):
        fields["binary_response_size"] = len(output)
        fields["binary_response_hash"] = hashlib.sha256(output).hexdigest()
    return result.model_copy(update=fields)


def _is_binary(result: CaseResult) -> bool:
    return bool(getattr(result, "binary_response", False))


def other_statuses(result: CaseResult) -> tuple[int, ...]:
    """Success for failure or failure for success, then another of the same sort."""
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
    """Files that a verifier judges though the right result does not have them: they must not be."""
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
    """Leave out those that say the same as the right result or as one before."""
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
    """Return the first of each kind and attribute, then the second, until there are enough."""
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
