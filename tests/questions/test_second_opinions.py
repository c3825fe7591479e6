"""What a run without a model makes of proofs that a model wrote."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from assay.questions.examination import Examination
from assay.questions.model import Question
from assay.questions.proofs.claims import MODELLED, PERSON, Claim, Proof, Relation
from assay.questions.proofs.proving import Trial
from assay.questions.second_opinions import Doubts, review_stored
from assay.questions.verdict.option_findings import Settled, Truth, combine
from assay.questions.verdict.stems import StemKind

QUESTION = Question("q", "Which one is it?", {"A": "this", "B": "that"})
UNCLEAR = Question("q", "Only one of them cannot be said to be it.", {"A": "this", "B": "that"})


def trial(truth: Truth, prover: str = MODELLED, **more: Any) -> Trial:
    claim = Claim("A", "it is so", Relation.EQUIVALENT, **more)
    return Trial(Proof(claim, "test_option_A.py", "", prover), Settled(claim, truth))


def review(*trials: Trial, question: Question = QUESTION, **more: Any) -> Doubts:
    found = {"A": combine(one.settled for one in trials)}
    examination = Examination({"A": trials}, found, **more)
    return asyncio.run(review_stored(question, examination, ["A"]))


@pytest.mark.parametrize(
    ("truth", "agreed", "is_doubted"),
    [
        (Truth.FALSE, "", True),
        (Truth.FALSE, "equivalent", False),
        (Truth.FALSE, "necessary", False),
        # What was agreed to says nothing of the option if the claim is false, as on a new release.
        (Truth.FALSE, "sufficient", True),
        (Truth.TRUE, "sufficient", False),
        (Truth.TRUE, "necessary", True),
        (Truth.TRUE, "", True),
    ],
)
def test_a_finding_counts_in_the_direction_that_was_agreed_to(
    truth: Truth, agreed: str, is_doubted: bool
) -> None:
    doubts = review(trial(truth, agreed=agreed, reviewer="m"))
    assert doubts.options.keys() == ({"A"} if is_doubted else set())


def test_one_proof_that_was_reviewed_or_is_not_a_models_is_enough() -> None:
    assert not review(trial(Truth.FALSE), trial(Truth.FALSE, agreed="necessary")).options
    assert not review(trial(Truth.FALSE), trial(Truth.FALSE, PERSON)).options
    assert not review(trial(Truth.FALSE, "lexical")).options


def test_how_a_model_reads_an_unclear_question_needs_a_second_opinion_too() -> None:
    def read(*agreed: str, question: Question = UNCLEAR) -> bool:
        claims = [trial(Truth.FALSE, agreed="equivalent", agreed_asks=one) for one in agreed]
        return review(*claims, question=question, asks=StemKind.ONE_FALSE).asks

    assert read("")
    assert read("one-true")
    assert not read("", "one-false")
    # Where the words of the question leave no doubt, they count.
    assert not read("", question=QUESTION)
