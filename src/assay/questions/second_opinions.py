"""Second opinions: no question is accused by the claims of one model alone.

Before Incorrect or Ambiguous rests on a model's claim, a reviewer says what the claim means for its
option, without knowing the key or the outcome. What it says is kept with a stored proof, under the
proof's digest: a run without a model accuses only by proofs that were reviewed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from assay.questions.examination import Examination
from assay.questions.model import Question
from assay.questions.proofs.claims import MODELLED, Claim, Relation
from assay.questions.proofs.proving import Trial
from assay.questions.verdict.option_findings import State
from assay.questions.verdict.stems import classify

UNREVIEWED = "no second opinion was asked for"
_AGREED = {
    State.HOLDS: (Relation.SUFFICIENT, Relation.EQUIVALENT),
    State.FAILS: (Relation.NECESSARY, Relation.EQUIVALENT),
}


@dataclass(frozen=True)
class Doubts:
    """What a second opinion does not share: options by reason, and how the question is read."""

    options: Mapping[str, str] = field(default_factory=dict)
    asks: bool = False

    def apply(self, examination: Examination) -> Examination:
        """Return the examination with these options unproven."""
        for option, reason in self.options.items():
            examination = examination.without([option], reason)
        return replace(examination, is_reading_disputed=True) if self.asks else examination


class Review(Protocol):
    """A second opinion on what rests on the claims of a model; it sees no key."""

    async def __call__(
        self, question: Question, examination: Examination, options: Sequence[str]
    ) -> Doubts: ...


def find_modelled(examination: Examination, option: str) -> list[Trial]:
    """Return the model's proofs that an option's finding rests on, if it rests on no other."""
    resting = find_resting(examination, option)
    return resting if all(one.proof.prover == MODELLED for one in resting) else []


def find_resting(examination: Examination, option: str) -> list[Trial]:
    """Return the proofs that an option's finding rests on, if it is known to hold or to fail."""
    finding = examination.findings.get(option)
    if finding is None or finding.state not in _AGREED:
        return []
    trials = examination.trials.get(option, ())
    return [one for one in trials if one.proof.claim in finding.rests_on]


def is_agreed(claim: Claim, state: State) -> bool:
    """Tell whether a reviewer agreed that a claim, as it came out, puts its option in this state.

    In another state, as on another release, the same agreement may be worth nothing.
    """
    return claim.agreed in _AGREED.get(state, ())


def is_read(question: Question, examination: Examination) -> bool:
    """Tell whether the verdict rests on how a model reads the question, and not on its words."""
    return examination.asks is not None and not classify(question.text).sure


def is_reading_agreed(examination: Examination) -> bool:
    """Tell whether a reviewer of one of the proofs reads the question as it is read here."""
    claims = (trial.proof.claim for tried in examination.trials.values() for trial in tried)
    asks = examination.asks
    return asks is not None and any(one.agreed_asks == asks.value for one in claims)


async def review_stored(
    question: Question, examination: Examination, options: Sequence[str]
) -> Doubts:
    """Return which options rest on claims of a model that nobody has reviewed."""
    unreviewed = {
        option: f"{UNREVIEWED} on what a model claims: {trials[0].proof.claim.statement}"
        for option in options
        if (trials := find_modelled(examination, option))
        and not any(
            is_agreed(one.proof.claim, examination.findings[option].state) for one in trials
        )
    }
    asks = is_read(question, examination) and not is_reading_agreed(examination)
    return Doubts(unreviewed, asks)
