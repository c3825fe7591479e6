"""The proof engineer's one tool: a proof that is checked and run in the sandbox, then answered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from assay.errors import InputError
from assay.questions.model import Question
from assay.questions.model_prover.reading import ProgramClaim, find_letter
from assay.questions.model_prover.ties import find_loose_end, tie_proof
from assay.questions.proof_runners import TargetRunner
from assay.questions.proofs.accept import check_source
from assay.questions.proofs.claims import MODELLED, Claim, Proof, proof_name
from assay.questions.proofs.proving import Trial, try_proof
from assay.questions.verdict.option_findings import Truth
from assay.sandbox import Status

_OUTPUT = 1_500
_LONGEST = 40_000
# Where an object lies in memory differs from run to run, and what is asked must not.
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
_FENCED = re.compile(r"\A\s*```\w*\s*\n(.*?)\n?```\s*\Z", re.DOTALL)


@dataclass(frozen=True)
class TrialResult:
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


async def attempt(question: Question, proof: Proof, runner: TargetRunner) -> TrialResult:
    """Lint, ties, control, both sides and the twin; nothing is stored."""
    try:
        check_source(question, proof)
    except InputError as error:
        return TrialResult(proof, error.what)
    if (loose := find_loose_end(question, proof)) is not None:
        return TrialResult(proof, f"refused: {loose}")
    proof = tie_proof(proof)
    trial = await try_proof(proof, runner.proof_runner, modules=runner.modules, question=question)
    return TrialResult(proof, _feedback(trial), trial)


def _feedback(trial: Trial) -> str:
    truth = trial.settled.truth
    if truth in (Truth.TRUE, Truth.FALSE):
        head = f"settled: the claim is {truth.value}"
    else:
        head = f"not settled: {trial.settled.reason}"
    return without_addresses("\n".join([head, *_tests(trial)]))


def without_addresses(text: str) -> str:
    """Return a text of a test as it is in every run."""
    return _ADDRESS.sub("0x…", text)


def _tests(trial: Trial) -> list[str]:
    """Return each test of the proof: how it ended, and why if it did not pass."""
    lines = []
    for test in trial.outcome.tests if trial.outcome else ():
        lines.append(f"{test.name}: {test.status.value}")
        if test.status is not Status.PASSED and test.message:
            lines += [f"  {line}" for line in test.message[:_OUTPUT].splitlines()]
        if test.output.strip():
            lines += [f"  | {line}" for line in test.output[:_OUTPUT].splitlines()]
    return lines


def program_proof(option: str, program: ProgramClaim, number: int, source: str) -> Proof:
    """Return an engineer's text as the proof of a claim, not yet verified."""
    claim = Claim(option, program.statement, program.relation, kind=program.kind)
    return Proof(claim, proof_name(option, number), source, MODELLED)


class ProofDesk:
    """Takes the proofs of the claims that need a program, by option, and says what they settle."""

    def __init__(
        self, question: Question, programs: Mapping[str, ProgramClaim], runner: TargetRunner
    ) -> None:
        self._question = question
        self._runner = runner
        self.programs = programs
        self.settled: dict[str, Trial] = {}
        self._refused: dict[str, str] = {}
        self.last_words = ""

    @property
    def is_done(self) -> bool:
        return self.settled.keys() == self.programs.keys()

    @property
    def open(self) -> list[str]:
        return [one for one in self.programs if one not in self.settled]

    @property
    def proofs(self) -> tuple[Proof, ...]:
        return tuple(trial.proof for trial in self.settled.values())

    def reasons(self) -> dict[str, str]:
        """Return why claims are not settled, for the report."""
        told = " ".join(self.last_words.split())[:500]
        other = (
            f"the proof engineer gave up: {told}" if told else "the proof engineer wrote no proof"
        )
        return {one: self._refused.get(one, other) for one in self.open}

    async def prove(self, option: Any, source: Any) -> dict[str, Any]:
        """Return what a proof settles, or why it is refused."""
        letter = find_letter(option, self._question)
        if letter is None or letter not in self.programs:
            return {"error": f"option must be one of {', '.join(self.programs)}"}
        if not isinstance(source, str) or not 0 < len(source) <= _LONGEST:
            return {"error": f"source must be the text of a file, up to {_LONGEST} characters"}
        fenced = _FENCED.match(source)
        text = f"{fenced[1]}\n" if fenced else source
        proof = program_proof(letter, self.programs[letter], 1, text)
        if re.search(r"^\s*#\s*fresh\s*$", text, re.MULTILINE):
            proof = replace(proof, claim=replace(proof.claim, fresh=True))
        tried = await attempt(self._question, proof, self._runner)
        if tried.trial is None or not tried.is_settled:
            self.settled.pop(letter, None)
            self._refused[letter] = tried.feedback.partition("\n")[0].removeprefix("not settled: ")
            return {"refused": tried.feedback}
        self.settled[letter] = tried.trial
        return {"settled": tried.feedback}
