"""The proof engineer: a model whose one tool checks a proof and runs it in the sandbox."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from assay.errors import InputError
from assay.questions.model import Question
from assay.questions.model_prover import prompts
from assay.questions.model_prover.adk_callbacks import AgentSession
from assay.questions.model_prover.library_tools import LibraryTools
from assay.questions.model_prover.reading import ProgramClaim, find_letter, parse_json
from assay.questions.model_prover.structured import SENT_BACK, make_agent
from assay.questions.model_prover.ties import find_loose_end, tie_proof
from assay.questions.proof_runners import TargetRunner
from assay.questions.proofs.accept import check_source
from assay.questions.proofs.claims import MODELLED, Claim, Proof, proof_name
from assay.questions.proofs.proving import Trial, try_proof
from assay.questions.verdict.option_findings import Truth
from assay.sandbox import Status

_OUTPUT = 700
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
        return f"settled: the claim is {truth.value}"
    return without_addresses("\n".join([f"not settled: {trial.settled.reason}", *_tests(trial)]))


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
        self.last_words = ""
        self._refused: dict[str, str] = {}
        self._round: dict[str, dict[str, Any]] = {}

    @property
    def is_done(self) -> bool:
        return self.settled.keys() == self.programs.keys()

    @property
    def open(self) -> dict[str, ProgramClaim]:
        return {one: claim for one, claim in self.programs.items() if one not in self.settled}

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

    def end_round(self) -> dict[str, dict[str, Any]] | None:
        """Return what became of the proofs of a round that settle nothing; None if none was run."""
        ended, self._round = self._round, {}
        if not ended:
            return None
        return {one: ended[one] for one in sorted(ended) if one not in self.settled}

    async def prove(self, option: Any, source: Any) -> dict[str, Any]:
        """Return what a proof settles, or why it is refused."""
        answer = await self._try(option, source)
        refused = answer.get("refused")
        kept = {"your proof": source, **answer} if refused else answer
        self._round[find_letter(option, self._question) or str(option)] = kept
        return answer

    async def _try(self, option: Any, source: Any) -> dict[str, Any]:
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


# --- The agent ----------------------------------------------------------------------------------

# Calls of the model for the proofs of all options of a question.
ENGINEER_TURNS = 8
_LOOKED_UP = 6_000
_LOOKING = ("inspect_fqn(", "read_source(")
_SHAPE = 'call `prove`, or answer with {"proofs": [{"option": "A", "source": "…"}]}'


class ProofEngineer:
    """Has proofs written, in rounds: each ends when proofs have been run.

    A round is told of the claims that are still open alone, with the last proof of each, what
    became of it and what was looked up: to repeat all that was said before would cost most of it.
    """

    def __init__(
        self,
        desk: ProofDesk,
        question: Question,
        tools: LibraryTools,
        session: AgentSession,
        *,
        is_negated: bool,
    ) -> None:
        self._desk = desk
        self._question = question
        self._tools = tools
        self._session = session
        self._is_negated = is_negated

    async def run(self, ctx: Any) -> None:
        """Go on until every claim is settled, the turns are over or the model gives up."""
        desk, session = self._desk, self._session
        session.turns = ENGINEER_TURNS
        told: Mapping[str, Mapping[str, Any]] = {}
        broken = 0
        while not desk.is_done and not session.is_out_of_turns and broken <= SENT_BACK:
            said = str(await ctx.run_node(self._make_agent(), node_input=self._task(told)) or "")
            ended = desk.end_round()
            if ended is None:
                problem = await self._prove_texts(said)
                ended = desk.end_round()
                if ended is None and problem is None:
                    desk.last_words = said
                    break
                broken += problem is not None
                if problem is not None:
                    ended = {**(ended or {}), "": {"error": problem}}
            told = ended or {}

    def _task(self, told: Mapping[str, Mapping[str, Any]]) -> str:
        claims = " ".join(f"{one.says} {one.sketch}" for one in self._desk.open.values())
        return prompts.engineer_task(
            self._question,
            self._desk.open,
            self._tools.described,
            self._tools.describe_names(self._question, claims),
            is_negated=self._is_negated,
            told=told,
            looked_up=self._list_lookups(),
            turns=self._session.turns,
        )

    def _list_lookups(self) -> dict[str, str]:
        """Return what was looked up so far, also by the reader: the newest first, up to a limit."""
        found: dict[str, str] = {}
        left = _LOOKED_UP
        looked_up = reversed(self._session.looked_up.items())
        for name, text in ((k, v) for k, v in looked_up if k.startswith(_LOOKING)):
            left -= len(text)
            if left < 0:
                break
            found[name] = text
        return found

    async def _prove_texts(self, said: str) -> str | None:
        """Run the proofs in an answer without tool calls; return what is wrong with it, if any.

        Nothing is wrong with the words of somebody who gives up.
        """
        try:
            value = parse_json(said)
        except ValueError as error:
            is_broken = "[the " in said[-80:] or "{" in said[:20]
            return f"{error}; {_SHAPE}" if is_broken else None
        given = value.get("proofs") if isinstance(value, dict) else value
        items = given if isinstance(given, list) else [value]
        if not all(isinstance(one, dict) and {"option", "source"} <= one.keys() for one in items):
            return _SHAPE
        await asyncio.gather(*(self._desk.prove(one["option"], one["source"]) for one in items))
        return None

    def _make_agent(self) -> Any:
        desk = self._desk

        async def prove(option: str, source: str, tool_context: Any) -> dict[str, Any]:
            """Run the proof of one option's claim.

            Args:
                option: The letter of the option.
                source: The whole pytest file.
            """
            # What became of all proofs of a turn is told together, in the next round.
            tool_context.actions.skip_summarization = True
            return await desk.prove(option, source)

        tools = [self._tools.inspect_fqn, self._tools.read_source, prove]
        return make_agent(self._session, "proof_engineer", prompts.ENGINEER, tools)
