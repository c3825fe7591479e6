"""Repair questions with a model: is the solution given away, and can it be found without it?

    proctor       is shown the solution and looks for it in what a solver is given
    solver_loop   solver sees the description and the broken file, never the solution or the test

A proctor's report counts only if the passage it quotes exists; a repair counts only if the test
passes on it. Results of execution from before a model is asked are not changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from assay.model import CaseRecord
from assay.questions.authorship import EXECUTED, Source
from assay.questions.fix_error import fix_record, plain_text, prose_of
from assay.questions.model import FixQuestion
from assay.questions.model_prover import prompts
from assay.questions.model_prover.adk_callbacks import AgentSession, run_workflow
from assay.questions.model_prover.library_tools import LibraryTools
from assay.questions.model_prover.structured import make_agent
from assay.questions.proof_runners import TargetRunner
from assay.questions.records import simple_record
from assay.questions.verdict.verdict import Verdict
from assay.questions.verification import Work
from assay.reports import count
from assay.sandbox import ProofOutcome, Status

PROCTOR_TURNS = 4
SOLVER_TURNS = 10
# Shorter passages stand in every text and give nothing away.
_SHORTEST_QUOTE = 8
_LONGEST_FILE = 60_000
_MESSAGE = 800


async def repair_record(
    work: Work,
    question: FixQuestion,
    runner: TargetRunner,
    session: AgentSession,
    tools: LibraryTools,
) -> CaseRecord:
    """Return the record of a repair question; a model is asked only if execution finds it Valid."""
    record = await fix_record(work.identifier, work.entry, question, runner)
    detail: dict[str, Any] = dict(record.detail or {})
    if detail["verdict"] != Verdict.VALID:
        return record
    model = f"model {session.access.settings.name}"
    leak = await Proctor(question, replace(session, is_keyed=True)).run()
    if leak is not None:
        reason = f"the solution is given away: {leak}"
        return _record(work, Verdict.LEAKED, reason, detail, Source(author=model))
    solver = Solver(question, runner, replace(session, is_keyed=False), tools)
    solved = await solver.run()
    detail["repairs"] = solver.tried
    if solved:
        tries = count(len(solver.tried), "attempt")
        reason = f"{detail['reason']}; it was solved from the description in {tries}"
        return _record(work, Verdict.VALID, reason, detail, EXECUTED)
    source = Source(EXECUTED.grounds, model)
    return _record(work, Verdict.UNSOLVED, solver.why_not(), detail, source)


def _record(
    work: Work, verdict: Verdict, reason: str, detail: dict[str, Any], source: Source
) -> CaseRecord:
    own = ("version", "place", "verdict", "reason", "grounds", "author")
    kept = {k: v for k, v in detail.items() if k not in own}
    return simple_record(work.identifier, work.entry, verdict, reason, kept, source)


def solver_text(question: FixQuestion) -> str:
    """Return the text that a solver is given."""
    parts = [question.name, question.description.strip()]
    if question.requirements:
        parts.append("\n".join(f"- {one}" for one in question.requirements))
    if question.error_output:
        parts.append(f"What the test says now:\n{question.error_output.strip()}")
    parts.append(f"The file {question.module}:\n```python\n{question.unfixed.rstrip()}\n```")
    return "\n\n".join(parts)


class Proctor:
    """Looks for the solution in what a solver is given."""

    def __init__(self, question: FixQuestion, session: AgentSession) -> None:
        self._question = question
        self._session = session
        self._leak: str | None = None

    async def run(self) -> str | None:
        """Return the passage that gives the solution away, if there is one."""
        from google.adk.workflow import START, FunctionNode, Workflow

        def setup() -> str:
            self._session.turns = PROCTOR_TURNS
            return prompts.proctor_task(solver_text(self._question), self._question.fixed)

        agent = make_agent(self._session, "proctor", prompts.PROCTOR, [self._tool()])
        nodes = (FunctionNode(func=setup, name="setup"), agent)
        await run_workflow(Workflow(name="proctoring", edges=[(START, *nodes)]), self._session)
        return self._leak

    def _tool(self) -> Any:
        def report(leaked: bool, quote: str, tool_context: Any) -> dict[str, Any]:
            """Report whether the solution is given away; this ends your work.

            Args:
                leaked: Whether the texts a solver is given contain the solution.
                quote: The passage that contains it, word for word; empty if there is none.

            Returns:
                Whether the report was accepted, else why not.
            """
            problem = self._problem(quote) if leaked else ""
            if problem:
                return {"refused": problem}
            self._leak = " ".join(quote.split())[:300] if leaked else None
            tool_context.actions.skip_summarization = True
            return {"accepted": True}

        return report

    def _problem(self, quote: str) -> str:
        question = self._question
        told = "\n".join(
            [
                question.name,
                question.description,
                *question.requirements,
                question.error_output,
                prose_of(question.unfixed),
            ]
        )
        bare = plain_text(quote)
        if len(bare) < _SHORTEST_QUOTE:
            return "the passage is too short to give anything away"
        if bare not in plain_text(told):
            return "the passage is in no text, comment or string that a solver is given"
        return ""


class Solver:
    """Tries to repair the file from its description; every try is run against the test."""

    def __init__(
        self,
        question: FixQuestion,
        runner: TargetRunner,
        session: AgentSession,
        tools: LibraryTools,
    ) -> None:
        self._question = question
        self._runner = runner
        self._session = session
        self._tools = tools
        self._is_solved = False
        self.tried: list[dict[str, Any]] = []

    async def run(self) -> bool:
        from google.adk.workflow import START, FunctionNode, Workflow

        def setup() -> str:
            self._session.turns = SOLVER_TURNS
            return prompts.solver_task(solver_text(self._question))

        async def solver_loop(ctx: Any, node_input: Any) -> str:
            await ctx.run_node(self._agent(), node_input=node_input)
            return "solved" if self._is_solved else "not solved"

        nodes = (
            FunctionNode(func=setup, name="setup"),
            FunctionNode(func=solver_loop, name="solver_loop", rerun_on_resume=True),
        )
        await run_workflow(Workflow(name="solving", edges=[(START, *nodes)]), self._session)
        return self._is_solved

    def why_not(self) -> str:
        if not self.tried:
            return "the model proposed no repair"
        told = self.tried[-1]["failure"]
        tries = count(len(self.tried), "attempt")
        return f"the model did not solve it in {tries}; the last one: {told}"

    def _agent(self) -> Any:
        async def try_repair(content: str, tool_context: Any) -> dict[str, Any]:
            """Run the test on a repaired file.

            Args:
                content: The whole text of the repaired file.

            Returns:
                Whether every test passes, else what failed.
            """
            told = await self._try(content)
            tool_context.actions.skip_summarization = self._is_solved or None
            return told

        looking = [
            self._tools.search_ranked_targets,
            self._tools.inspect_fqn,
            self._tools.read_source,
        ]
        return make_agent(self._session, "solver", prompts.SOLVER, [*looking, try_repair])

    async def _try(self, content: str) -> dict[str, Any]:
        if len(content) > _LONGEST_FILE:
            return {"error": f"the file is longer than {_LONGEST_FILE} characters"}
        question = self._question
        name = f"{question.module.replace('.', '/')}.py"
        outcome = await self._runner.proof_runner.run(
            question.test, fresh=True, files={**dict(question.companions), name: content}
        )
        self._is_solved = outcome.passed
        failure = "" if outcome.passed else _failure(outcome)
        self.tried.append({"passed": outcome.passed, "failure": failure})
        return {"passed": True} if outcome.passed else {"failed": failure}


def _failure(outcome: ProofOutcome) -> str:
    told = [
        f"{test.name} {test.status}: {test.message.strip()[:_MESSAGE]}"
        for test in outcome.tests
        if test.status is not Status.PASSED
    ]
    return "\n".join(told) or outcome.objection or "no test ran"
