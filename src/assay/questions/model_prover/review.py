"""The second opinion: a blind reviewer says what a model's claims decide, before they accuse.

It sees question, option, claim and proof, and neither the key nor how the proof ended. What code
then compares is whether the direction in which the proof was used is one that the reviewer names.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from assay.questions.examination import Examination
from assay.questions.model import Question
from assay.questions.model_prover import prompts
from assay.questions.model_prover.adk_callbacks import AgentSession
from assay.questions.model_prover.library_tools import LibraryTools
from assay.questions.model_prover.reading import Asks
from assay.questions.model_prover.structured import (
    TypedTask,
    accept_model,
    ask_typed,
    compact_schema,
    run_alone,
)
from assay.questions.model_prover.ties import find_difference, proof_subjects
from assay.questions.proofs.claims import MODELLED
from assay.questions.proofs.proving import Trial
from assay.questions.verdict.option_findings import State
from assay.questions.verdict.stems import classify
from assay.questions.verification import Doubts

REVIEWER_TURNS = 4
_REASON = 500

Meaning = Literal["right", "wrong", "open"]


class OptionReview(BaseModel):
    """What a reviewer says of one option."""

    model_config = ConfigDict(extra="forbid")

    option: str
    if_true: Meaning
    if_false: Meaning
    test_decides_claim: bool
    reason: str = Field(max_length=4_000)


class ReviewAnswer(BaseModel):
    """The whole answer of a reviewer."""

    model_config = ConfigDict(extra="forbid")

    asks: Literal["one_true", "one_false", "best_of", "why", "unclear"]
    options: list[OptionReview]


@dataclass
class Reviewer:
    """Reviews what rests on the claims of a model about one question."""

    session: AgentSession
    tools: LibraryTools
    doubted: set[str] = field(default_factory=set)

    async def __call__(
        self, question: Question, examination: Examination, options: Sequence[str]
    ) -> Doubts:
        """Return which of these options a second opinion does not find decided, and why."""
        trials = {
            option: trial
            for option in options
            if (trial := find_modelled(examination, option)) is not None
        }
        is_read = examination.asks is not None and not classify(question.text).sure
        if not trials and not is_read:
            return Doubts()
        answer = await self._ask(question, trials)
        doubts = Doubts(
            {
                option: f"reviewer disagrees: {why} (the claim: {trial.proof.claim.statement})"
                for option, trial in trials.items()
                if (why := _object(answer, option, examination.findings[option].state))
            },
            asks=is_read and (answer is None or Asks.KINDS.get(answer.asks) != examination.asks),
        )
        self.doubted |= doubts.options.keys()
        return doubts

    async def _ask(self, question: Question, trials: Mapping[str, Trial]) -> ReviewAnswer | None:
        given: list[ReviewAnswer | None] = []
        text = prompts.reviewer_task(
            question,
            {option: self._describe(question, one) for option, one in trials.items()},
            self.tools.described,
            self.tools.describe_names(question),
        )

        async def review(ctx: Any, node_input: Any = None) -> str:
            task = TypedTask(
                agent="reviewer",
                instruction=prompts.REVIEWER,
                text=text,
                schema=compact_schema(ReviewAnswer),
                accept=accept_model(ReviewAnswer),
                submit="submit_review",
                turns=REVIEWER_TURNS,
            )
            given.append(await ask_typed(ctx, self.session, task))
            return "reviewed"

        await run_alone(self.session, "review", review)
        return given[0] if given else None

    def _describe(self, question: Question, trial: Trial) -> dict[str, Any]:
        """Return a claim with its proof and its two cases, in an order of its own."""
        claim, source = trial.proof.claim, trial.proof.source
        cases = ["`if_true`: the claim is true", "`if_false`: the claim is not true"]
        random.Random(f"{question.fingerprint()}{claim.option}").shuffle(cases)  # noqa: S311
        subjects = proof_subjects(source, self.tools.roots)
        difference = find_difference(question, claim.option, subjects)
        told = {"claim": claim.statement, "cases": cases, "test": source}
        return {**told, "note": difference} if difference else told


def find_modelled(examination: Examination, option: str) -> Trial | None:
    """Return the model's proof that an option's finding rests on, if it rests on no other."""
    finding = examination.findings.get(option)
    if finding is None or finding.state not in (State.HOLDS, State.FAILS):
        return None
    resting = [
        trial
        for trial in examination.trials.get(option, ())
        if trial.proof.claim in finding.rests_on
    ]
    if not resting or any(one.proof.prover != MODELLED for one in resting):
        return None
    return resting[0]


def _object(answer: ReviewAnswer | None, option: str, state: State) -> str:
    """Return why a reviewer does not find an option decided as it was; empty if it does."""
    if answer is None:
        return "it gave no answer that can be used"
    own = next((one for one in answer.options if one.option.strip() == option), None)
    if own is None:
        return "it said nothing of this option"
    reason = " ".join(own.reason.split())[:_REASON] or "it gave no reason"
    if not own.test_decides_claim:
        return reason
    agrees = own.if_true == "right" if state is State.HOLDS else own.if_false == "wrong"
    return "" if agrees else reason
