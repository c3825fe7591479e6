"""The pairing of items: as large as any, from every start."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from assay.checks.json_diff import Matching, make_identity, pair_equals

sizes = st.integers(0, 5)


@given(sizes, sizes, st.data())
def test_no_pairing_is_larger(left: int, right: int, data: st.DataObject) -> None:
    edges = data.draw(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4))))
    start: dict[int, int] = {}
    for one, other in data.draw(st.permutations(sorted(edges))):
        free = one not in start and other not in start.values()
        if free and one < left and other < right and data.draw(st.booleans()):
            start[one] = other
    matching = Matching(range(left), range(right), lambda *pair: pair in edges, start)
    places = [*range(right), *[-1] * left]
    largest = max(
        sum((one, other) in edges for one, other in enumerate(order))
        for order in permutations(places, left)
    )
    assert len(matching.pairs) == len(set(matching.pairs.values())) == largest
    assert set(matching.pairs.items()) <= edges
    assert matching.complete


@given(st.lists(st.integers(0, 3)), st.lists(st.integers(0, 3)))
def test_equal_pairs_use_every_place_once(left: list[int], right: list[int]) -> None:
    pairs = pair_equals(left, right)
    assert all(left[one] == right[other] for one, other in pairs.items())
    assert len(set(pairs.values())) == len(pairs)
    assert len(pairs) == sum(min(left.count(item), right.count(item)) for item in set(left))


def test_blurred_numbers_look_the_same_and_nothing_else_does() -> None:
    def blurred(value: object) -> object:
        return make_identity(value, (), nan_equal=False, blur=True)

    assert blurred([{"a": 1}, 2.5]) == blurred([7, {"a": -3.0}])
    different = [1, True, "1", None, [1], [1, 1], {"a": 1}, {"b": 1}, {"a": "1"}, b"1"]
    assert len({blurred(value) for value in different}) == len(different)
