"""Typed answers of a model: by the provider's schema, by a tool call, or as JSON in a text.

A malformed answer goes back with what is wrong with it, at most twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from assay.questions.model_prover.adk_callbacks import AgentSession, run_workflow
from assay.questions.model_prover.adk_models import ANSWER_TOOLS
from assay.questions.model_prover.fences import data
from assay.questions.model_prover.reading import parse_json

SENT_BACK = 2
_SHOWN = 4_000

T = TypeVar("T")


@dataclass(frozen=True)
class TypedTask(Generic[T]):
    """What an agent is asked, and `accept`: the value of its answer, and what is wrong with it.

    Of an answer without a value nothing can be used.
    """

    agent: str
    instruction: str
    text: str
    schema: dict[str, Any]
    accept: Callable[[Any], tuple[T | None, str]]
    submit: str
    turns: int
    tools: Sequence[Any] = ()


class _Inbox(Generic[T]):
    """What an agent has answered so far."""

    def __init__(self, task: TypedTask[T]) -> None:
        self._task = task
        self.value: T | None = None
        self.problem = ""
        self.malformed = 0
        self.is_done = False

    def take(self, given: Any) -> None:
        self.value, self.problem = self._task.accept(given)
        self.malformed += bool(self.problem)
        self.is_done = not self.problem or self.malformed > SENT_BACK


async def ask_typed(ctx: Any, session: AgentSession, task: TypedTask[T]) -> T | None:
    """Return the answer of an agent in a node of a workflow; what is malformed costs its part."""
    inbox = _Inbox(task)

    def submit(answer: dict[str, Any], tool_context: Any) -> dict[str, Any]:
        """Hand in the answer. If something is wrong with it, correct that and hand in all of it.

        Args:
            answer: The JSON object that is asked for.
        """
        inbox.take(answer)
        if inbox.is_done:
            tool_context.actions.skip_summarization = True
            return {"accepted": not inbox.problem}
        return {"error": inbox.problem}

    assert task.submit in ANSWER_TOOLS
    submit.__name__ = task.submit
    session.begin_task()
    session.turns = task.turns
    session.schemas[task.agent] = task.schema
    text = task.text
    while not inbox.is_done:
        agent = make_agent(session, task.agent, task.instruction, [*task.tools, submit])
        said = str(await ctx.run_node(agent, node_input=text) or "")
        if inbox.is_done:
            break
        if session.is_out_of_turns and not said.strip():
            inbox.problem = inbox.problem or "no turns were left for an answer"
            break
        inbox.take(said)
        text = f"{task.text}\n\n{_reject(inbox, said)}"
    if inbox.value is None:
        session.forget_task()
    return inbox.value


def _reject(inbox: _Inbox[Any], said: str) -> str:
    left = 1 + SENT_BACK - inbox.malformed
    return (
        f"You have answered this, and the answer was malformed. Answer with the whole JSON object; "
        f"attempts left: {left}. What is wrong:\n{data(inbox.problem)}\nYour answer was:\n"
        f"{data(said[:_SHOWN])}"
    )


def compact_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """Return a JSON Schema without words for people: they would be paid with each call."""
    shape: dict[str, Any] = _without_words(schema.model_json_schema())
    return {"title": schema.__name__, **shape}


def _without_words(node: Any, *, is_named: bool = False) -> Any:
    if isinstance(node, list):
        return [_without_words(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _without_words(value, is_named=key in ("properties", "$defs") and not is_named)
        for key, value in node.items()
        if is_named or key not in ("title", "description", "default", "discriminator")
    }


def accept_model(
    schema: type[BaseModel], check: Callable[[Any], str] = lambda _: ""
) -> Callable[[Any], tuple[Any, str]]:
    """Return what accepts an answer of a pydantic model; `check` says what else is wrong."""

    def accept(given: Any) -> tuple[Any, str]:
        try:
            value = schema.model_validate(parse_json(given))
        except ValidationError as error:
            first = error.errors()[0]
            path = ".".join(map(str, first["loc"]))
            shape = f"the schema is {json.dumps(compact_schema(schema))}"
            return None, f"{path}: {first['msg']}; {shape}"
        except ValueError as error:
            return None, f"it is not a JSON object: {error}"
        return value, check(value)

    return accept


def make_agent(session: AgentSession, name: str, instruction: str, tools: Sequence[Any]) -> Any:
    """Return an agent of a session; its instruction is used verbatim, including braces."""
    from google.adk.agents import LlmAgent
    from google.adk.tools.function_tool import FunctionTool
    from google.genai import types

    settings = session.access.settings_of(name)
    return LlmAgent(
        name=name,
        model=session.access.model_of(name),
        instruction=lambda _: instruction,
        tools=[FunctionTool(tool) for tool in tools],
        generate_content_config=types.GenerateContentConfig(temperature=settings.temperature),
        mode="single_turn",
        include_contents="none",
        disallow_transfer_to_parent=True,
        disallow_transfer_to_peers=True,
        **session.callbacks(),
    )


async def run_alone(session: AgentSession, name: str, node: Callable[..., Any]) -> None:
    """Run a workflow of one node."""
    from google.adk.workflow import START, FunctionNode, Workflow

    only = FunctionNode(func=node, name=name, rerun_on_resume=True)
    await run_workflow(Workflow(name=f"{name}_alone", edges=[(START, only)]), session)
