"""The verification pipeline: a reader claims, code proves, in a session that never sees a key.

    verification_pipeline
      reading ─► proving
        reader     └ proof_engineer, once for all claims that no writer proves

A reader makes typed claims about all open options in one answer. Writers turn them into proofs;
only claims of the kind `program` go to a proof engineer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from assay.questions.claims import Library, kinds
from assay.questions.lexical import LexicalProver
from assay.questions.model import Question
from assay.questions.model_prover import prompts
from assay.questions.model_prover.adk_callbacks import AgentSession, ModelAccess, run_workflow
from assay.questions.model_prover.adk_models import close_clients
from assay.questions.model_prover.engineer import ProofDesk, ProofEngineer
from assay.questions.model_prover.library_tools import LibraryTools
from assay.questions.model_prover.reading import (
    ParsedAnswer,
    ProgramClaim,
    answer_schema,
    read_answer,
)
from assay.questions.model_prover.structured import TypedTask, ask_typed
from assay.questions.model_prover.ties import find_foreign_code, find_loose_end, tie_claim
from assay.questions.model_prover.transcripts import Transcript
from assay.questions.person import write_claim
from assay.questions.proof_runners import Attempt, TargetRunner
from assay.questions.proofs.claims import MODELLED, Proof
from assay.questions.verdict.stems import StemKind, classify

READER_TURNS = 8


class Pipeline:
    """One pass over the open options of one question."""

    def __init__(
        self,
        question: Question,
        options: Sequence[str],
        runner: TargetRunner,
        tools: LibraryTools,
        session: AgentSession,
    ) -> None:
        self._question = question
        self._options = tuple(options)
        self._runner = runner
        self._tools = tools
        self._session = session
        self._reading = ParsedAnswer()
        self._written: dict[str, list[Proof]] = {}
        self._desk = ProofDesk(question, {}, runner)

    async def run(self) -> Attempt:
        """Proofs of the claims, and per option why there is none."""
        await run_workflow(self._workflow(), self._session)
        asks = self._reading.asks.value if self._reading.asks else ""
        written = (proof for proofs in self._written.values() for proof in proofs)
        proofs = tuple(
            replace(one, claim=replace(one.claim, asks=asks))
            for one in (*written, *self._desk.proofs)
        )
        proven = {proof.claim.option for proof in proofs}
        reasons = {**self._reading.problems, **self._desk.reasons()}
        silent = self._reading.problems.get("") or "the reader makes no claim about it"
        return Attempt(
            proofs,
            {one: reasons.get(one, silent) for one in self._options if one not in proven},
        )

    def _workflow(self) -> Any:
        from google.adk.workflow import START, FunctionNode, Workflow

        reading = FunctionNode(func=self._read, name="reading", rerun_on_resume=True)
        proving = FunctionNode(func=self._prove, name="proving", rerun_on_resume=True)
        return Workflow(name="verification_pipeline", edges=[(START, reading, proving)])

    # --- Reading --------------------------------------------------------------------------------

    async def _read(self, ctx: Any) -> str:
        facts = self._tools.describe_names(self._question)
        task = TypedTask(
            agent="reader",
            instruction=prompts.READER,
            text=prompts.reader_task(self._question, self._options, self._tools.described, facts),
            schema=answer_schema(),
            accept=self._accept,
            submit="submit_reading",
            turns=READER_TURNS,
            tools=[self._tools.search_ranked_targets, self._tools.inspect_fqn],
        )
        await ask_typed(ctx, self._session, task)
        ctx.state["claims"] = {
            option: [claim.model_dump(mode="json") for claim in claims]
            for option, claims in self._reading.claims.items()
        }
        self._session.transcript.add("state", "verification_pipeline", value=ctx.state["claims"])
        return "read"

    def _accept(self, given: Any) -> tuple[ParsedAnswer | None, str]:
        """Take an answer: its claims are written as proofs, and what cannot be goes back."""
        reading = read_answer(given, self._question, self._options)
        problems = dict(reading.problems)
        self._written = {}
        for option, claims in reading.claims.items():
            typed = [one for one in claims if not isinstance(one, ProgramClaim)]
            for number, claim in enumerate(typed, 1):
                proof = self._write(option, claim, number)
                if isinstance(proof, Proof):
                    self._written.setdefault(option, []).append(proof)
                else:
                    problems[option] = f"option {option}, {claim.kind}: {proof}"
        self._reading = replace(reading, problems=problems)
        usable = self._reading if "" not in problems else None
        return usable, self._reading.problem_text()

    def _write(self, option: str, claim: kinds.TypedClaim, number: int) -> Proof | str:
        library = self._tools.library
        if isinstance(library, str):
            return library
        if (foreign := find_foreign_code(self._question, option, claim)) is not None:
            return foreign
        proof = write_claim(self._question, option, tie_claim(claim), library, number, MODELLED)
        if isinstance(proof, str):
            return proof
        return find_loose_end(self._question, proof) or proof

    # --- Proving --------------------------------------------------------------------------------

    async def _prove(self, ctx: Any, node_input: Any = None) -> str:
        """Let a proof engineer prove what only a program can, if that can lead to a verdict."""
        stem = classify(self._question.text)
        if not stem.clear and self._reading.asks is None:
            return "it is not clear what is asked"
        programs = {
            option: claim
            for option, claims in self._reading.claims.items()
            for claim in claims
            if isinstance(claim, ProgramClaim)
        }
        if not programs:
            return "nothing to prove"
        self._desk = ProofDesk(self._question, programs, self._runner)
        engineer = ProofEngineer(
            self._desk, self._question, self._tools, self._session, is_negated=self._negated
        )
        await engineer.run(ctx)
        return "every claim has had its turns"

    @property
    def _negated(self) -> bool:
        stem = classify(self._question.text)
        return stem.negated or (self._reading.asks is StemKind.ONE_FALSE and not stem.clear)


@dataclass(frozen=True)
class _Pass:
    """Which transcript the questions that are proven in a task belong to, and which pass it is."""

    transcript: Transcript = field(default_factory=Transcript)
    number: int = 0


_pass: ContextVar[_Pass | None] = ContextVar("assay_model_pass", default=None)


class ModelProver:
    """Asks a model for claims and proofs; it is never given a key.

    Every question is asked in a session of its own, so that nothing of another pass, its critique
    or its claims can be in it.
    """

    name = MODELLED

    def __init__(self, access: ModelAccess, lexical: LexicalProver) -> None:
        self._access = access
        self._lexical = lexical

    async def prove(
        self, question: Question, options: Sequence[str], runner: TargetRunner
    ) -> Attempt:
        """Proofs for those of the options that the model could settle."""
        now = _pass.get() or _Pass()
        session = AgentSession(self._access, now.transcript, number=now.number)
        tools = await self.tools(question, runner)
        attempt = await Pipeline(question, options, runner, tools, session).run()
        return replace(attempt, proofs=tuple(map(self._sign, attempt.proofs)))

    def _sign(self, proof: Proof) -> Proof:
        model = self._access.settings_of("reader").name
        return replace(proof, claim=replace(proof.claim, model=model))

    async def close(self) -> None:
        """Close the connections to the model, in the event loop that they belong to."""
        await close_clients()

    async def tools(self, question: Question, runner: TargetRunner) -> LibraryTools:
        """Return what agents look at the target with."""
        library: Library | str = await self._lexical.library(question, runner)
        return LibraryTools(library, runner.environment)


@contextmanager
def open_pass(transcript: Transcript, number: int = 0) -> Iterator[None]:
    """Use this transcript for the provers while working on a pass over a question."""
    token = _pass.set(_Pass(transcript, number))
    try:
        yield
    finally:
        _pass.reset(token)
