"""What an analyst may propose: read with care, sent back with words that help."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.model import Question
from assay.questions.model_prover.tasks import (
    TaskType,
    VerificationTask,
    claim_of,
    proof_of,
    read_tasks,
)
from assay.questions.proofs.claims import MODELLED, Relation
from tests.conftest import json_values

QUESTION = Question(
    "q", "Which parameter?", {"A": "title", "B": "caption", "C": "None of the above"}
)


def task(option: str = "A", **fields: Any) -> dict[str, Any]:
    return {
        "option": option,
        "type": "positive",
        "claim": "`Field` takes `title`.",
        "hypothesis": "the signature has it",
        "code_snippet_hint": "Field(title='x')",
        **fields,
    }


def test_tasks_are_read_in_every_shape_that_models_give_them() -> None:
    tasks = [task(), task("B", type="negative")]
    for output in (
        tasks,
        {"claims": tasks},
        json.dumps(tasks),
        f"Here they are:\n```json\n{json.dumps({'tasks': tasks})}\n```\n",
    ):
        read = read_tasks(output, QUESTION)
        assert read.error_text() == ""
        assert [one.option for one in read.tasks] == ["A", "B"]
        assert read.tasks[1].type is TaskType.NEGATIVE


@pytest.mark.parametrize("letter", ["a", " A ", "Option A", "A)", "option a", '"A"'])
def test_letters_are_understood(letter: str) -> None:
    assert read_tasks([task(letter), task("B")], QUESTION).tasks[0].option == "A"


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("no json", "the claims are not JSON"),
        ("3", "must be a JSON list"),
        ([], "the list of claims is empty"),
        ([3, task(), task("B")], "claims[0]: must be an object, not 3"),
        ([task("F"), task(), task("B")], "no option 'F'; there are A, B, C"),
        ([task(), task("B", type="true")], "should be 'positive' or 'negative', not \"true\""),
        ([task(), task("B", claim=" ")], "claims[1].claim: string should have at least 1"),
        ([task(), {"option": "B"}], "claims[1].claim: field required"),
        ([task(), task("B", key="A")], "claims[1].key: extra inputs are not permitted"),
        ([task()], "option B has no claim"),
        ([task(), *(task("B", claim=c) for c in "abcde")], "option B has 5 claims; at most 4"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_so_that_it_can_be_repaired(output: Any, said: str) -> None:
    assert said in read_tasks(output, QUESTION).error_text()


def test_one_faulty_option_does_not_cost_the_others() -> None:
    read = read_tasks([task(), task("B", type="maybe")], QUESTION)
    assert [one.option for one in read.tasks] == ["A"]
    reasons = read.reasons(["A", "B"])
    assert list(reasons) == ["B"]
    assert "claims[1].type" in reasons["B"]


def test_options_that_need_no_claim_are_passed_over() -> None:
    read = read_tasks([task("B"), task("C")], QUESTION, ["B"])
    assert [one.option for one in read.tasks] == ["B"]
    assert read.problems == ()


@given(json_values)
def test_whatever_the_output_is_it_is_tasks_or_a_reason(output: Any) -> None:
    read = read_tasks(output, QUESTION)
    assert set(read.reasons(["A", "B"])) == {"A", "B"} - {one.option for one in read.tasks}
    assert all(read.reasons(["A", "B"]).values())


@given(st.text())
def test_whatever_the_text_is_it_is_tasks_or_a_reason(output: str) -> None:
    assert read_tasks(output, QUESTION).error_text()


def test_the_type_decides_nothing_and_the_relation_is_cautious() -> None:
    one = VerificationTask.model_validate(task(type="negative"))
    claim = claim_of(one, is_alone=True)
    assert claim.statement == "`Field` takes `title`"
    assert claim.relation is Relation.EQUIVALENT
    assert claim.kind == MODELLED
    assert claim_of(one, is_alone=False).relation is Relation.NECESSARY
    sufficient = one.model_copy(update={"relation": Relation.SUFFICIENT})
    assert claim_of(sufficient, is_alone=False).relation is Relation.SUFFICIENT


def test_the_same_task_twice_is_one_task() -> None:
    assert len(read_tasks([task(), task("a"), task("B")], QUESTION).tasks) == 2


def test_each_task_of_an_option_has_a_file_of_its_own() -> None:
    read = read_tasks([task(), task(claim="another"), task("B")], QUESTION)
    files = [proof_of(one, read, "source").file for one in read.tasks]
    assert files == ["test_option_A.py", "test_option_A_2.py", "test_option_B.py"]
    assert {proof_of(one, read, "source").prover for one in read.tasks} == {MODELLED}
