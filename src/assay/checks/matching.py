"""Pairing of the items of two lists whose order does not matter: exact, and fast when it can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from assay.checks.paths import Patterns, narrowed

# Once it is certain that some item has no partner, this many more comparisons go into the diff.
BUDGET = 100_000


def identity(value: Any, ignored: Patterns, *, nan_equal: bool, blur: bool = False) -> Hashable:
    """A key that two values share exactly when they are equal, whatever the order of their lists.

    With `blur` all numbers look the same: values of different blurred keys are never within any
    tolerance of each other.
    """
    kind = type(value)
    # Loops and not comprehensions: every level of the value costs one level of Python's stack.
    if kind is list:
        rest = narrowed(ignored, 0)
        if rest is None:
            return list
        counts: Counter[Hashable] = Counter()
        for item in value:
            counts[identity(item, rest, nan_equal=nan_equal, blur=blur)] += 1
        return list, frozenset(counts.items())
    if kind is dict:
        entries = set()
        for key, item in value.items():
            rest = narrowed(ignored, key)
            if rest is not None:
                entries.add((key, identity(item, rest, nan_equal=nan_equal, blur=blur)))
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


def magnitudes(value: Any) -> list[float]:
    """The numbers in a value, in an order that does not depend on how it was written."""
    if type(value) is list:
        return [number for item in value for number in magnitudes(item)]
    if type(value) is dict:
        return [number for key in sorted(value) for number in magnitudes(value[key])]
    return [value] if type(value) in (int, float) else []


def equal_pairs(left: Sequence[Hashable], right: Sequence[Hashable]) -> dict[int, int]:
    """Positions on the left to positions on the right with the same key, each used once."""
    places: dict[Hashable, list[int]] = {}
    for position in reversed(range(len(right))):
        places.setdefault(right[position], []).append(position)
    return {position: places[key].pop() for position, key in enumerate(left) if places.get(key)}


def merge_pairs(
    left: Sequence[int],
    right: Sequence[int],
    sizes: tuple[Mapping[int, list[float]], Mapping[int, list[float]]],
    same: Callable[[int, int], bool],
) -> dict[int, int]:
    """Pairs found by one walk along both sides in order of size: a good start for a matching."""
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
