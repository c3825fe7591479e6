"""The correction loop: verifies a question, corrects a defective one and verifies it again.

    remediation_loop
      verification_pipeline ─► verdict_synthesizer ─► fix_handler ─► teardown
              ▲                                          │ remediation_engineer
              └────────────── a new definition ──────────┘

The verification pipeline is the one in `pipeline`, with a new session for every pass, so that a
prover never sees the key, the critique or the claims of an earlier pass. The verdict is given by
code. Only the remediation engineer is shown the key, and its answer is kept only if the verdict on
it is Valid.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from assay.model import CaseRecord
from assay.questions.api_understanding import api_record
from assay.questions.correct.correction import Correction, Corrector, RefusedCorrection
from assay.questions.examination import Examination, to_stored
from assay.questions.model import ApiQuestion, Question
from assay.questions.model_prover import prompts
from assay.questions.model_prover.adk_callbacks import AgentSession, run_workflow
from assay.questions.model_prover.api_questions import ask_about_answer
from assay.questions.model_prover.engineer import without_addresses
from assay.questions.model_prover.library_tools import LibraryTools
from assay.questions.model_prover.pipeline import open_pass
from assay.questions.model_prover.reading import parse_json
from assay.questions.model_prover.review import Reviewer
from assay.questions.model_prover.structured import TypedTask, ask_typed, compact_schema
from assay.questions.proof_runners import TargetRunner
from assay.questions.proofs.store import NewProof
from assay.questions.verdict.verdict import Verdict
from assay.questions.verification import Work, examine_question, judge_question

TRIES = 3
FIXER_TURNS = 12
_ACCUSED = (Verdict.INCORRECT.value, Verdict.AMBIGUOUS.value)
_OUTPUT = 1_200
_SOURCE = 3_000


class NewAnswer(BaseModel):
    """An accepted answer of a question that is answered by a name."""

    answer: str
    fully_qualified_class_name: list[str]


class NewDefinition(BaseModel):
    """The fields of a corrected question; those that are left out stay.

    `code` is that of the section it refers to; `answers` and `rationale` are of API questions.
    """

    question: str | None = None
    answers: list[NewAnswer] | None = None
    options: dict[str, str] | None = None
    correct_answer: str | None = None
    explanation: str | None = None
    code: str | None = None
    rationale: str | None = None


@dataclass
class Pass:
    """One definition of the question with its results."""

    work: Work
    correction: Correction | None = None
    examination: Examination | None = None
    record: CaseRecord | None = None
    new: Sequence[NewProof] = ()
    """Its new proofs, as they are to be stored."""

    @property
    def verdict(self) -> str:
        assert self.record is not None
        return str((self.record.detail or {})["verdict"])


@dataclass
class CorrectionResult:
    """All passes on a question; the first one is on the question as it is."""

    passes: list[Pass] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def first(self) -> Pass:
        return self.passes[0]

    @property
    def kept(self) -> Pass | None:
        """The corrected definition that is Valid."""
        last = self.passes[-1]
        return last if last.correction is not None and last.verdict == Verdict.VALID else None

    def as_values(self) -> dict[str, Any] | None:
        """Return the values for the record; None if no correction was requested."""
        if len(self.passes) == 1 and not self.notes:
            return None
        status = "fixed" if self.kept else "needs human review"
        tries = [
            {
                "definition": dict(one.correction.definition),
                "verdict": one.verdict,
                "reason": one.record.reason if one.record else "",
            }
            for one in self.passes
            if one.correction is not None
        ]
        kept = self.kept.correction if self.kept else None
        changes = dict(kept.changes) if kept else {}
        code = {"code": kept.code.as_values()} if kept and kept.code else {}
        return {"status": status, "tries": tries, "changes": changes, **code, "notes": self.notes}


class CorrectionLoop:
    """The loop for one question; without a `corrector` it ends after the first verdict."""

    def __init__(
        self,
        work: Work,
        runner: TargetRunner,
        session: AgentSession,
        *,
        writes: bool,
        tools: Callable[[Question], Any],
        corrector: Callable[[], Corrector] | None = None,
    ) -> None:
        self._blind = replace(session, is_keyed=False, sample=1, schemas={})
        self._runner = runner
        self._session = session
        self._writes = writes
        self._tools = tools
        self._make_corrector = corrector
        self._corrector: Corrector | None = None
        self._result = CorrectionResult([Pass(work)])
        self._proposed: Correction | None = None

    async def run(self) -> CorrectionResult:
        await run_workflow(self._workflow(), self._session)
        return self._result

    def _workflow(self) -> Any:
        from google.adk.workflow import START, FunctionNode, Workflow

        pipeline = FunctionNode(func=self._examine, name="verification_pipeline")
        synthesizer = FunctionNode(func=self._synthesize, name="verdict_synthesizer")
        handler = FunctionNode(func=self._fix, name="fix_handler", rerun_on_resume=True)
        teardown = FunctionNode(func=self._end, name="teardown")
        return Workflow(
            name="remediation_loop",
            edges=[
                (START, pipeline, synthesizer, {"fix": handler, "end": teardown}),
                (handler, {"again": pipeline, "end": teardown}),
            ],
        )

    # --- The nodes ------------------------------------------------------------------------------

    @property
    def _now(self) -> Pass:
        return self._result.passes[-1]

    async def _examine(self, node_input: Any = None) -> str:
        work, question = self._now.work, self._now.work.entry.question
        if isinstance(question, Question):
            with open_pass(self._session.transcript, self._tries):
                self._now.examination = await examine_question(
                    work,
                    question,
                    self._runner,
                    writes=False,
                    corrects=self._make_corrector is not None,
                )
        return "examined"

    @property
    def _tries(self) -> int:
        return len(self._result.passes) - 1

    async def _synthesize(self, ctx: Any, node_input: Any = None) -> str:
        now, tries = self._now, self._tries
        now.record = await self._judge(now)
        self._tell(now)
        wanted = self._make_corrector is not None and tries < TRIES
        # Where only proofs are missing there is nothing to correct, but a try may be repeated.
        accused = now.verdict in _ACCUSED or (tries > 0 and now.verdict != Verdict.VALID)
        ctx.route = "fix" if wanted and accused else "end"
        ctx.state["verdict"] = now.verdict
        return now.verdict

    async def _judge(self, now: Pass) -> CaseRecord:
        """Return the record of a pass: its verdict, given by code, and reviewed if it accuses."""
        question, tries = now.work.entry.question, self._tries
        blind = replace(self._blind, number=tries)
        tools = await self._tools(_plain(now.work))
        reviewer = Reviewer(blind, tools, is_correction=tries > 0)
        if isinstance(question, ApiQuestion):
            work = now.work
            record = await api_record(work.identifier, work.entry, question, self._runner)
            with open_pass(self._session.transcript, tries):
                return await ask_about_answer(
                    work, question, record, self._runner, reviewer, is_correction=tries > 0
                )
        assert isinstance(question, Question)
        assert now.examination is not None
        record = await judge_question(
            now.work, question, now.examination, self._runner, reviewer, is_correction=tries > 0
        )
        now.new = reviewer.sign(now.examination.new)
        if self._writes and now.correction is None:
            self._store(now, reviewer)
        return record

    def _store(self, now: Pass, reviewer: Reviewer) -> None:
        """Store the new proofs, and with those that are stored what a reviewer agreed to."""
        assert isinstance(now.work.entry.question, Question)
        question, lock = now.work.entry.question, self._runner.lock
        if now.new:
            now.work.store.save(question, now.new, lock)
        known = {one.proof.file for one in now.new}
        agreed = [to_stored(one) for one in reviewer.agreed.values() if one.proof.file not in known]
        if agreed:
            now.work.store.save(question, agreed, lock, beside=True)

    async def _fix(self, ctx: Any, node_input: Any = None) -> str:
        """Ask for a new definition; without one the loop ends."""
        assert self._make_corrector is not None
        self._corrector = self._corrector or self._make_corrector()
        self._proposed = None
        tools: LibraryTools = await self._tools(_plain(self._result.first.work))
        answer = await ask_typed(ctx, self._session, self._fix_task(tools))
        correction: Correction | None = self._proposed
        if correction is None:
            told = " ".join(str(answer or "").split())[:500]
            self._result.notes.append(f"no new definition was proposed: {told}")
            ctx.route = "end"
            return "nothing proposed"
        work = self._result.first.work
        self._result.passes.append(Pass(work.revise(correction.entry), correction))
        ctx.state["results"] = {}
        ctx.route = "again"
        return "proposed"

    def _end(self, node_input: Any = None) -> str:
        return self._now.verdict

    # --- The remediation engineer ---------------------------------------------------------------

    def _propose(self, given: Any) -> tuple[str, str]:
        """Take a new definition; return what was said, and why it is refused."""
        assert self._corrector is not None
        tried = [one.correction.definition for one in self._result.passes if one.correction]
        try:
            value = parse_json(given)
            self._proposed = self._corrector.correct(value, tried)
        except (RefusedCorrection, ValueError) as refused:
            return str(given), f"refused: {refused}"
        return str(given), ""

    def _fix_task(self, tools: LibraryTools) -> TypedTask[str]:
        assert self._corrector is not None
        first = self._result.first
        assert first.record is not None
        tried = [_describe_try(one) for one in self._result.passes if one.correction]
        definition, reason = self._corrector.definition, first.record.reason
        return TypedTask(
            agent="remediation_engineer",
            instruction=prompts.REMEDIATION,
            text=prompts.remediation_task(
                definition,
                reason,
                evidence(first.record),
                tried,
                tools.described,
                context=self._corrector.context,
            ),
            schema=compact_schema(NewDefinition),
            accept=self._propose,
            submit="update_benchmark_case",
            turns=FIXER_TURNS,
            tools=[tools.search_ranked_targets, tools.inspect_fqn, tools.read_source],
        )

    def _tell(self, now: Pass) -> None:
        assert now.record is not None
        self._session.transcript.add("verdict", "verdict_synthesizer", text=now.record.reason)


def _plain(work: Work) -> Question:
    """Return what a question says, for looking up its names."""
    question = work.entry.question
    if isinstance(question, Question):
        return question
    assert isinstance(question, ApiQuestion)
    return Question(question.id, question.text, {})


def evidence(record: CaseRecord) -> str:
    """Per option its finding, its claims and what their tests said."""
    lines: list[str] = []
    detail: dict[str, Any] = record.detail or {}
    options: dict[str, Any] = detail.get("options") or detail.get("candidates", {})
    for letter, option in options.items():
        name = f" {option['name']}" if "name" in option else ""
        lines.append(f"{letter}{name} {option['state']}: {option['reason']}")
        for proof in option["proofs"]:
            lines.append(f"  claim: {proof['statement']} ({proof['relation']}): {proof['truth']}")
            for test in proof["tests"]:
                told = (test["message"] or test["output"] or "").strip()[:_OUTPUT]
                lines.append(f"    {test['name']} {test['status']}{f': {told}' if told else ''}")
    return without_addresses("\n".join([*lines, *_sources(record)]))


def _sources(record: CaseRecord) -> Iterator[str]:
    """Yield the proofs of the key and of what holds beside it."""
    detail: dict[str, Any] = record.detail or {}
    for letter in dict.fromkeys([detail.get("key"), *detail.get("answers", ())]):
        for proof in detail.get("options", {}).get(letter, {}).get("proofs", ())[:1]:
            yield f"\nThe proof of {letter}:\n{proof['source'][:_SOURCE]}"


def _describe_try(tried: Pass) -> str:
    assert tried.correction is not None
    assert tried.record is not None
    definition = json.dumps(dict(tried.correction.definition), indent=2, ensure_ascii=False)
    return f"{definition}\n\n{tried.record.reason}\n{evidence(tried.record)}"
