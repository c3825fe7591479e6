"""Settles claims: runs a proof and its twin in the sandbox and interprets their outcomes.

This code sees proofs, never a question's key. `read_truth` and `is_flipped` are pure functions.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Awaitable, Collection
from dataclasses import dataclass
from typing import Protocol

from assay.questions.model import Question
from assay.questions.proofs.claims import MODELLED, WRITTEN, Claim, Grounds, Proof
from assay.questions.proofs.forgery import (
    Given,
    challenge_of,
    check_forgery,
    check_subject,
    names_used,
    read_given,
    refutation_of,
)
from assay.questions.proofs.proof_file import ProofFile, UnfitProofError, read_proof
from assay.questions.verdict.option_findings import Settled, Truth
from assay.sandbox import (
    Caught,
    Challenge,
    ChallengeResult,
    ProofOutcome,
    Status,
    TestOutcome,
    inspect_proof,
)

# A second interpreter orders its sets and dictionaries differently; the usual seed is 0.
OTHER_SEED = 1

_MISSING = re.compile(r"No module named '([^']+)'|cannot import name '[^']+' from '([^']+)'")
_MACHINE = frozenset({"OSError", "MemoryError", "RecursionError"})
_MACHINE_FAILURES = _MACHINE | {"PermissionError", "TimeoutError", "ConnectionError"}
_CREDENTIAL = re.compile(r"credential|api[ _-]?key|authenticat|unauthori[sz]ed", re.IGNORECASE)


class AnyProofRunner(Protocol):
    """What runs a proof: `assay.sandbox.ProofRunner`."""

    def run(
        self,
        proof: str,
        *,
        fresh: bool = ...,
        hash_seed: int | None = ...,
        challenge: Challenge | None = ...,
    ) -> Awaitable[ProofOutcome]: ...


@dataclass(frozen=True)
class Trial:
    """A proof that was run: what it settles, and its outcome."""

    proof: Proof
    settled: Settled
    outcome: ProofOutcome | None = None
    twin: ProofOutcome | None = None


async def try_proof(
    proof: Proof,
    runner: AnyProofRunner,
    *,
    modules: Collection[str] = (),
    question: Question | None = None,
) -> Trial:
    """Run a proof and the twin that must flip; nothing about the claim is taken on trust."""
    claim = proof.claim
    given = read_given(question, claim.option, claim.twin)
    try:
        file = read_proof(proof.source)
        check_forgery(proof.source, given, modules)
        if _is_anybodys(proof):
            check_subject(proof.source, given, modules)
    except UnfitProofError as error:
        return Trial(proof, Settled(claim, Truth.OPEN, f"the proof is unfit: {error}"))
    outcome = await runner.run(proof.source, fresh=claim.fresh)
    truth, reason = read_truth(file, outcome, modules)
    if truth not in (Truth.TRUE, Truth.FALSE):
        return Trial(proof, Settled(claim, truth, reason), outcome)
    challenge = challenge_of(file) if truth is Truth.TRUE else None
    if truth is Truth.FALSE and _is_anybodys(proof):
        challenge = refutation_of(file)
    if truth is Truth.TRUE:
        twin = await runner.run(file.impossible_twin(), fresh=claim.fresh, challenge=challenge)
    elif (counterpart := file.counterpart_twin()) is not None:
        twin = await runner.run(counterpart, fresh=claim.fresh, challenge=challenge)
    elif challenge is None or not file.controls:
        return Trial(proof, _settle_controlled(claim, truth, file, outcome), outcome)
    else:
        again = await runner.run(proof.source, fresh=claim.fresh, challenge=challenge)
        overlooked = find_overlooked(again.challenge)
        settled = _settle_controlled(claim, truth, file, outcome)
        return Trial(
            proof, Settled(claim, Truth.OPEN, overlooked) if overlooked else settled, outcome
        )
    if not is_flipped(truth, file, twin):
        what = "something that cannot be" if truth is Truth.TRUE else "what the proof itself names"
        reason = (
            f"the proof is vacuous: with {what} in place of the disputed element it says the same"
        )
        return Trial(proof, Settled(claim, Truth.OPEN, _because(reason, file, twin)), outcome, twin)
    if truth is Truth.TRUE:
        forged = find_forgery(twin.challenge, given, proof)
    else:
        forged = None if challenge is None else find_overlooked(twin.challenge)
    if forged is not None:
        return Trial(proof, Settled(claim, Truth.OPEN, forged), outcome, twin)
    return Trial(proof, _settle(claim, truth, file, outcome), outcome, twin)


def _is_anybodys(proof: Proof) -> bool:
    """Tell whether a proof was written for one question, not by a prover for a kind of them."""
    return proof.prover == WRITTEN or proof.claim.kind in ("program", MODELLED)


def find_overlooked(challenge: ChallengeResult | None) -> str | None:
    """Return where a name was found that a proof says is missing."""
    if challenge is None:
        return "nothing shows that the name is missing everywhere: it could not be challenged"
    if challenge.doubts:
        return f"the proof does not look everywhere: {challenge.doubts[0]}"
    return None


def find_forgery(challenge: ChallengeResult | None, given: Given, proof: Proof) -> str | None:
    """Return evidence that the answer of a proof does not come from the target, if any."""
    if challenge is None:
        return "nothing shows that the answer comes from the target: it could not be challenged"
    if not challenge.repeated and _is_anybodys(proof):
        return "nothing shows that the answer comes from the target: called again, it does not hold"
    if challenge.held:
        return f"the proof is vacuous: it holds as well with {challenge.held[0]}"
    if challenge.patched:
        return f"the proof replaces the target with a substitute: {challenge.patched[0]}"
    if challenge.repeated and not challenge.imported:
        return "the proof imports nothing of the target"
    if _is_anybodys(proof):
        for made in challenge.made:
            if not given.shows(made):
                return f"the proof brings the disputed value along: `{made}`"
        if challenge.doubts:
            return f"the answer is not the target's: {challenge.doubts[0]}"
    if challenge.read and _is_anybodys(proof) and proof.claim.grounds is Grounds.EXECUTED:
        return (
            f"the proof reads the source of the target instead of running it: {challenge.read[0]}"
        )
    # What the target calls may be written by the proof, as a hook is; what the proof asks itself
    # would be answered by the proof.
    asked = names_used(proof.source)
    for name in challenge.overridden:
        is_given = given.is_about_subclassing or given.mentions(name)
        if not is_given and (name in asked or name.startswith("__")):
            return f"the proof overrides a name of the target and then asks for it: {name}"
    return None


def read_truth(
    file: ProofFile, outcome: ProofOutcome, modules: Collection[str] = ()
) -> tuple[Truth, str]:
    """Return what the sides show: exactly one must pass, the other fail by its own check."""
    if outcome.objection is not None:
        return Truth.OPEN, outcome.objection
    holds, fails = _test(outcome, file.holds), _test(outcome, file.fails)
    if holds is None or fails is None:
        return Truth.OPEN, "one of its sides did not run"
    for name in file.controls:
        control = _test(outcome, name)
        if control is None or control.status is not Status.PASSED or not control.evidence:
            why = "it did not run" if control is None else _describe(control)
            return Truth.OPEN, f"the control {name} did not pass: {why}"
    for side in (holds, fails):
        if side.objection is not None:
            return Truth.OPEN, f"{side.name}: {side.objection}{_detail(side)}"
        if (ambient := _ambient(side, modules)) is not None:
            return Truth.OPEN, f"{side.name}: {ambient}"
    passed = holds.status is Status.PASSED, fails.status is Status.PASSED
    if passed == (True, True):
        return Truth.BOTH, "both sides of the proof pass"
    if passed == (False, False):
        return (
            Truth.OPEN,
            f"neither side of the proof passes: {_describe(holds)}; {_describe(fails)}",
        )
    return (Truth.TRUE if passed[0] else Truth.FALSE), ""


def read_outcomes(names: Collection[str], outcome: ProofOutcome) -> dict[str, str]:
    """Return which of these tests passed and which failed; what ended otherwise says nothing."""
    tests = {name: _test(outcome, name) for name in names}
    return {
        name: test.status.value
        for name, test in tests.items()
        if test is not None and test.status in (Status.PASSED, Status.FAILED)
    }


def is_flipped(truth: Truth, file: ProofFile, twin: ProofOutcome) -> bool:
    """Tell whether the twin says the opposite: its other side passes, and the one before does not.

    What no longer passes may fail in any way once it runs, for something impossible may well raise.
    """
    before, after = (file.holds, file.fails) if truth is Truth.TRUE else (file.fails, file.holds)
    lost, won = _test(twin, before), _test(twin, after)
    return (
        twin.objection is None
        and lost is not None
        and won is not None
        and lost.status is Status.FAILED
        and won.status is Status.PASSED
        and won.evidence
    )


def _settle_controlled(
    claim: Claim, truth: Truth, file: ProofFile, outcome: ProofOutcome
) -> Settled:
    if file.controls:
        return _settle(claim, truth, file, outcome)
    return Settled(
        claim,
        Truth.OPEN,
        "nothing shows that the claim could have held: the proof has neither a control nor a "
        "counterpart (INSTEAD)",
    )


def _settle(claim: Claim, truth: Truth, file: ProofFile, outcome: ProofOutcome) -> Settled:
    holds = _test(outcome, file.holds)
    raised = holds.caught[0].classes if file.exception and holds and holds.caught else ()
    return Settled(claim, truth, raised=raised, exception=file.exception)


async def is_repeated(
    trial: Trial, runner: AnyProofRunner, *, modules: Collection[str] = ()
) -> bool:
    """Return whether a new interpreter with another hash seed gives the same result.

    The result of the twin does not depend on the seed, so it is not run again.
    """
    outcome = await runner.run(trial.proof.source, fresh=True, hash_seed=OTHER_SEED)
    truth, _ = read_truth(read_proof(trial.proof.source), outcome, modules)
    return truth is trial.settled.truth


def _test(outcome: ProofOutcome, name: str) -> TestOutcome | None:
    """Return the outcome of a test; with parameters, the first one that did not pass."""
    found = [test for test in outcome.tests if test.name.partition("[")[0] == name]
    worst = (test for test in found if test.status is not Status.PASSED or not test.evidence)
    return next(worst, found[0] if found else None)


def _ambient(test: TestOutcome, modules: Collection[str]) -> str | None:
    """Return the exception that satisfied a `raises` but says nothing about the target."""
    for caught in test.caught:
        if "ImportError" in caught.classes and (missing := _foreign(caught, modules)):
            return f"it needs a missing module that is not the target's: {missing}"
        if "NameError" in caught.classes and caught.in_proof:
            return f"the proof lacks a name: {caught.message}"
        machine = next((name for name in caught.classes if name in _MACHINE), None)
        if machine is not None:
            return f"it failed with an error of the machine, not of the target: {caught.classes[0]}"
        if "Credential" in caught.classes[0] or _CREDENTIAL.search(caught.message):
            return f"it needs a missing credential: {caught.message.splitlines()[0]}"
    return None


def ambient_failure(outcome: ProofOutcome, modules: Collection[str]) -> str | None:
    """Return why an outcome shows nothing: an error of the machine or of other packages."""
    if outcome.objection is not None and not outcome.tests:
        return outcome.objection
    for test in outcome.tests:
        if test.status is Status.TIMED_OUT:
            return f"{test.name} ran into its time limit"
        if test.status is Status.SKIPPED:
            return f"{test.name} was skipped"
        kind = (test.exception or "").rpartition(".")[2]
        missing = (
            _foreign(Caught((kind,), test.message, in_proof=False), modules)
            if kind in ("ModuleNotFoundError", "ImportError")
            else None
        )
        if missing is not None:
            return f"{test.name} needs a missing module that is not the target's: {missing}"
        if kind in _MACHINE_FAILURES:
            return f"{test.name} failed with an error of the machine: {kind}"
    return None


def _foreign(caught: Caught, modules: Collection[str]) -> str | None:
    """Return the missing module, if the target does not own it."""
    found = _MISSING.search(caught.message)
    if found is None:
        return caught.message.partition("\n")[0] or "unnamed"
    name = found[1] or found[2]
    if modules:
        own = any(name == root or f"{name}.".startswith(f"{root}.") for root in modules)
        # A parent of the target, such as a namespace, is missing only if the target is.
        return None if own else name
    try:
        return None if importlib.util.find_spec(name.partition(".")[0]) is not None else name
    except (ImportError, ValueError):
        return name


def _describe(test: TestOutcome) -> str:
    if test.objection is not None:
        return f"{test.objection}{_detail(test)}"
    return f"{test.name} {test.status}{_detail(test)}"


def _detail(test: TestOutcome) -> str:
    line = test.message.strip().partition("\n")[0]
    return f" ({line})" if line and line not in (test.objection or "") else ""


def _because(reason: str, file: ProofFile, twin: ProofOutcome) -> str:
    if twin.objection is not None:
        return f"{reason} ({twin.objection})"
    tests = [test for name in (file.holds, file.fails) if (test := _test(twin, name))]
    return f"{reason} ({'; '.join(map(_describe, tests))})"


def objections(source: str, modules: Collection[str] | None = None) -> list[str]:
    """Return the objections to a proof before it is run, for accepting one."""
    found = [str(one) for one in inspect_proof(source, modules).objections]
    try:
        read_proof(source)
    except UnfitProofError as error:
        found.append(str(error))
    return found
