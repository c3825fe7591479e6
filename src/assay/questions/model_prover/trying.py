"""Tries what a model wrote as a proof exactly as a person's is tried, and words what came of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.errors import InputError
from assay.questions.examining import Bench
from assay.questions.model import Question
from assay.questions.proofs.claims import Proof
from assay.questions.proofs.intake import check_option, check_source
from assay.questions.proofs.proving import Trial, try_proof
from assay.questions.verdict.findings import Truth
from assay.sandbox import Status

_OUTPUT = 1_500
# Where an object lies in memory differs from run to run, and what is asked must not.
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")


@dataclass(frozen=True)
class Attempted:
    """A proof, what came of it, and `feedback`: what its author needs to know to do better.

    Without a trial it was refused before it was run.
    """

    proof: Proof
    feedback: str
    trial: Trial | None = None

    @property
    def is_settled(self) -> bool:
        """Whether the proof decides its claim, one way or the other."""
        return self.trial is not None and self.trial.settled.truth in (Truth.TRUE, Truth.FALSE)


async def attempt(question: Question, proof: Proof, bench: Bench) -> Attempted:
    """Lint, control, both sides and the twin, as for every proof; nothing is stored."""
    try:
        check_option(question, proof.claim.option)
        check_source(proof)
    except InputError as error:
        return Attempted(proof, error.what)
    trial = await try_proof(proof, bench.runner, modules=bench.modules, question=question)
    return Attempted(proof, _feedback(trial), trial)


def _feedback(trial: Trial) -> str:
    truth = trial.settled.truth
    if truth in (Truth.TRUE, Truth.FALSE):
        head = f"settled: the claim is {truth.value}"
    else:
        head = f"not settled: {trial.settled.reason}"
    return without_addresses("\n".join([head, *_tests(trial)]))


def without_addresses(text: str) -> str:
    """A text of a test as it is in every run."""
    return _ADDRESS.sub("0x…", text)


def _tests(trial: Trial) -> list[str]:
    """Each test of the proof: how it ended, and why if it did not pass."""
    lines = []
    for test in trial.outcome.tests if trial.outcome else ():
        lines.append(f"{test.name}: {test.status.value}")
        if test.status is not Status.PASSED and test.message:
            lines += [f"  {line}" for line in test.message[:_OUTPUT].splitlines()]
        if test.output.strip():
            lines += [f"  | {line}" for line in test.output[:_OUTPUT].splitlines()]
    return lines
