"""Marks of saved values: found everywhere, filled with values or their text."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assay.submissions.declarative.expectations import fill, fill_text, find_saved_names
from tests.conftest import json_values


def test_marks_are_found_in_keys_and_depths() -> None:
    structure = {"a{{saved:k}}": ["x", {"b": "{{saved: deep }}"}], "n": 1}
    assert set(find_saved_names(structure)) == {"k", "deep"}


def test_a_mark_alone_is_the_value_and_within_text_its_text() -> None:
    saved = {"id": 7, "flag": True, "name": "Ada", "list": [1]}
    assert fill("{{saved:id}}", saved) == 7
    assert fill({"{{saved:name}}": ["{{saved:list}}"]}, saved) == {"Ada": [[1]]}
    assert (
        fill_text("/t/{{saved:id}}?{{saved:flag}}-{{saved:none}}", saved)
        == "/t/7?true-{{saved:none}}"
    )


@given(json_values, json_values)
def test_filling_changes_marks_and_nothing_else(structure: Any, saved: Any) -> None:
    names = set(find_saved_names(structure))
    if not names:
        assert fill(structure, {"x": saved}) == structure
    assert fill({"k": ["{{saved:x}}", structure]}, {"x": saved})["k"][0] == saved


@given(st.text(), st.integers())
def test_a_filled_text_has_no_mark_left(text: str, value: int) -> None:
    filled = fill_text(f"{text}{{{{saved:x}}}}", {"x": value})
    assert filled.endswith(json.dumps(value))
    assert "{{saved:x}}" not in filled
