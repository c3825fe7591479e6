"""Examines a question without its key: runs stored proofs, then asks the provers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from assay.questions.model import Question
from assay.questions.proof_runners import Attempt, TargetRunner
from assay.questions.proofs.claims import MODELLED, WRITTEN, Grounds, Proof, proof_name
from assay.questions.proofs.proof_file import read_proof
from assay.questions.proofs.proving import Trial, is_repeated, read_outcomes, try_proof
from assay.questions.proofs.store import NewProof, StoredProof
from assay.questions.verdict.compounds import read_compounds
from assay.questions.verdict.exceptions import ExceptionMatch, match_exceptions
from assay.questions.verdict.option_findings import OptionFinding, State, Truth, combine
from assay.questions.verdict.stems import Stem, StemKind, classify


@dataclass(frozen=True)
class Examination:
    """The findings on every option that is not derived from others, and their proofs."""

    trials: Mapping[str, Sequence[Trial]]
    findings: Mapping[str, OptionFinding]
    new: tuple[NewProof, ...] = ()
    whole: tuple[Trial, ...] = ()
    """Proofs about the question as a whole: its premises, and options that are the same."""
    asks: StemKind | None = None
    """How those who made claims read the question, if they read it alike."""
    is_reading_disputed: bool = False
    """Whether a second opinion reads the question otherwise."""

    def read_stem(self, question: Question) -> Stem:
        """Return how a question is read: by its words, or by its reader where they are unsure."""
        stem = classify(question.text)
        if self.is_reading_disputed:
            return Stem(stem.kind, "the question, on whose reading no two agree,", clear=False)
        return stem if stem.sure or self.asks is None else Stem(self.asks, "as it was read")

    def without(self, options: Sequence[str], reason: str) -> Examination:
        """Return the same with these options unproven, and without what they have in common."""
        unproven = {option: OptionFinding(State.UNPROVEN, reason) for option in options if option}
        whole = tuple(one for one in self.whole if one.proof.claim.option not in options)
        return replace(self, findings={**self.findings, **unproven}, whole=whole)


async def examine(
    question: Question,
    stored: Sequence[StoredProof],
    runner: TargetRunner,
    exception_match: ExceptionMatch = ExceptionMatch.CLOSEST,
    claimed: Attempt = Attempt(),  # noqa: B008 - it is immutable
    is_enough: Callable[[Examination, Sequence[str]], bool] | None = None,
) -> Examination:
    """Settle as many of a question's options as possible.

    What a person claims comes first: an option that it settles needs no proof of a program. A model
    is not asked about open options if what was found before `is_enough`.
    """
    compounds = read_compounds(question)
    options = [option for option in question.options if option not in compounds]
    said = await _try_all(question, claimed.proofs, runner)
    current = [
        one
        for one in stored
        if one.is_current
        and one.proof.claim.option in options
        and (one.proof.prover == WRITTEN or not _is_settled(said, one.proof.claim.option))
    ]
    trials = await _try_all(question, [one.proof for one in current], runner)
    for one, trial in zip(current, trials, strict=True):
        if other := find_other_outcome(one, trial, runner):
            raise one.refuse(other)
    trials = [*said, *trials]
    reasons = {one.proof.claim.option: _STALE for one in stored if not one.is_current}
    # A person's proof is not replaced by a program's: the person reviews or removes it.
    outdated = {
        one.proof.claim.option
        for one in stored
        if not one.is_current and one.proof.prover == WRITTEN
    }
    reasons |= dict.fromkeys(outdated, OUTDATED)
    found: list[Trial] = []
    whole = tuple(await _try_whole(question, runner))
    for prover in runner.provers:
        # What a prover has stored is all it knows about an option, as long as it decides a claim.
        asked = {
            trial.proof.claim.option
            for trial in trials
            if trial.proof.prover == prover.name and trial.settled.truth is not Truth.OPEN
        }
        open_options = [
            one
            for one in options
            if one not in asked | outdated and _is_open(trials + found, one, options, prover.name)
        ]
        if not open_options:
            continue
        if prover.name == MODELLED and is_enough is not None:
            before = _examination(options, [*trials, *found], (), reasons, exception_match)
            if is_enough(replace(before, whole=whole), open_options):
                continue
        attempt = await prover.prove(question, open_options, runner)
        reasons |= attempt.reasons
        found += await _try_all(question, _rename_apart(attempt.proofs, found), runner)
    new = tuple(
        to_stored(trial) for trial in found if trial.settled.truth in (Truth.TRUE, Truth.FALSE)
    )
    reasons |= claimed.reasons
    examination = _examination(options, [*trials, *found], new, reasons, exception_match)
    examination = _note_claims(examination, claimed.reasons)
    return replace(examination, whole=whole)


def _note_claims(examination: Examination, reasons: Mapping[str, str]) -> Examination:
    """Note why a claim of a person was not tried where the option has other proofs."""
    findings = dict(examination.findings)
    for option, reason in reasons.items():
        finding = findings.get(option)
        if finding is not None and finding.reason != reason:
            findings[option] = replace(finding, notes=(*finding.notes, f"claim: {reason}"))
    return replace(examination, findings=findings)


async def _try_whole(question: Question, runner: TargetRunner) -> list[Trial]:
    """Run the proofs about the question as a whole; they are read anew each time."""
    asked = [one.prove_question for one in runner.provers if hasattr(one, "prove_question")]
    proofs = [proof for prove in asked for proof in await prove(question, runner)]
    return await _try_all(question, proofs, runner)


_STALE = "its proof is of another wording of the question or the option"
OUTDATED = (
    "its hand-written proof is of another wording: look at it and take it in again with "
    "`assay questions prove --accept`"
)


def find_other_outcome(stored: StoredProof, trial: Trial, runner: TargetRunner) -> str | None:
    """Return which test ends otherwise than when the proof was taken in, on the same lock.

    On another lock that is what proofs are run for.
    """
    if trial.outcome is None or not runner.is_locked_to(stored.lock):
        return None
    seen = read_outcomes(stored.expected, trial.outcome)
    for name, expected in stored.expected.items():
        if seen.get(name, expected) != expected:
            return (
                f"{name} {seen[name]} on the lock it was taken in with, where it {expected} then: "
                "the proof is unstable, or the environment was changed"
            )
    return None


async def _try_all(
    question: Question, proofs: Sequence[Proof], runner: TargetRunner
) -> list[Trial]:
    return list(
        await asyncio.gather(
            *(
                try_proof(proof, runner.proof_runner, modules=runner.modules, question=question)
                for proof in proofs
            )
        )
    )


def _rename_apart(proofs: Sequence[Proof], before: Sequence[Trial]) -> list[Proof]:
    """Return the proofs under file names that no other prover uses."""
    taken = {trial.proof.file for trial in before}
    named = []
    for proof in proofs:
        names = (proof_name(proof.claim.option, number) for number in count(1))
        file = proof.file if proof.file not in taken else next(n for n in names if n not in taken)
        taken.add(file)
        named.append(replace(proof, file=file))
    return named


def _examination(
    options: Sequence[str],
    trials: Sequence[Trial],
    new: tuple[NewProof, ...],
    reasons: Mapping[str, str],
    policy: ExceptionMatch,
) -> Examination:
    by_option = {
        option: [trial for trial in trials if trial.proof.claim.option == option]
        for option in options
    }
    settled = {option: [trial.settled for trial in tried] for option, tried in by_option.items()}
    matched = match_exceptions(settled, policy)
    findings = {}
    for option in options:
        finding = combine(matched[option])
        if finding.state is State.UNPROVEN and not matched[option]:
            finding = replace(finding, reason=reasons.get(option, finding.reason))
        findings[option] = finding
    asks = {one.proof.claim.asks for one in trials if one.proof.claim.asks}
    kind = StemKind(asks.pop()) if len(asks) == 1 and asks <= set(StemKind) else None
    return Examination(by_option, findings, new, asks=kind)


def _is_settled(trials: Sequence[Trial], option: str) -> bool:
    """Tell whether the proofs of an option decide it, so that no prover need be asked."""
    settled = [trial.settled for trial in trials if trial.proof.claim.option == option]
    return combine(settled).state is not State.UNPROVEN


def _is_open(trials: Sequence[Trial], option: str, options: Sequence[str], prover: str) -> bool:
    """Tell whether a prover is asked about an option.

    A model is also asked about one that holds only as documented while another holds.
    """
    if not _is_settled(trials, option):
        return True
    found = {
        one: combine(trial.settled for trial in trials if trial.proof.claim.option == one)
        for one in options
    }
    holding = [one for one in options if found[one].state is State.HOLDS]
    is_documented = found[option].grounds is Grounds.DOCUMENTED
    return prover == MODELLED and is_documented and option in holding and len(holding) > 1


def to_stored(trial: Trial) -> NewProof:
    """Return a trial that settled its claim as the store takes it."""
    file = read_proof(trial.proof.source)
    return NewProof(trial.proof, trial.settled.truth, (file.holds, file.fails, file.controls))


async def repeat(
    examination: Examination, options: Sequence[str], runner: TargetRunner
) -> tuple[str, ...]:
    """Run the proofs of these options once more, each in a new interpreter with another seed.

    Return the options for which the repetition gave another outcome.
    """
    trials = [trial for option in options for trial in examination.trials.get(option, ())]
    trials += examination.whole
    decided = [trial for trial in trials if trial.settled.truth is not Truth.OPEN]
    same = await asyncio.gather(
        *(is_repeated(trial, runner.proof_runner, modules=runner.modules) for trial in decided)
    )
    return tuple(
        dict.fromkeys(
            trial.proof.claim.option
            for trial, said_the_same in zip(decided, same, strict=True)
            if not said_the_same
        )
    )
