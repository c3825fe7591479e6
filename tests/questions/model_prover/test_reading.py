"""What a reader may answer: read with care, sent back with words that help."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.model import Question
from assay.questions.model_prover.reading import (
    ProgramClaim,
    ReaderClaim,
    answer_schema,
    read_answer,
)
from assay.questions.proofs.claims import Relation
from assay.questions.verdict.stems import StemKind
from tests.conftest import json_values
from tests.questions.model_prover.scripted import program, reading

QUESTION = Question(
    "q", "Which parameter of `Field`?", {"A": "title", "B": "caption", "C": "None of the above"}
)
PARAMETER = {"kind": "parameter", "subject": "pydantic.Field", "value": "title"}
FULL = reading(("A", [PARAMETER]), program("B"))


def read(output: Any) -> Any:
    return read_answer(output, QUESTION, ["A", "B"])


def test_an_answer_is_read_in_every_shape_that_models_give_it() -> None:
    by_letter = {"asks": "one_true", "options": {"A": [PARAMETER], "b": program("B")[1]}}
    for output in (
        FULL,
        by_letter,
        json.dumps(FULL),
        f"<think>Hm.</think>\n{json.dumps(FULL)}",
        f"Here it is:\n```json\n{json.dumps(FULL)}\n```\n",
    ):
        found = read(output)
        assert found.problem_text() == ""
        assert found.asks is StemKind.ONE_TRUE
        assert {k: [one.kind for one in v] for k, v in found.claims.items()} == {
            "A": ["parameter"],
            "B": ["program"],
        }


@pytest.mark.parametrize("letter", ["a", " A ", "Option A", "A)", "option a", '"A"'])
def test_letters_are_understood(letter: str) -> None:
    assert "A" in read(reading((letter, []), program("B"))).claims


def test_a_relation_that_is_missing_is_the_weakest() -> None:
    given: Any = dict(program("B")[1][0])
    del given["relation"]
    found = read(reading(("A", [PARAMETER]), ("B", [given])))
    assert [found.claims[one][0].relation for one in "AB"] == [Relation.NECESSARY] * 2
    premise = read(reading(("A", [{**PARAMETER, "relation": "premise"}]), program("B")))
    assert premise.claims["A"][0].relation is Relation.NECESSARY


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("no json", "is not a JSON object"),
        ("3", "must be an object with `asks` and `options`"),
        ([], "must be an object"),
        ({**FULL, "asks": "two"}, "asks: must be one of one_true, one_false"),
        (reading(("F", []), program("B"), ("A", [])), "there is no option"),
        (reading(("A", [{"kind": "guess"}]), program("B")), "options[0].claims[0]: Input tag"),
        (reading(("A", [{**PARAMETER, "key": "A"}]), program("B")), "key: Extra inputs"),
        (reading(("A", [{"kind": "parameter"}]), program("B")), "the schema of parameter is {"),
        (reading(("A", [{**PARAMETER, "subject": "a b"}]), program("B")), "write a dotted name"),
        (reading(("A", [PARAMETER] * 4), program("B")), "a list of at most 3 claims"),
        (reading(("A", program("A")[1] * 2), program("B")), "at most one of them is a program"),
        (reading(program("B")), "option A has no entry"),
    ],
)
def test_what_is_wrong_is_said_so_that_it_can_be_repaired(output: Any, said: str) -> None:
    assert said in read(output).problem_text()


def test_one_faulty_option_does_not_cost_the_others() -> None:
    found = read(reading(("A", [{"kind": "guess"}]), program("B")))
    assert list(found.claims) == ["B"]
    assert list(found.problems) == ["A"]


def test_the_sentence_of_a_program_is_its_statement() -> None:
    assert ProgramClaim(says=" It\n holds. ").statement == "It holds"


@given(json_values)
def test_whatever_the_answer_is_it_is_claims_or_a_reason(output: Any) -> None:
    found = read(output)
    assert found.claims.keys() == {"A", "B"} or found.problem_text()


@given(st.text())
def test_whatever_the_text_is_it_is_claims_or_a_reason(output: str) -> None:
    assert read(output).problem_text()


def test_the_schema_that_is_sent_is_short_and_has_the_fields_of_every_kind() -> None:
    schema = answer_schema()
    assert schema["title"] == "ReaderAnswer"
    text = json.dumps(schema)
    assert len(text) < 1_500
    assert '"description"' not in text
    claim = schema["properties"]["options"]["items"]["properties"]["claims"]["items"]
    kinds = {one.model_fields["kind"].default: one for one in get_args(get_args(ReaderClaim)[0])}
    assert set(claim["properties"]["kind"]["enum"]) == kinds.keys()
    for kind, one in kinds.items():
        needed = {name for name, field in one.model_fields.items() if field.is_required()}
        assert needed <= claim["properties"].keys(), kind
    assert claim["properties"]["subject"] == {"type": "string"}
    assert claim["properties"]["value"] == {}
    assert {"says", "sketch", "relation", "parameter"} <= claim["properties"].keys()
