"""The reviewer: a model that says, blind, what claims mean for their options before they accuse.

It sees question, option, claim and proof, and neither the key nor how the proof ended. What code
then compares is whether the direction in which the proof was used is one that the reviewer names.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from assay.questions.proofs.claims import MODELLED, PERSON, WRITTEN, Proof, Relation
from assay.questions.proofs.proving import Trial
from assay.questions.proofs.store import NewProof
from assay.questions.second_opinions import (
    Doubts,
    find_modelled,
    find_resting,
    is_agreed,
    is_read,
    is_reading_agreed,
)
from assay.questions.verdict.option_findings import State

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

    @property
    def relation(self) -> str:
        """The relation of the claim to its option as the reviewer sees it; empty if none."""
        confirms = self.test_decides_claim and self.if_true == "right"
        refutes = self.test_decides_claim and self.if_false == "wrong"
        if confirms and refutes:
            return Relation.EQUIVALENT.value
        sufficient = Relation.SUFFICIENT.value if confirms else ""
        return Relation.NECESSARY.value if refutes else sufficient


class ReviewAnswer(BaseModel):
    """The whole answer of a reviewer."""

    model_config = ConfigDict(extra="forbid")

    asks: Literal["one_true", "one_false", "best_of", "why", "unclear"]
    options: list[OptionReview]


@dataclass
class Reviewer:
    """Reviews what rests on the claims of a model about one question.

    Of a correction, whose wording is a model's, also what rests on the claims of a program is
    reviewed. `doubted` are the options on which it disagreed, `agreed` the proofs of the others
    with what it said of them.
    """

    session: AgentSession
    tools: LibraryTools
    is_correction: bool = False
    doubted: set[str] = field(default_factory=set)
    agreed: dict[str, Trial] = field(default_factory=dict)

    async def __call__(
        self, question: Question, examination: Examination, options: Sequence[str]
    ) -> Doubts:
        """Return which of these options a second opinion does not find decided, and why."""
        trials = {
            option: trial
            for option in options
            if (trial := self._find_unreviewed(examination, option)) is not None
        }
        reads = is_read(question, examination) and (
            self._asks_anew or not is_reading_agreed(examination)
        )
        if not trials and not reads:
            return Doubts()
        answer = await self._ask(question, trials)
        options_doubted: dict[str, str] = {}
        for option, trial in trials.items():
            state = examination.findings[option].state
            if why := _object(answer, option, state):
                said = f"reviewer disagrees: {why} (the claim: {trial.proof.claim.statement})"
                options_doubted[option] = said
            else:
                self.agreed[option] = self._sign(trial, answer)
        self.doubted |= options_doubted.keys()
        differs = answer is None or Asks.KINDS.get(answer.asks) != examination.asks
        return Doubts(options_doubted, asks=reads and differs)

    @property
    def _asks_anew(self) -> bool:
        return self.is_correction or self.session.access.settings.refresh

    def _find_unreviewed(self, examination: Examination, option: str) -> Trial | None:
        """Return the proof to be reviewed of those that an option's finding rests on."""
        if self.is_correction:
            resting = find_resting(examination, option)
            by_people = any(one.proof.prover in (WRITTEN, PERSON) for one in resting)
            return None if by_people else next(iter(resting), None)
        resting = find_modelled(examination, option)
        state = examination.findings[option].state
        is_known = any(is_agreed(one.proof.claim, state) for one in resting)
        return None if is_known and not self._asks_anew else next(iter(resting), None)

    def _sign(self, trial: Trial, answer: ReviewAnswer | None) -> Trial:
        """Return a proof with what the reviewer said of its claim."""
        assert answer is not None
        own = _find_review(answer, trial.proof.claim.option)
        assert own is not None
        asks = Asks.KINDS.get(answer.asks)
        if trial.proof.prover != MODELLED:
            return trial
        claim = replace(
            trial.proof.claim,
            reviewer=self.session.access.settings_of("reviewer").name,
            agreed=own.relation,
            agreed_asks=asks.value if asks else "",
        )
        return replace(trial, proof=replace(trial.proof, claim=claim))

    def sign(self, new: Iterable[NewProof]) -> list[NewProof]:
        """Return new proofs as they are stored: with what was agreed, and none that is doubted."""
        return [
            replace(one, proof=self._signed(one.proof))
            for one in new
            if one.proof.claim.option not in self.doubted
        ]

    def _signed(self, proof: Proof) -> Proof:
        agreed = self.agreed.get(proof.claim.option)
        is_own = agreed is not None and agreed.proof.file == proof.file
        return agreed.proof if agreed is not None and is_own else proof

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


def _find_review(answer: ReviewAnswer, option: str) -> OptionReview | None:
    return next((one for one in answer.options if one.option.strip() == option), None)


def _object(answer: ReviewAnswer | None, option: str, state: State) -> str:
    """Return why a reviewer does not find an option decided as it was; empty if it does."""
    if answer is None:
        return "it gave no answer that can be used"
    own = _find_review(answer, option)
    if own is None:
        return "it said nothing of this option"
    reason = " ".join(own.reason.split())[:_REASON] or "it gave no reason"
    if not own.test_decides_claim:
        return reason
    agrees = own.if_true == "right" if state is State.HOLDS else own.if_false == "wrong"
    return "" if agrees else reason
