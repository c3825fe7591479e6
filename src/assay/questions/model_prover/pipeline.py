"""The verification pipeline: claims, then proofs, in a session that never sees a key.

    verification_pipeline
      setup ─► claim_analyst ─► claim_check ─► proof_engineer_loop ─► teardown
                     ▲               │            └ proof_engineer, once per option
                     └── sent back ──┘

Claims are in the session's state under `claims`, their results under `results`. The folder that
`setup` makes is always removed when the pipeline ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.questions.claims import Library
from assay.questions.lexical import LexicalProver
from assay.questions.model import Question
from assay.questions.model_prover import prompts
from assay.questions.model_prover.adk_callbacks import AgentSession, ModelAccess, run_workflow
from assay.questions.model_prover.adk_models import close_clients
from assay.questions.model_prover.engineer_tools import (
    EngineerTools,
    file_of,
    new_folder,
    remove_folder,
)
from assay.questions.model_prover.library_tools import LibraryTools
from assay.questions.model_prover.tasks import Tasks, read_tasks
from assay.questions.model_prover.transcripts import Transcript
from assay.questions.proof_runners import Attempt, TargetRunner
from assay.questions.proofs.claims import MODELLED, Proof

# Calls of the model: for the claims of a question, and for the proofs of one option.
ANALYST_TURNS = 16
ENGINEER_TURNS = 12
# How often claims may be malformed: the first ones are sent back.
_MALFORMED = 2
# How often an engineer that stops without a proof is asked to go on.
_REMINDERS = 1


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
        self._target = tools.described
        self._folder: Path | None = None
        self._tasks = Tasks()
        self._malformed = 0
        self._engineers: dict[str, EngineerTools] = {}

    async def run(self) -> Attempt:
        """Proofs that settled their claims, and per option why there is none."""
        try:
            state = await run_workflow(self._workflow(), self._session)
        finally:
            self._remove()
        self._session.transcript.add(
            "state", "verification_pipeline", value={k: state.get(k) for k in ("claims", "results")}
        )
        proofs = self._proofs
        reasons = {
            **self._tasks.reasons(self._options),
            **{option: one.why_open() for option, one in self._engineers.items()},
        }
        proven = {proof.claim.option for proof in proofs}
        return Attempt(proofs, {k: v for k, v in reasons.items() if k not in proven})

    @property
    def _proofs(self) -> tuple[Proof, ...]:
        return tuple(proof for one in self._engineers.values() for proof in one.proofs)

    def _workflow(self) -> Any:
        from google.adk.workflow import START, FunctionNode, Workflow

        analyst = self._analyst()
        setup = FunctionNode(func=self._setup, name="setup")
        check = FunctionNode(func=self._check, name="claim_check")
        loop = FunctionNode(func=self._prove, name="proof_engineer_loop", rerun_on_resume=True)
        teardown = FunctionNode(func=self._teardown, name="teardown")
        return Workflow(
            name="verification_pipeline",
            edges=[
                (START, setup, analyst, check, {"again": analyst, "on": loop}),
                (loop, teardown),
            ],
        )

    # --- The nodes ------------------------------------------------------------------------------

    def _setup(self, ctx: Any) -> str:
        self._folder = new_folder()
        ctx.state["claims"] = []
        ctx.state["results"] = {}
        self._session.turns = ANALYST_TURNS
        return self._analyst_task()

    def _check(self, ctx: Any, node_input: Any = None) -> str:
        """Read what the analyst answered, if it did not submit claims; back once, then on."""
        if not self._is_answered:
            self._submit(node_input if isinstance(node_input, str) else "")
        if not self._is_answered:
            ctx.route = "again"
            return f"{self._analyst_task()}\n\n{self._rejection(node_input)}"
        ctx.state["claims"] = [task.model_dump(mode="json") for task in self._tasks.tasks]
        ctx.route = "on"
        return "the claims are in"

    async def _prove(self, ctx: Any, node_input: Any = None) -> str:
        for option in dict.fromkeys(task.option for task in self._tasks.tasks):
            await self._prove_option(ctx, option)
            ctx.state["results"] = {
                name: _result(engineer) for name, engineer in self._engineers.items()
            }
        return "every option has had its turns"

    def _teardown(self, node_input: Any = None) -> str:
        self._remove()
        return "done"

    def _remove(self) -> None:
        if self._folder is not None:
            remove_folder(self._folder)
            self._folder = None

    # --- The agents -----------------------------------------------------------------------------

    def _analyst(self) -> Any:
        def submit_claims(claims: list[dict[str, Any]], tool_context: Any) -> dict[str, Any]:
            told = self._submit(claims)
            if self._is_answered:
                tool_context.actions.skip_summarization = True
            return told

        submit_claims.__doc__ = _SUBMIT
        return self._agent("claim_analyst", prompts.ANALYST, [*self._library(), submit_claims])

    def _make_engineer(self, engineer: EngineerTools) -> Any:
        async def run_proof(path: str, tool_context: Any, fresh: bool = False) -> dict[str, Any]:
            told = await engineer.run_proof(path, fresh)
            tool_context.actions.skip_summarization = engineer.is_done or None
            return told

        def give_up(reason: str, tool_context: Any) -> dict[str, Any]:
            tool_context.actions.skip_summarization = True
            return engineer.give_up(reason)

        run_proof.__doc__ = engineer.run_proof.__doc__
        give_up.__doc__ = engineer.give_up.__doc__
        tools = [*self._library(), engineer.write_file, run_proof, engineer.read_file, give_up]
        return self._agent("proof_engineer", prompts.ENGINEER, tools)

    def _agent(self, name: str, instruction: str, tools: Sequence[Any]) -> Any:
        return make_agent(self._session, name, instruction, tools)

    def _library(self) -> list[Any]:
        return [self._tools.search_ranked_targets, self._tools.inspect_fqn, self._tools.read_source]

    # --- Claims ---------------------------------------------------------------------------------

    def _analyst_task(self) -> str:
        return prompts.analyst_task(self._question, self._options, self._target)

    @property
    def _is_answered(self) -> bool:
        """Whether there are claims about every option, or no more are asked for."""
        return self._malformed == _MALFORMED or bool(self._tasks.tasks and not self._tasks.problems)

    def _submit(self, given: Any) -> dict[str, Any]:
        """Accept claims; malformed ones may be corrected once, then the usable ones are kept."""
        self._tasks = read_tasks(given, self._question, self._options)
        if not self._tasks.problems:
            return {"accepted": len(self._tasks.tasks)}
        self._malformed += 1
        told = self._tasks.error_text()
        return {"error": f"the claims are malformed, correct and submit all of them again: {told}"}

    def _rejection(self, answer: Any) -> str:
        return (
            "You have answered this before, and your claims were malformed: "
            f"{self._tasks.error_text()}. Submit "
            f"them with `submit_claims`. Your answer was:\n{prompts.data(str(answer)[:4_000])}"
        )

    # --- Proofs ---------------------------------------------------------------------------------

    async def _prove_option(self, ctx: Any, option: str) -> None:
        assert self._folder is not None
        folder = self._folder / option_folder(option)
        folder.mkdir()
        engineer = EngineerTools(folder, self._question, option, self._tasks, self._runner)
        self._engineers[option] = engineer
        self._session.turns = ENGINEER_TURNS
        tasks = {file_of(task, self._tasks): task for task in self._tasks.of(option)}
        accepted = next((one.source for one in self._proofs), "")
        task = prompts.engineer_task(self._question, option, tasks, self._target, accepted)
        for reminder in range(1 + _REMINDERS):
            more = f"\n\n{_reminder(engineer)}" if reminder else ""
            await ctx.run_node(self._make_engineer(engineer), node_input=f"{task}{more}")
            if engineer.is_done or self._session.is_out_of_turns:
                break


def make_agent(session: AgentSession, name: str, instruction: str, tools: Sequence[Any]) -> Any:
    """Return an agent of a session; its instruction is used verbatim, including braces."""
    from google.adk.agents import LlmAgent
    from google.adk.tools.function_tool import FunctionTool

    return LlmAgent(
        name=name,
        model=session.access.model,
        instruction=lambda _: instruction,
        tools=[FunctionTool(tool) for tool in tools],
        mode="single_turn",
        include_contents="none",
        disallow_transfer_to_parent=True,
        disallow_transfer_to_peers=True,
        **session.callbacks(),
    )


def option_folder(option: str) -> str:
    """Return a folder name for an option, whatever its letter is."""
    return f"option_{option.encode().hex()}"


def _result(engineer: EngineerTools) -> dict[str, Any]:
    settled = {name: trial.settled.truth.value for name, trial in engineer.settled.items()}
    return {"settled": settled, "open": "" if engineer.proofs else engineer.why_open()}


def _reminder(engineer: EngineerTools) -> str:
    return (
        "You have stopped before every claim was settled. The last word of `run_proof` was: "
        f"{engineer.why_open()}. Go on, or call `give_up`."
    )


_SUBMIT = """Hand in the claims about the options; this ends your work.

Args:
    claims: One object per claim with option, type (positive or negative), claim, hypothesis,
        code_snippet_hint and relation (equivalent, necessary or sufficient).

Returns:
    Whether they were accepted, else what is wrong with them.
"""


# Which transcript the questions that are proven in a task belong to.
_transcript: ContextVar[Transcript | None] = ContextVar("assay_transcript", default=None)


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
        session = AgentSession(self._access, _transcript.get() or Transcript())
        tools = await self.tools(question, runner)
        attempt = await Pipeline(question, options, runner, tools, session).run()
        model = self._access.settings.name
        return replace(
            attempt,
            proofs=tuple(
                replace(one, claim=replace(one.claim, model=model)) for one in attempt.proofs
            ),
        )

    async def close(self) -> None:
        """Close the connections to the model, in the event loop that they belong to."""
        await close_clients()

    async def tools(self, question: Question, runner: TargetRunner) -> LibraryTools:
        """Return what agents look at the target with."""
        library: Library | str = await self._lexical.library(question, runner)
        return LibraryTools(library, runner.environment)


@contextmanager
def recording(transcript: Transcript) -> Any:
    """Use this transcript for the provers while working on a question."""
    token = _transcript.set(transcript)
    try:
        yield
    finally:
        _transcript.reset(token)
