"""Keys that stand twice in one HOCON object, where the parser silently keeps the last."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.agents.files.outline import (
    ArrayOutline,
    FieldOutline,
    Include,
    ObjectOutline,
    Part,
    Substitution,
    ValueOutline,
)
from assay.agents.files.source import repeated_key
from assay.documents import Place
from assay.findings import Finding


def repeated_keys(root: ObjectOutline, file: Path) -> Iterator[Finding]:
    """A problem for every key whose earlier value is lost when it is given again."""
    # By path, the number and line of the first field there, and of the first there or below.
    seen: dict[tuple[str, ...], tuple[int, int]] = {}
    below: dict[tuple[str, ...], tuple[int, int]] = {}
    for number, (path, one) in enumerate(_leaves(root, ())):
        # Two cannot both have a value if one is the other or lies within it.
        above = [path[:depth] for depth in range(len(path) + 1)]
        overlapping = [seen[each] for each in above if each in seen]
        overlapping += [below[path]] if path in below else []
        if overlapping and not _keeps_earlier(one, path):
            yield repeated_key(".".join(path), min(overlapping)[1], Place(file, one.line))
        seen.setdefault(path, (number, one.line))
        for each in above:
            below.setdefault(each, (number, one.line))
    for value in _values(root):
        for inner in _within_arrays(value):
            yield from repeated_keys(inner, file)


def _within_arrays(value: ValueOutline) -> Iterator[ObjectOutline]:
    """The objects that are elements of arrays: each is an object of its own."""
    for part in value.parts:
        if isinstance(part, ArrayOutline):
            for item in part.items:
                yield from (inner for inner in item.parts if isinstance(inner, ObjectOutline))
                yield from _within_arrays(item)


def _leaves(
    found: ObjectOutline, at: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], FieldOutline]]:
    """Every field with a value that is no object; objects of the same key are merged by HOCON."""
    for one in found.fields:
        if isinstance(one, Include):
            continue
        path = (*at, *one.keys)
        objects = [part for part in one.value.parts if isinstance(part, ObjectOutline)]
        if not objects:
            yield path, one
        for part in objects:
            yield from _leaves(part, path)


def _keeps_earlier(one: FieldOutline, path: tuple[str, ...]) -> bool:
    """Whether the earlier value is extended, or is the default of an optional substitution."""
    name = ".".join(path)
    parts = [part for part in one.value.parts if not isinstance(part, str) or part.strip()]
    refers = any(isinstance(part, Substitution) and part.path == name for part in parts)
    return one.appends or refers or _is_optional(parts)


def _is_optional(parts: list[Part]) -> bool:
    return len(parts) == 1 and isinstance(parts[0], Substitution) and parts[0].is_optional


def _values(found: ObjectOutline) -> Iterator[ValueOutline]:
    """All values of an object and of the objects directly below it."""
    for one in found.fields:
        if isinstance(one, FieldOutline):
            yield one.value
            for part in one.value.parts:
                if isinstance(part, ObjectOutline):
                    yield from _values(part)
