"""Which provers are asked about which options, before anything is run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

from assay.questions.examination import OUTDATED, examine
from assay.questions.model import Question
from assay.questions.proof_runners import Attempt, TargetRunner
from assay.questions.proofs.claims import MODELLED, Claim, Proof, Relation
from assay.questions.proofs.store import StoredProof
from assay.questions.verification import limit_model

QUESTION = Question("q", "Which one is it?", {"A": "this", "B": "that", "C": "the other"})


class Prover:
    """Stands for one that costs something, and knows nothing."""

    name = MODELLED

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def prove(
        self, question: Question, options: Sequence[str], runner: TargetRunner
    ) -> Attempt:
        self.asked += options
        return Attempt()


def outdated(option: str) -> StoredProof:
    """A proof that a person wrote for another wording."""
    claim = Claim(option, "it is so", Relation.EQUIVALENT)
    return StoredProof(Proof(claim, f"test_option_{option}.py", ""), is_current=False, expected={})


def ask(*stored: StoredProof, key: str = "A") -> tuple[list[str], dict[str, str]]:
    prover = Prover()
    runner = TargetRunner(cast("Any", None), provers=(prover,))
    limit = limit_model(QUESTION, key)
    found = asyncio.run(examine(QUESTION, stored, runner, is_enough=limit))
    return prover.asked, {option: one.reason for option, one in found.findings.items()}


def test_a_model_is_asked_about_what_is_open() -> None:
    assert ask()[0] == ["A", "B", "C"]


def test_a_model_is_not_asked_where_only_unproven_can_come_of_it() -> None:
    """The proof of the key waits for the person who wrote it; no finding on others replaces it."""
    asked, reasons = ask(outdated("A"))
    assert asked == []
    assert reasons["A"] == OUTDATED
    # Where it is one of a rival, the key may still fail.
    assert ask(outdated("B"))[0] == ["A", "C"]
