"""Claims are settled by two sides and a twin; everything that is no evidence leaves them open."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import pytest

from assay.questions.proofs.claims import Claim, Proof, Relation
from assay.questions.proofs.proof_file import read_proof
from assay.questions.proofs.proving import (
    OTHER_SEED,
    is_flipped,
    is_repeated,
    read_truth,
    try_proof,
)
from assay.questions.verdict.option_findings import Truth
from assay.sandbox import Caught, Challenge, ChallengeResult, ProofOutcome, Status, TestOutcome

SOURCE = '''\
"""Option A: the thing is there."""
import thing
DISPUTED = "part"
def test_holds():
    assert hasattr(thing, DISPUTED)
def test_fails():
    assert not hasattr(thing, DISPUTED)
def test_control():
    assert thing
'''
SOURCE = SOURCE.replace("test_", "test_option_A_")
FILE = read_proof(SOURCE)
CLAIM = Claim("A", "the thing is there", Relation.EQUIVALENT)
# How a side can end: what pytest says, and what speaks against taking it for evidence.
ENDS: Mapping[str, tuple[Status, str | None]] = {
    "passed": (Status.PASSED, None),
    "refused": (Status.FAILED, None),
    "broke": (Status.FAILED, "it failed with TypeError, not by its own check"),
    "vacuous": (Status.PASSED, "the test checks nothing"),
    "skipped": (Status.SKIPPED, "it was skipped"),
    "late": (Status.TIMED_OUT, "it ran into its time limit"),
    "error": (Status.ERROR, "its setup failed"),
}


def outcome(
    holds: str, fails: str, control: str = "passed", caught: tuple[Caught, ...] = ()
) -> ProofOutcome:
    ends = {"holds": holds, "fails": fails, "control": control}
    return ProofOutcome(
        tuple(
            TestOutcome(
                f"test_option_A_{name}",
                ENDS[end][0],
                objection=ENDS[end][1],
                caught=caught if end == "passed" and name != "control" else (),
            )
            for name, end in ends.items()
        )
    )


@pytest.mark.parametrize(("holds", "fails", "control"), list(product(ENDS, ENDS, ENDS)))
def test_only_one_side_passing_and_the_other_refusing_settles(
    holds: str, fails: str, control: str
) -> None:
    truth, reason = read_truth(FILE, outcome(holds, fails, control))
    expected = {
        ("passed", "refused"): Truth.TRUE,
        ("refused", "passed"): Truth.FALSE,
        ("passed", "passed"): Truth.BOTH,
    }.get((holds, fails), Truth.OPEN)
    if control != "passed":
        expected = Truth.OPEN
    assert truth is expected
    assert bool(reason) is (truth in (Truth.OPEN, Truth.BOTH))


def test_an_objection_to_the_whole_proof_leaves_it_open() -> None:
    told = ProofOutcome(outcome("passed", "refused").tests, objection="it was tampered with")
    assert read_truth(FILE, told) == (Truth.OPEN, "it was tampered with")


def test_a_side_that_did_not_run_leaves_it_open() -> None:
    told = ProofOutcome(outcome("passed", "refused").tests[:1])
    assert read_truth(FILE, told)[0] is Truth.OPEN


@pytest.mark.parametrize(
    ("classes", "message", "in_proof", "counts"),
    [
        (("ValueError",), "negative", False, True),
        (("ModuleNotFoundError", "ImportError"), "No module named 'thing.gone'", False, True),
        (("ModuleNotFoundError", "ImportError"), "No module named 'numpy'", False, False),
        (("ModuleNotFoundError", "ImportError"), "No module named 'thinglike'", False, False),
        (("ImportError",), "cannot import name 'x' from 'thing.inner' (f)", False, True),
        (("ImportError",), "cannot import name 'x' from 'numpy' (f)", False, False),
        (("ImportError",), "DLL load failed", False, False),
        (("NameError",), "name 'agent' is not defined", True, False),
        (("NameError",), "name 'agent' is not defined", False, True),
        (("FileNotFoundError", "OSError"), "no such file", False, False),
        (("ConnectionRefusedError", "ConnectionError", "OSError"), "refused", False, False),
        (("MemoryError",), "", False, False),
        (("DefaultCredentialsError",), "not found", False, False),
        (("ValueError",), "No API key was provided", False, False),
    ],
)
def test_what_a_raises_caught_may_be_no_evidence(
    classes: tuple[str, ...], message: str, in_proof: bool, counts: bool
) -> None:
    caught = (Caught(classes, message, in_proof),)
    truth, _ = read_truth(FILE, outcome("refused", "passed", caught=caught), ("thing",))
    assert truth is (Truth.FALSE if counts else Truth.OPEN)


def test_in_the_current_environment_what_is_installed_is_the_targets() -> None:
    for name, counts in (("pytest.gone", True), ("never_installed", False)):
        caught = (Caught(("ImportError",), f"No module named '{name}'", False),)
        truth, _ = read_truth(FILE, outcome("refused", "passed", caught=caught))
        assert truth is (Truth.FALSE if counts else Truth.OPEN)


@pytest.mark.parametrize(("holds", "fails"), list(product(ENDS, ENDS)))
def test_a_twin_flips_only_if_the_other_side_passes_as_evidence(holds: str, fails: str) -> None:
    twin = outcome(holds, fails)
    failed = ("refused", "broke")
    assert is_flipped(Truth.TRUE, FILE, twin) is (holds in failed and fails == "passed")
    assert is_flipped(Truth.FALSE, FILE, twin) is (holds == "passed" and fails in failed)


IMPORTED = ChallengeResult(imported=("thing",))


class Scripted:
    """Gives outcomes by what the disputed element is."""

    def __init__(
        self,
        outcomes: Mapping[str, ProofOutcome],
        challenged: ChallengeResult | None = IMPORTED,
    ) -> None:
        self.outcomes = outcomes
        self.challenged = challenged
        self.asked: list[tuple[bool, int | None]] = []

    async def run(
        self,
        proof: str,
        *,
        fresh: bool = False,
        hash_seed: int | None = None,
        challenge: Challenge | None = None,
    ) -> ProofOutcome:
        self.asked.append((fresh, hash_seed))
        (line,) = [line for line in proof.splitlines() if line.startswith("DISPUTED")]
        found = self.outcomes[line.split(" = ")[1].strip("'\"")]
        return found if challenge is None else replace(found, challenge=self.challenged)


TRUE, FALSE = outcome("passed", "refused"), outcome("refused", "passed")


def settle(source: str, outcomes: Mapping[str, ProofOutcome]) -> tuple[Truth, str]:
    proof = Proof(CLAIM, "test_option_A.py", source)
    settled = asyncio.run(try_proof(proof, Scripted(outcomes))).settled
    return settled.truth, settled.reason


def test_what_is_true_must_not_be_true_of_the_impossible() -> None:
    assert settle(SOURCE, {"part": TRUE, "part_that_cannot_be": FALSE})[0] is Truth.TRUE
    truth, reason = settle(SOURCE, {"part": TRUE, "part_that_cannot_be": TRUE})
    assert truth is Truth.OPEN
    assert "vacuous" in reason


@pytest.mark.parametrize(
    ("challenged", "reason"),
    [
        (None, "could not be challenged"),
        (ChallengeResult(held=("its letters",), imported=("thing",)), "holds as well with its"),
        (
            ChallengeResult(imported=("thing",), patched=("thing",)),
            "replaces the target with a substitute",
        ),
        (ChallengeResult(imported=("thing",), overridden=("__str__",)), "overrides a name"),
        (ChallengeResult(), "imports nothing of the target"),
    ],
)
def test_what_is_true_without_the_target_is_open(
    challenged: ChallengeResult | None, reason: str
) -> None:
    runner = Scripted({"part": TRUE, "part_that_cannot_be": FALSE}, challenged)
    settled = asyncio.run(try_proof(Proof(CLAIM, "t.py", SOURCE), runner)).settled
    assert settled.truth is Truth.OPEN
    assert reason in settled.reason


def test_what_is_false_must_be_true_of_the_counterpart_or_have_a_control() -> None:
    named = SOURCE.replace('DISPUTED = "part"', 'DISPUTED = "part"\nINSTEAD = "other"')
    alone = SOURCE[: SOURCE.index("def test_option_A_control")]
    assert settle(named, {"part": FALSE, "other": TRUE})[0] is Truth.FALSE
    assert settle(named, {"part": FALSE, "other": FALSE})[0] is Truth.OPEN
    assert settle(SOURCE, {"part": FALSE})[0] is Truth.FALSE
    truth, reason = settle(alone, {"part": FALSE})
    assert truth is Truth.OPEN
    assert "could have held" in reason


def test_an_unfit_proof_is_not_run() -> None:
    truth, reason = settle("def test_x(): assert 1", {})
    assert truth is Truth.OPEN
    assert "unfit" in reason


def test_a_claim_may_ask_for_a_fresh_interpreter() -> None:
    runner = Scripted({"part": TRUE, "part_that_cannot_be": FALSE})
    claim = Claim("A", "the thing is there", Relation.EQUIVALENT, fresh=True)
    asyncio.run(try_proof(Proof(claim, "t.py", SOURCE), runner))
    assert runner.asked == [(True, None), (True, None)]


def test_a_repetition_has_another_seed_and_must_say_the_same() -> None:
    trial = asyncio.run(
        try_proof(
            Proof(CLAIM, "t.py", SOURCE), Scripted({"part": TRUE, "part_that_cannot_be": FALSE})
        )
    )
    for second, same in ((TRUE, True), (FALSE, False), (outcome("broke", "passed"), False)):
        runner = Scripted({"part": second})
        assert asyncio.run(is_repeated(trial, runner)) is same
        assert runner.asked == [(True, OTHER_SEED)]
