"""A model's proof passes the same checks as a person's, and its author is told what is wrong."""

from __future__ import annotations

import asyncio

from assay.questions.model import Question
from assay.questions.model_prover.engineer_tools import TrialResult, attempt
from assay.questions.model_prover.tasks import proof_of, read_tasks
from assay.questions.proof_runners import TargetRunner
from assay.sandbox import ProofRunner, Target, environment
from tests.questions.model_prover.test_tasks import QUESTION, task

GOOD = '''\
"""`Field` takes `title`."""

import inspect

import pydantic

DISPUTED = "title"


def test_option_A_holds():
    assert DISPUTED in inspect.signature(pydantic.Field).parameters


def test_option_A_fails():
    assert DISPUTED not in inspect.signature(pydantic.Field).parameters


def test_option_A_control():
    assert "default" in inspect.signature(pydantic.Field).parameters
'''
TASKS = read_tasks([task(), task("B")], QUESTION)


def tried(*sources: str) -> list[TrialResult]:
    """What comes of these proofs of option A, all tried by one runner."""

    async def run() -> list[TrialResult]:
        proofs_run = ProofRunner(environment(Target(current=True)))
        runner = TargetRunner(proofs_run, modules=("pydantic",))
        try:
            proofs = [proof_of(TASKS.tasks[0], TASKS, source) for source in sources]
            return [await attempt(QUESTION, proof, runner) for proof in proofs]
        finally:
            await proofs_run.close()

    return asyncio.run(run())


def test_a_proof_is_linted_run_and_twinned_before_it_counts() -> None:
    broken = GOOD.replace("DISPUTED not in", "DISPUTED in")
    vacuous = GOOD.replace("DISPUTED in inspect", "DISPUTED and 'alias' in inspect").replace(
        "DISPUTED not in inspect", "DISPUTED and 'alias' not in inspect"
    )
    good, both, empty, brought, other, wrong, loud = tried(
        GOOD,
        broken,
        vacuous,
        vacuous.replace("'alias'", "'title'"),
        GOOD.replace("option_A", "option_B"),
        "def test_x(): assert True",
        GOOD.replace("    assert DISPUTED in", "    print('seen')\n    assert DISPUTED in"),
    )
    assert good.is_settled
    assert good.feedback.startswith("settled: the claim is true\ntest_option_A_holds: passed")
    assert not both.is_settled
    assert "both sides" in both.feedback
    assert not empty.is_settled
    assert "vacuous" in empty.feedback
    assert not brought.is_settled
    assert "brings the disputed value along: `title`" in brought.feedback
    assert other.trial is None
    assert "name option B" in other.feedback
    assert wrong.trial is None
    assert "refused" in wrong.feedback
    assert "  | seen" in loud.feedback


def test_no_proof_is_tried_for_an_option_that_is_derived() -> None:
    proof = proof_of(TASKS.tasks[0], TASKS, GOOD)
    derived = Question("q", "Which?", {"A": "None of the above", "B": "x"})
    found = asyncio.run(attempt(derived, proof, TargetRunner(None)))  # type: ignore[arg-type]
    assert found.trial is None
    assert "derived" in found.feedback
