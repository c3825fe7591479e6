"""Structural comparison of JSON values: lists every difference by its path."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from assay.checks.diffs import MAX_SHOWN, around, first_difference, preview
from assay.checks.json_paths import Path, Patterns, format_path, narrow
from assay.checks.numbers import close, is_number
from assay.checks.registry import ABSENT
from assay.errors import Unverifiable

# Once it is certain that some item has no partner, this many more comparisons go into the diff.
BUDGET = 100_000


def make_identity(
    value: Any, ignored: Patterns, *, nan_equal: bool, blur: bool = False
) -> Hashable:
    """Return a key that two values share if they are equal, whatever the order of lists.

    With `blur` all numbers look the same: values of different blurred keys are never within any
    tolerance of each other.
    """
    kind = type(value)
    # Loops and not comprehensions: every level of the value costs one level of Python's stack.
    if kind is list:
        rest = narrow(ignored, 0)
        if rest is None:
            return list
        counts: Counter[Hashable] = Counter()
        for item in value:
            counts[make_identity(item, rest, nan_equal=nan_equal, blur=blur)] += 1
        return list, frozenset(counts.items())
    if kind is dict:
        entries = set()
        for key, item in value.items():
            rest = narrow(ignored, key)
            if rest is not None:
                entries.add((key, make_identity(item, rest, nan_equal=nan_equal, blur=blur)))
        return dict, frozenset(entries)
    return _scalar_identity(value, nan_equal, blur)


def _scalar_identity(value: Any, nan_equal: bool, blur: bool) -> Hashable:
    kind = type(value)
    if kind is bool:
        return bool, value
    if kind is int or kind is float:
        if blur:
            return float
        if value != value:
            return (float, "nan") if nan_equal else object()
    return value  # type: ignore[no-any-return]


def list_magnitudes(value: Any) -> list[float]:
    """Return the numbers in a value, in an order that does not depend on how it was written."""
    if type(value) is list:
        return [number for item in value for number in list_magnitudes(item)]
    if type(value) is dict:
        return [number for key in sorted(value) for number in list_magnitudes(value[key])]
    return [value] if type(value) in (int, float) else []


def pair_equals(left: Sequence[Hashable], right: Sequence[Hashable]) -> dict[int, int]:
    """Return the positions that have the same key, left to right, each used once."""
    places: dict[Hashable, list[int]] = {}
    for position in reversed(range(len(right))):
        places.setdefault(right[position], []).append(position)
    return {position: places[key].pop() for position, key in enumerate(left) if places.get(key)}


def merge_by_size(
    left: Sequence[int],
    right: Sequence[int],
    sizes: tuple[Mapping[int, list[float]], Mapping[int, list[float]]],
    same: Callable[[int, int], bool],
) -> dict[int, int]:
    """Return pairs found by one walk along both sides in order of size, to start from."""
    lefts = sorted(left, key=sizes[0].__getitem__)
    rights = sorted(right, key=sizes[1].__getitem__)
    pairs: dict[int, int] = {}
    i = j = 0
    while i < len(lefts) and j < len(rights):
        if same(lefts[i], rights[j]):
            pairs[lefts[i]] = rights[j]
            i, j = i + 1, j + 1
        elif sizes[0][lefts[i]] < sizes[1][rights[j]]:
            i += 1
        else:
            j += 1
    return pairs


class Matching:
    """A pairing that grows by augmenting paths until no larger one exists.

    `complete` is False if the search was given up, which happens only when it is already certain
    that somebody stays without a partner.
    """

    def __init__(
        self,
        left: Sequence[int],
        right: Sequence[int],
        same: Callable[[int, int], bool],
        start: Mapping[int, int],
    ) -> None:
        self.pairs = dict(start)
        self.complete = True
        self._owners = {partner: owner for owner, partner in start.items()}
        self._right = dict.fromkeys(right)
        self._same = same
        self._spent = 0
        settled = len(left) != len(right)
        for root in [position for position in left if position not in self.pairs]:
            if settled and self._spent > BUDGET:
                self.complete = False
                return
            settled = not self._find_partner(root) or settled

    def _find_partner(self, root: int) -> bool:
        reached: dict[int, int] = {}
        waiting = [root]
        for owner in waiting:
            for partner in [place for place in self._right if place not in reached]:
                self._spent += 1
                if not self._same(owner, partner):
                    continue
                reached[partner] = owner
                if partner not in self._owners:
                    self._swap(root, partner, reached)
                    return True
                waiting.append(self._owners[partner])
        # Nothing reached from here can ever be part of a longer path, so nobody looks again.
        for partner in reached:
            del self._right[partner]
        return False

    def _swap(self, root: int, partner: int, reached: Mapping[int, int]) -> None:
        """Give the partner to whoever reached it, the partner given up to the next, and so on."""
        owner = reached[partner]
        while owner != root:
            given_up = self.pairs[owner]
            self.pairs[owner], self._owners[partner] = partner, owner
            partner, owner = given_up, reached[given_up]
        self.pairs[root], self._owners[partner] = partner, root


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
        return {"path": format_path(self.path), "problem": self.problem, **found}


@dataclass(frozen=True, slots=True)
class JsonComparison:
    """What counts as equal."""

    absolute: float = 0.0
    relative: float = 0.0
    nan_equal: bool = False
    unordered: bool = False
    ignored: Patterns = ()

    def find_problems(self, actual: Any, expected: Any) -> list[dict[str, Any]]:
        """Return the differences as values, none if equal; beyond a limit they are only counted."""
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

    def __init__(self, settings: JsonComparison) -> None:
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
            rest = narrow(ignored, key)
            if rest is None:
                continue
            sides = actual.get(key, ABSENT), expected.get(key, ABSENT)
            yield from self._at(sides, (*path, key), rest)

    def _in_ordered(
        self, actual: list[Any], expected: list[Any], path: Path, ignored: Patterns
    ) -> Iterator[Difference]:
        for index in range(max(len(actual), len(expected))):
            rest = narrow(ignored, index)
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
        rest = narrow(ignored, 0)
        if rest is None:
            return
        pairs = pair_equals(self._keys(expected, rest), self._keys(actual, rest))
        complete = True
        tolerant = self._settings.absolute or self._settings.relative
        if tolerant and len(pairs) < max(len(actual), len(expected)):
            pairs, complete = self._pair_items(actual, expected, rest, pairs)
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
            make_identity(item, ignored, nan_equal=self._settings.nan_equal, blur=blur)
            for item in items
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

    def _pair_items(
        self, actual: list[Any], expected: list[Any], ignored: Patterns, equal: dict[int, int]
    ) -> tuple[dict[int, int], bool]:
        """Return the largest pairing within tolerance, and whether the search was complete.

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
                {index: list_magnitudes(expected[index]) for index in free[0]},
                {index: list_magnitudes(actual[index]) for index in free[1]},
            )
            start |= merge_by_size(*free, sizes, same)
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
    """Return the value itself if it is small, else the beginning and end of how it is written."""
    if isinstance(value, str | bytes) and len(value) <= 2 * MAX_SHOWN:
        return value
    try:
        is_small = len(repr(value)) <= MAX_SHOWN
    except ValueError:
        # An integer inside has more digits than Python writes, so it could not be stored either.
        is_small = False
    return value if is_small else preview(value)


def structural_diff(actual: Any, expected: Any) -> str | list[dict[str, Any]]:
    """Return every difference of two JSON values as {path, problem, …}, or "equal"."""
    return JsonComparison().find_problems(actual, expected) or "equal"
