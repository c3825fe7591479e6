"""The syntax of paths."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.checks.json_paths import Wildcard, format_path, narrow, parse_patterns
from assay.errors import InputError

keys = st.text() | st.sampled_from(["$", "*", "a.b", "[0]", '"', "", "0", "$ref", "a b"])
paths = st.lists(keys | st.integers(0, 10**6), min_size=1, max_size=5).map(tuple)


@given(paths)
def test_the_text_of_a_path_is_read_back(path: tuple[str | int, ...]) -> None:
    assert parse_patterns("ignore", format_path(path)) == (path,)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("items[*].id", ("items", Wildcard.ITEM, "id")),
        ("meta.*", ("meta", Wildcard.KEY)),
        ("*[0].*.x", (Wildcard.KEY, 0, Wildcard.KEY, "x")),
        ("[*][*]", (Wildcard.ITEM, Wildcard.ITEM)),
        ('["a.b"].c', ("a.b", "c")),
        ('a["\\u00e9"]', ("a", "é")),
        ("$.a", ("a",)),
        ("$[2]", (2,)),
        ("$ref", ("$ref",)),
    ],
)
def test_patterns(text: str, pattern: tuple[Any, ...]) -> None:
    assert parse_patterns("ignore", text) == (pattern,)
    assert parse_patterns("ignore", [text, text]) == (pattern, pattern)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "$",
        ".",
        "a.",
        ".a",
        "a..b",
        "a[",
        "a[]",
        "a[x]",
        "a*",
        "*a",
        "a]b",
        '["a]',
        "[-1]",
        "$.",
    ],
)
def test_what_is_no_path_is_the_users_error(text: str) -> None:
    with pytest.raises(InputError, match="option 'ignore'"):
        parse_patterns("ignore", text)


@pytest.mark.parametrize("given_value", [1, None, {"a": 1}, b"a", [1], [None]])
def test_what_is_no_list_of_texts_is_the_users_error(given_value: Any) -> None:
    with pytest.raises(InputError, match="path"):
        parse_patterns("ignore", given_value)


def test_a_quoted_key_that_json_refuses_is_the_users_error() -> None:
    with pytest.raises(InputError, match="not a quoted key"):
        parse_patterns("ignore", '["\\x"]')


def test_patterns_are_narrowed_step_by_step() -> None:
    patterns = parse_patterns("ignore", ["items[*].id", "items[0].name", "meta.*"])
    items = narrow(patterns, "items")
    assert items == ((Wildcard.ITEM, "id"), (0, "name"))
    assert narrow(items, 0) == (("id",), ("name",))
    assert narrow(items, 1) == (("id",),)
    assert narrow((("id",),), "id") is None
    assert narrow(patterns, "other") == ()
    assert narrow(((Wildcard.KEY,),), 0) == ()
    assert narrow(((Wildcard.ITEM,),), "key") == ()
