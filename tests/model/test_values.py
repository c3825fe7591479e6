"""Values survive being written and read, whatever they are."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from assay.model import values
from tests.conftest import keys, scalars, values_and_bytes


class Holder(BaseModel):
    value: values.Value


def same(left: Any, right: Any) -> bool:
    """Equal in value and type: 1, 1.0 and True are three things, and -0.0 is not 0.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, float):
        return repr(left) == repr(right)
    return bool(left == right)


@given(values_and_bytes)
def test_text_round_trip_is_lossless(value: Any) -> None:
    text = values.encode_value(value)
    assert text.isascii()
    assert "\n" not in text
    assert same(values.decode_value(text), value)
    assert same(values.decode_value(text.encode()), value)


@given(st.lists(scalars) | st.dictionaries(keys, scalars))
def test_plain_values_are_written_faster_and_just_as_well(value: Any) -> None:
    items = value if isinstance(value, list) else value.values()
    if values.are_plain(items):
        text = values.encode_value(value, is_plain=True)
        assert "\n" not in text
        assert same(values.decode_value(text.encode()), value)
    else:
        assert any(isinstance(item, float) for item in items)


@given(values_and_bytes)
def test_written_text_is_strict_json(value: Any) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    json.loads(values.encode_value(value), parse_constant=refuse)


@given(values_and_bytes)
def test_tagging_is_undone(value: Any) -> None:
    assert same(values.from_json(values.to_json(value)), value)


def test_nan_survives() -> None:
    assert math.isnan(values.decode_value(values.encode_value({"a": [math.nan]}))["a"][0])


def test_a_mebibyte_of_text_survives() -> None:
    text = "ü\ud83dx" * (1 << 18)
    assert values.decode_value(values.encode_value(text)) == text


@pytest.mark.parametrize(
    "looks_like_a_tag", [{"$bytes": "eA=="}, {"$float": "nan"}, {"$object": {"$bytes": "eA=="}}]
)
def test_nothing_of_the_users_is_taken_for_bytes(looks_like_a_tag: Any) -> None:
    assert values.decode_value(values.encode_value(looks_like_a_tag)) == looks_like_a_tag
    assert values.encode_value(looks_like_a_tag) != values.encode_value(b"x")


@pytest.mark.parametrize("never_written", ['{"$bytes":5}', '{"$bytes":"?"}', '{"$float":"1"}'])
def test_a_tag_that_was_never_written_is_refused(never_written: str) -> None:
    with pytest.raises(ValueError):
        values.decode_value(never_written)


@given(values_and_bytes)
def test_pydantic_field_round_trip(value: Any) -> None:
    assert same(Holder(value=value).model_dump()["value"], value)
    try:
        text = Holder(value=value).model_dump_json()
    except ValueError:
        # pydantic cannot write a lone surrogate; `encode` can, and is what Assay uses.
        assert any(0xD800 <= ord(letter) < 0xE000 for letter in str(value)) or "ud" in repr(value)
    else:
        assert same(Holder.model_validate_json(text).value, value)


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"a": [1, {2}]}, r"\$\.a\[1\]: set"),
        ({"a": {3: 4}}, r"\$\.a: the key 3"),
        ((1, 2), r"\$: tuple"),
        (object(), r"\$: object"),
    ],
)
def test_what_is_no_value_is_refused_with_its_place(value: Any, place: str) -> None:
    with pytest.raises(ValidationError, match=place):
        Holder(value=value)


def test_what_is_nested_too_deeply_is_refused_and_what_is_accepted_can_be_written() -> None:
    value: Any = 1
    for _ in range(values.MAX_DEPTH):
        value = [value]
    assert values.decode_value(values.encode_value(Holder(value=value).value)) == value
    with pytest.raises(ValidationError, match="levels deep"):
        Holder(value=[value])


@given(values_and_bytes, values_and_bytes)
def test_fingerprints_tell_values_apart(left: Any, right: Any) -> None:
    alike = values.encode_value(left) == values.encode_value(right)
    assert alike <= (values.compute_fingerprint(left) == values.compute_fingerprint(right))


def test_fingerprint_does_not_depend_on_the_order_of_keys() -> None:
    assert values.compute_fingerprint({"a": 1, "b": 2}) == values.compute_fingerprint(
        {"b": 2, "a": 1}
    )
    assert values.compute_fingerprint({"a": 1}) != values.compute_fingerprint({"a": "1"})
    assert values.compute_fingerprint(b"x") != values.compute_fingerprint("x")
