"""What is searched in a record, and what it can be filtered by."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assay.view.record_text import find_group, find_labels, fold, gather_text
from tests.conftest import values_and_bytes
from tests.runs.making import make_record


def packed(detail: Any = None, case: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    record = make_record("an/id", "F", reason="why", detail=detail, **more).pack()
    record["reports"][0]["case"] = case or {}
    return record


def test_every_text_and_number_is_searched_once() -> None:
    record = packed({"deep": [{"er": "Straße"}, 42, True, "why"]}, {"q": b"what?"})
    text, is_cut = gather_text(record)
    assert text.split("\n") == [
        "an/id",
        "why",
        "failed",
        "what?",
        "strasse",
        "42",
        "a",
        "1",
        "b",
        "2",
    ]
    assert not is_cut


def test_conversations_are_searched() -> None:
    text, _ = gather_text(packed(), [{"attempts": [{"turns": [{"answer": "Bonjour"}]}]}])
    assert "bonjour" in text.split("\n")


def test_a_long_text_is_cut_and_says_so() -> None:
    text, is_cut = gather_text(packed({"long": "x" * 50}), most=30)
    assert (len(text), is_cut) == (30, True)
    text, is_cut = gather_text(packed({f"k{n}": f"text {n}" for n in range(9)}), most=60)
    assert is_cut
    assert "text 8" not in text


@given(values_and_bytes, st.integers(1, 200))
def test_any_value_has_a_text_that_sqlite_takes(value: Any, most: int) -> None:
    text, _ = gather_text(packed(value), [value], most)
    assert "\0" not in text
    text.encode()
    # Folding may make a text longer: one character becomes up to three.
    assert len(text) <= 3 * most + 20


@given(st.text(), st.text(), st.text())
def test_a_part_of_a_text_is_a_part_of_its_folded_form(before: str, part: str, after: str) -> None:
    whole = fold(f"{before} {part} {after}")
    assert fold(part) in whole or "\0" in part
    assert fold(part.upper()) == fold(part.upper().lower()) or not part.isascii()


def test_labels_are_short_texts_of_the_detail_and_own_labels() -> None:
    detail = {"type": "fix_error", "verdict": "Valid", "question": "no label", "checkpoint": 3}
    record = packed(detail, {"labels": ["slow", "slow", 7], "tags": "one"})
    assert find_labels(record) == ["type: fix_error", "verdict: Valid", "slow", "one"]
    assert find_labels(packed()) == ["type: Core"]
    assert find_group(packed()) == "g"


def test_what_cannot_be_shown_as_it_is_is_no_label() -> None:
    long, hidden = "x" * 200, "a\u202eb"
    assert find_labels(packed({"type": long}, {"labels": [hidden, "", "line\nbreak"]})) == []
