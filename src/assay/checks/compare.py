"""The structural comparison of JSON values: every place where they differ, by its path."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from assay.checks.diffs import MAX_SHOWN, around, first_difference, shown
from assay.checks.matching import Matching, equal_pairs, identity, magnitudes, merge_pairs
from assay.checks.numbers import close, is_number
from assay.checks.paths import Path, Patterns, narrowed, path_text
from assay.checks.registry import ABSENT
from assay.errors import Unverifiable

MAX_PROBLEMS = 50


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the values differ; a side that has nothing there is ABSENT."""

    path: Path
    problem: str
    actual: Any = ABSENT
    expected: Any = ABSENT

    def describe(self) -> dict[str, Any]:
        sides = {"expected": self.expected, "actual": self.actual}
        found = {side: _evidence(value) for side, value in sides.items() if value is not ABSENT}
        return {"path": path_text(self.path), "problem": self.problem, **found}


@dataclass(frozen=True, slots=True)
class Comparison:
    """What counts as equal."""

    absolute: float = 0.0
    relative: float = 0.0
    nan_equal: bool = False
    unordered: bool = False
    ignored: Patterns = ()

    def problems(self, actual: Any, expected: Any) -> list[dict[str, Any]]:
        """The differences as values, none if equal; beyond a limit they are only counted."""
        try:
            differences = _Walk(self).differences(actual, expected, (), self.ignored)
            found = [difference.describe() for difference in islice(differences, MAX_PROBLEMS)]
            more = sum(1 for _ in differences)
        except RecursionError:
            raise Unverifiable("the values are nested too deep to be compared") from None
        if more:
            found.append({"problem": f"{more:,} more differences are not listed"})
        return found


class _Walk:
    """One comparison under way, which remembers the pairs it has compared already.

    Without that, items inside unordered lists inside unordered lists would be compared again at
    every level, twice as often at each.
    """

    def __init__(self, settings: Comparison) -> None:
        self._settings = settings
        self._known: dict[tuple[int, int, Patterns], bool] = {}

    def differences(
        self, actual: Any, expected: Any, path: Path, ignored: Patterns
    ) -> Iterator[Difference]:
        kind = type(expected)
        if kind is dict and type(actual) is dict:
            yield from self._in_objects(actual, expected, path, ignored)
        elif kind is list and type(actual) is list:
            in_lists = self._in_unordered if self._settings.unordered else self._in_ordered
            yield from in_lists(actual, expected, path, ignored)
        elif is_number(expected) and is_number(actual):
            if not self._close(actual, expected):
                yield Difference(path, "different value", actual, expected)
        elif kind is not type(actual):
            names = f"{type(actual).__name__}, not {kind.__name__}"
            yield Difference(path, f"different type: {names}", actual, expected)
        elif actual != expected:
            yield _unequal(path, actual, expected)

    def _close(self, actual: float, expected: float) -> bool:
        return close(
            actual,
            expected,
            absolute=self._settings.absolute,
            relative=self._settings.relative,
            nan_equal=self._settings.nan_equal,
        )

    def _in_objects(
        self, actual: dict[str, Any], expected: dict[str, Any], path: Path, ignored: Patterns
    ) -> Iterator[Difference]:
        for key in {**expected, **actual}:
            rest = narrowed(ignored, key)
            if rest is None:
                continue
            sides = actual.get(key, ABSENT), expected.get(key, ABSENT)
            yield from self._at(sides, (*path, key), rest)

    def _in_ordered(
        self, actual: list[Any], expected: list[Any], path: Path, ignored: Patterns
    ) -> Iterator[Difference]:
        for index in range(max(len(actual), len(expected))):
            rest = narrowed(ignored, index)
            if rest is None:
                continue
            sides = _item(actual, index), _item(expected, index)
            yield from self._at(sides, (*path, index), rest)

    def _at(self, sides: tuple[Any, Any], path: Path, ignored: Patterns) -> Iterator[Difference]:
        actual, expected = sides
        if actual is ABSENT or expected is ABSENT:
            problem = "missing" if actual is ABSENT else "unexpected"
            yield Difference(path, problem, actual, expected)
        else:
            yield from self.differences(actual, expected, path, ignored)

    def _in_unordered(
        self, actual: list[Any], expected: list[Any], path: Path, ignored: Patterns
    ) -> Iterator[Difference]:
        rest = narrowed(ignored, 0)
        if rest is None:
            return
        pairs = equal_pairs(self._keys(expected, rest), self._keys(actual, rest))
        complete = True
        tolerant = self._settings.absolute or self._settings.relative
        if tolerant and len(pairs) < max(len(actual), len(expected)):
            pairs, complete = self._paired(actual, expected, rest, pairs)
        missing = [index for index in range(len(expected)) if index not in pairs]
        partners = set(pairs.values())
        extra = [index for index in range(len(actual)) if index not in partners]
        if not complete:
            yield Difference(path, "the items cannot be paired; too many to show which")
        elif len(missing) == len(extra) == 1:
            # The one item that is left on either side is shown by what is wrong inside it.
            yield from self._at((actual[extra[0]], expected[missing[0]]), (*path, extra[0]), rest)
        else:
            for index in missing:
                yield Difference((*path, index), "missing", expected=expected[index])
            for index in extra:
                yield Difference((*path, index), "unexpected", actual=actual[index])

    def _keys(self, items: list[Any], ignored: Patterns, blur: bool = False) -> list[Hashable]:
        return [
            identity(item, ignored, nan_equal=self._settings.nan_equal, blur=blur) for item in items
        ]

    def _same(self, actual: Any, expected: Any, ignored: Patterns) -> bool:
        if type(expected) is not list and type(expected) is not dict:
            return next(self.differences(actual, expected, (), ignored), None) is None
        # Both values live as long as the walk, so that their ids are theirs alone.
        place = id(actual), id(expected), ignored
        known = self._known.get(place)
        if known is None:
            known = next(self.differences(actual, expected, (), ignored), None) is None
            self._known[place] = known
        return known

    def _paired(
        self, actual: list[Any], expected: list[Any], ignored: Patterns, equal: dict[int, int]
    ) -> tuple[dict[int, int], bool]:
        """The largest pairing of items within tolerance, and whether the search was complete.

        Being within a tolerance is not transitive: equal items may have to part so that all find
        a partner. So equal pairs are only where the search begins.
        """

        def same(left: int, right: int) -> bool:
            return self._same(actual[right], expected[left], ignored)

        groups: defaultdict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for side, items in enumerate((expected, actual)):
            for index, key in enumerate(self._keys(items, ignored, blur=True)):
                groups[key][side].append(index)
        pairs: dict[int, int] = {}
        complete = True
        for left, right in groups.values():
            start = {index: equal[index] for index in left if index in equal}
            taken = set(start.values())
            free = (
                [index for index in left if index not in start],
                [index for index in right if index not in taken],
            )
            sizes = (
                {index: magnitudes(expected[index]) for index in free[0]},
                {index: magnitudes(actual[index]) for index in free[1]},
            )
            start |= merge_pairs(*free, sizes, same)
            matching = Matching(left, right, same, start)
            pairs |= matching.pairs
            complete = complete and matching.complete
        return pairs, complete


def _item(items: list[Any], index: int) -> Any:
    return items[index] if index < len(items) else ABSENT


def _unequal(path: Path, actual: Any, expected: Any) -> Difference:
    if not isinstance(actual, str) or max(len(actual), len(expected)) <= MAX_SHOWN:
        return Difference(path, "different value", actual, expected)
    offset = first_difference(actual, expected)
    problem = f"different text from character {offset + 1:,} on"
    return Difference(path, problem, around(actual, offset), around(expected, offset))


def _evidence(value: Any) -> Any:
    """The value itself if it is small, else the beginning and end of how it is written."""
    if isinstance(value, str | bytes) and len(value) <= 2 * MAX_SHOWN:
        return value
    try:
        is_small = len(repr(value)) <= MAX_SHOWN
    except ValueError:
        # An integer inside has more digits than Python writes, so it could not be stored either.
        is_small = False
    return value if is_small else shown(value)


def structural_diff(actual: Any, expected: Any) -> str | list[dict[str, Any]]:
    """Every difference of two JSON values as {path, problem, expected, actual}, or "equal"."""
    return Comparison().problems(actual, expected) or "equal"
