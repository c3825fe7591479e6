"""JSON with tolerance, ignored paths and unordered lists; JSON Schema."""

from __future__ import annotations

import json
import math
import socket
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.checks import ABSENT, run_check, structural_diff
from assay.errors import InputError

numbers = st.integers() | st.floats(allow_nan=False)
scalars = st.none() | st.booleans() | numbers | st.text()
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def run(actual: Any, expected: Any, **options: Any) -> Any:
    """The diff of a comparison of values, "equal" if it passed."""
    result = run_check("json", actual, expected, parse=False, **options)
    assert result.is_correct is (result.diff == "equal")
    return result.diff


def shuffled(value: Any, data: st.DataObject) -> Any:
    """The same value with every list and every object in another order."""
    if isinstance(value, list):
        return data.draw(st.permutations([shuffled(item, data) for item in value]))
    if isinstance(value, dict):
        entries = data.draw(st.permutations(list(value.items())))
        return {key: shuffled(item, data) for key, item in entries}
    return value


@given(json_values, st.booleans())
def test_a_value_equals_itself_and_its_text(value: Any, unordered: bool) -> None:
    copy = json.loads(json.dumps(value))
    assert run(copy, value, unordered=unordered) == "equal"
    if isinstance(value, list | dict) and not _has_infinity(value):
        text = json.dumps(value)
        assert run_check("json", text, value, unordered=unordered).diff == "equal"
        assert run_check("json", text.encode(), text, unordered=unordered).diff == "equal"


def _has_infinity(value: Any) -> bool:
    return "Infinity" in json.dumps(value)


@given(json_values, st.data())
def test_unordered_does_not_see_the_order(value: Any, data: st.DataObject) -> None:
    other = shuffled(value, data)
    assert run(other, value, unordered=True) == "equal"
    assert run(other, value, unordered=True, absolute=0.5) == "equal"


@given(json_values, json_values)
def test_ordered_and_unordered_agree_on_what_is_equal(one: Any, other: Any) -> None:
    ordered, unordered = run(one, other), run(one, other, unordered=True)
    if ordered == "equal":
        assert unordered == "equal"
    assert (run(other, one) == "equal") is (ordered == "equal")
    assert (run(other, one, unordered=True) == "equal") is (unordered == "equal")


@given(json_values, json_values)
def test_structural_diff_agrees_with_the_check(one: Any, other: Any) -> None:
    assert structural_diff(one, other) == run(one, other)


small = st.lists(st.integers(0, 12), max_size=5)


@given(small, small, st.integers(0, 4), st.booleans())
def test_unordered_with_tolerance_is_the_same_as_trying_every_order(
    actual: list[int], expected: list[int], tolerance: int, wrapped: bool
) -> None:
    possible = len(actual) == len(expected) and any(
        all(abs(a - e) <= tolerance for a, e in zip(order, expected, strict=True))
        for order in permutations(actual)
    )
    sides: list[list[Any]] = [actual, expected]
    if wrapped:
        sides = [[{"n": item, "list": [item, "x"]} for item in side] for side in sides]
    diff = run(*sides, unordered=True, absolute=tolerance)
    assert (diff == "equal") is possible


def test_equal_items_part_when_that_pairs_all() -> None:
    assert run([1.0, 1.1], [1.0, 0.9], unordered=True, absolute=0.1) == "equal"


def test_a_long_chain_of_partners_is_swapped() -> None:
    count = 300
    actual = [float(number) for number in range(1, count + 1)]
    expected = [float(number) for number in range(count)]
    assert run(actual[::-1], expected, unordered=True, absolute=1) == "equal"
    diff = run(actual, [*expected[:-1], -5.0], unordered=True, absolute=1)
    assert diff != "equal"


def test_large_lists_without_partners_end_soon_and_say_so() -> None:
    actual, expected = [n + 0.5 for n in range(2_000)], [float(n) for n in range(2_000)]
    diff = run(actual, expected, unordered=True, absolute=0.25)
    assert diff == [{"path": "$", "problem": "the items cannot be paired; too many to show which"}]


@pytest.mark.parametrize(
    ("actual", "expected", "problem"),
    [
        (1, True, {"path": "$", "problem": "different type: int, not bool"}),
        (False, 0, {"path": "$", "problem": "different type: bool, not int"}),
        ("1", 1, {"path": "$", "problem": "different type: str, not int"}),
        (None, {}, {"path": "$", "problem": "different type: NoneType, not dict"}),
        ({"a": [1, 2]}, {"a": [1, 3]}, {"path": "a[1]", "problem": "different value"}),
        ([[{"x.y": "b"}]], [[{"x.y": "a"}]], {"path": '[0][0]["x.y"]'}),
        (b"a", b"b", {"path": "$", "expected": b"b", "actual": b"a"}),
    ],
)
def test_the_place_and_the_problem(actual: Any, expected: Any, problem: dict[str, Any]) -> None:
    (found,) = run(actual, expected)
    whole = {"expected": expected, "actual": actual} if problem["path"] == "$" else {}
    assert found.items() >= {**problem, **whole}.items()


def test_missing_and_unexpected_have_one_side() -> None:
    assert run({"a": 1, "b": [1]}, {"c": None, "b": [1, 2]}) == [
        {"path": "c", "problem": "missing", "expected": None},
        {"path": "b[1]", "problem": "missing", "expected": 2},
        {"path": "a", "problem": "unexpected", "actual": 1},
    ]


def test_three_equals_three_point_zero() -> None:
    assert run({"a": 3}, {"a": 3.0}) == "equal"
    assert run([3, 4], [4.0, 3.0], unordered=True) == "equal"


@pytest.mark.parametrize("unordered", [True, False])
def test_true_is_not_one(unordered: bool) -> None:
    assert run([True], [1], unordered=unordered) != "equal"
    assert run([True], [1], unordered=unordered, absolute=5) != "equal"


@pytest.mark.parametrize("unordered", [True, False])
def test_nan_equals_nan_only_when_asked(unordered: bool) -> None:
    one, other = [math.nan, 1.0], [math.nan, 1.0]
    assert run(one, other, unordered=unordered) != "equal"
    assert run(one, other, unordered=unordered, nan_equal=True) == "equal"
    assert run(one, other, unordered=unordered, nan_equal=True, absolute=0.1) == "equal"
    assert run(one, other, unordered=unordered, absolute=0.1) != "equal"


def test_tolerance_reaches_every_depth() -> None:
    assert run({"a": [{"b": 1.1}]}, {"a": [{"b": 1.0}]}, absolute=0.1) == "equal"
    assert run({"a": [110]}, {"a": [100]}, relative=0.1) == "equal"
    assert run({"a": [111]}, {"a": [100]}, relative=0.1) != "equal"


@pytest.mark.parametrize(
    ("ignore", "actual", "expected"),
    [
        ("items[*].id", {"items": [{"id": 1, "n": 2}]}, {"items": [{"id": 9, "n": 2}]}),
        ("items[*].id", {"items": [{"n": 2}]}, {"items": [{"id": 9, "n": 2}]}),
        ("items[*].id", {"items": [{"id": 1}]}, {"items": [{}]}),
        ("meta.*", {"meta": {"a": 1}}, {"meta": {"b": 2, "c": [3]}}),
        ("meta", {"meta": 1}, {}),
        ("[*]", [1, 2], []),
        (["a.b", '["c.d"]'], {"a": {"b": 1}, "c.d": 2}, {"a": {"b": 3}}),
        ("*.time", {"x": {"time": 1}, "y": {"time": 2}}, {"x": {}, "y": {"time": None}}),
    ],
)
@pytest.mark.parametrize("unordered", [True, False])
def test_ignored_places_need_neither_be_there_nor_be_equal(
    ignore: Any, actual: Any, expected: Any, unordered: bool
) -> None:
    assert run(actual, expected, unordered=unordered) != "equal"
    assert run(actual, expected, ignore=ignore, unordered=unordered) == "equal"


def test_only_the_ignored_places_are_ignored() -> None:
    actual, expected = {"a": 1, "b": {"a": 1}}, {"a": 2, "b": {"a": 2}}
    assert [found["path"] for found in run(actual, expected, ignore="a")] == ["b.a"]
    assert run([1, 2], [3, 2], ignore="[0]") == "equal"
    assert run([1, 2], [3, 4], ignore="[0]") != "equal"


def test_ignored_places_do_not_keep_unordered_items_apart() -> None:
    actual = [{"id": 1, "n": "a"}, {"id": 2, "n": "b"}]
    expected = [{"id": 7, "n": "b"}, {"id": 8, "n": "a"}]
    assert run(actual, expected, ignore="[*].id", unordered=True) == "equal"
    with pytest.raises(InputError, match="position"):
        run(actual, expected, ignore="[0].id", unordered=True)


def test_one_odd_item_of_an_unordered_list_is_shown_by_what_is_wrong_inside() -> None:
    actual = [{"id": 2, "n": "b"}, {"id": 1, "n": "x"}]
    expected = [{"id": 1, "n": "a"}, {"id": 2, "n": "b"}]
    assert run(actual, expected, unordered=True) == [
        {"path": "[1].n", "problem": "different value", "expected": "a", "actual": "x"}
    ]
    assert run([1, 2, 3], [4, 5, 1], unordered=True) == [
        {"path": "[0]", "problem": "missing", "expected": 4},
        {"path": "[1]", "problem": "missing", "expected": 5},
        {"path": "[1]", "problem": "unexpected", "actual": 2},
        {"path": "[2]", "problem": "unexpected", "actual": 3},
    ]


def test_the_number_of_equal_items_counts() -> None:
    assert run([1, 1, 2], [1, 2, 2], unordered=True) != "equal"
    assert run([1, 1], [1], unordered=True, absolute=1) != "equal"


def test_many_differences_are_counted_beyond_the_limit() -> None:
    diff = run(list(range(1_000)), list(range(1, 1_001)))
    assert len(diff) == 51
    assert diff[-1] == {"problem": "950 more differences are not listed"}


def test_large_values_are_cut_and_the_difference_stays_in_sight() -> None:
    text = "a" * 2**20
    (found,) = run([text + "x" + text], [text + "y" + text])
    assert "'" + "a" * 50 + "x" in found["actual"]
    assert "1,048,577" in found["problem"]
    assert len(str(found)) < 1_500
    (found,) = run([1], [list(range(100_000))])
    assert "characters left out" in found["expected"]


def test_an_integer_that_cannot_be_written_is_no_json() -> None:
    result = run_check("json", [10**5000], [1])
    assert result.is_correct is False
    assert "cannot be written" in result.diff


@pytest.mark.parametrize(
    "text",
    ["", "{", "nope", '{"a": 1, "a": 2}', "[NaN]", "[1e999]", "[" * 100_000, "1" * 5_000, b"\xff"],
)
def test_text_that_is_no_json_fails(text: str | bytes) -> None:
    result = run_check("json", text, [1])
    assert result.is_correct is False
    assert result.diff.startswith("not JSON: ")
    assert len(result.diff) < 400
    assert run_check("schema", text, {}).is_correct is False
    for actual in (ABSENT, "1"):
        with pytest.raises(InputError, match="is not JSON"):
            run_check("json", actual, text)


def test_values_that_are_no_json_fail() -> None:
    assert "set is neither JSON" in run_check("json", {"a": {1}}, {"a": 1}).diff
    with pytest.raises(InputError, match="neither JSON"):
        run_check("json", 1, (1, 2))


def test_text_is_a_string_when_it_is_not_parsed() -> None:
    assert run_check("json", "1", 1).is_correct is True
    assert run_check("json", "1", 1, parse=False).is_correct is False
    assert run_check("json", "abc", "abc", parse=False).is_correct is True
    assert run_check("json", '"abc"', '"abc"').is_correct is True
    assert run_check("schema", "abc", {"type": "string"}, parse=False).is_correct is True


def nested(depth: int, inside: Any) -> Any:
    value = inside
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("options", [{}, {"unordered": True}])
def test_deep_values_are_compared_or_refused_never_a_crash(options: dict[str, Any]) -> None:
    assert run(nested(190, 1), nested(190, 1.0), **options) == "equal"
    (found,) = run(nested(190, 1), nested(190, 2), **options)
    assert found["path"] == "[0]" * 190
    assert "levels deep" in run(nested(5_000, 1), nested(10, 1), **options)
    result = run_check(
        "json", nested(190, 1), nested(190, 2), unordered=True, absolute=0.5, parse=False
    )
    assert result.is_correct is not True


def test_nested_unordered_lists_are_not_compared_again_at_every_level() -> None:
    # Each level once more would be more comparisons than a machine can make in a year.
    (found,) = run(nested(60, 1.0), nested(60, 2.0), unordered=True, absolute=0.5)
    assert found["path"] == "[0]" * 60
    wide = run(
        [[[[1.0, 5.0]] * 4] * 4] * 4, [[[[1.1, 5.1]] * 4] * 4] * 4, unordered=True, relative=0.2
    )
    assert wide == "equal"


SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "ages": {"items": {"minimum": 0}}},
    "required": ["name"],
}


def test_a_valid_value_passes_as_value_and_as_text() -> None:
    assert run_check("schema", {"name": "a", "ages": [1]}, SCHEMA).diff == "valid"
    assert run_check("schema", '{"name": "a"}', SCHEMA).is_correct is True
    assert run_check("schema", 1, True).is_correct is True
    assert run_check("schema", 1, False).is_correct is False


def test_the_diff_says_where_and_what() -> None:
    diff = run_check("schema", {"name": 1, "ages": [1, -2]}, SCHEMA).diff
    assert list(diff) == ["$.ages[1]", "$.name"]
    assert "minimum" in diff["$.ages[1]"]
    assert "string" in diff["$.name"]
    assert run_check("schema", {}, SCHEMA).diff == {"$": "'name' is a required property"}


def test_two_problems_in_one_place_are_both_said() -> None:
    diff = run_check("schema", 5, {"type": "string", "maximum": 3}).diff
    assert "string" in diff["$"]
    assert "maximum" in diff["$"]


def test_many_and_large_violations_are_bounded() -> None:
    diff = run_check("schema", ["x" * 10_000] * 1_000, {"items": {"type": "integer"}}).diff
    assert len(diff) == 51
    assert diff["…"] == "950 more places are not listed"
    assert all(len(message) < 600 for message in diff.values())


def test_the_draft_is_the_one_the_schema_names() -> None:
    # In draft 4 `exclusiveMinimum` is a flag beside `minimum`; from draft 6 on it is a number.
    old = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "minimum": 1,
        "exclusiveMinimum": True,
    }
    assert run_check("schema", 1, old).is_correct is False
    with pytest.raises(InputError, match="not a JSON Schema"):
        run_check("schema", 1, {"minimum": 1, "exclusiveMinimum": True})
    # `prefixItems` is new in 2020-12, the default.
    assert run_check("schema", [1], {"prefixItems": [{"type": "string"}]}).is_correct is False


@pytest.mark.parametrize("actual", [1, ABSENT])
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "text"},
        {"required": "name"},
        {"pattern": "("},
        {"$schema": "https://example.org/draft-99"},
        {"const": {1, 2}},
        [],
        "{}",
        None,
    ],
)
def test_an_invalid_schema_is_the_users_error(schema: Any, actual: Any) -> None:
    with pytest.raises(InputError, match="check 'schema'"):
        run_check("schema", actual, schema)


@pytest.fixture
def impatient_sockets() -> Iterator[None]:
    """Whoever does connect gives up soon, so that the test fails and does not hang."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(0.2)
    yield
    socket.setdefaulttimeout(before)


@pytest.mark.usefixtures("impatient_sockets")
def test_a_reference_never_reaches_the_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        with pytest.raises(InputError, match="nothing is fetched"):
            run_check("schema", 1, {"$ref": address})
        with pytest.raises(TimeoutError):
            server.accept()


def test_references_inside_the_schema_and_to_its_draft_work() -> None:
    inner = {"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}
    assert run_check("schema", 1, inner).is_correct is True
    assert run_check("schema", "x", inner, parse=False).is_correct is False
    meta = {"$ref": "https://json-schema.org/draft/2020-12/schema"}
    assert run_check("schema", {"type": "text"}, meta).is_correct is False


@pytest.mark.parametrize(("actual", "schema"), [(1, {"$ref": "#"}), (10**400, {"multipleOf": 0.5})])
def test_what_the_validator_cannot_decide_is_no_judgement(actual: Any, schema: Any) -> None:
    result = run_check("schema", actual, schema)
    assert result.is_correct is None
    assert result.diff
