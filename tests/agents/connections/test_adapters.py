"""Tests of graphs of LangGraph and Agents of pydantic-ai, in an environment that has them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.environments import Hold, NotHere, holding_inside, made_with

REQUIREMENTS = ("langgraph==1.2.20", "pydantic-ai-slim==2.66.0")

GRAPHS = """
import asyncio
import operator
from typing import Annotated

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph


class State(MessagesState):
    notes: Annotated[list[str], operator.add]
    structured_response: dict


async def answer(state):
    said = [each.content for each in state["messages"] if each.type == "human"]
    if said[-1] == "fail":
        raise ValueError("no such song")
    if said[-1] == "wait":
        await asyncio.sleep(60)
    reply = {"role": "assistant", "content": [{"type": "text", "text": " | ".join(said)}]}
    return {"messages": [reply], "notes": [said[-1]], "structured_response": {"turns": len(said)}}


def build(state):
    graph = StateGraph(state)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    return graph


plain = build(State).compile()
saving = build(State).compile(checkpointer=InMemorySaver())
stopping = build(State).compile(checkpointer=InMemorySaver(), interrupt_before=["answer"])
"""

AGENTS = """
import asyncio

from pydantic import BaseModel
from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel


async def model(messages, info):
    prompts = [p for m in messages for p in m.parts if p.part_kind == "user-prompt"]
    said = [each.content for each in prompts]
    if said[-1] == "fail":
        raise ValueError("no such song")
    if said[-1] == "wait":
        await asyncio.sleep(60)
    if info.output_tools:
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"turns": len(said)})])
    return ModelResponse(parts=[TextPart(" | ".join(said))])


class Turns(BaseModel):
    turns: int


plain = Agent(FunctionModel(model))
typed = Agent(FunctionModel(model), output_type=Turns, deps_type=dict)


@typed.instructions
def instruct(context: RunContext[dict]) -> str:
    context.deps["seen"] = True
    return "count"
"""


@pytest.fixture(scope="module")
def python() -> Path:
    try:
        return made_with(REQUIREMENTS[0], lambda: Path(sys.executable), *REQUIREMENTS[1:])
    except NotHere as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def hold(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hold]:
    folder = tmp_path_factory.mktemp("agents")
    (folder / "graphs.py").write_text(GRAPHS)
    (folder / "agents.py").write_text(AGENTS)
    with holding_inside(python, folder) as hold:
        yield hold


def says(*said: str, **more: Any) -> list[dict[str, Any]]:
    return [{"text": one, "timeout": 60.0, **more} for one in said]


@pytest.mark.parametrize("graph", ["plain", "saving"])
def test_a_graph_remembers_and_its_state_is_the_private_data(hold: Hold, graph: str) -> None:
    first, second = says("one", sly_data={"notes": ["sent"]}), says("two", "three")
    failing, slow = says("fail"), [{"text": "wait", "timeout": 0.5}]
    kept, failed, late = hold(
        (f"graphs:{graph}", [*first, *second]),
        (f"graphs:{graph}", failing),
        (f"graphs:{graph}", slow),
    )
    for sample in kept:
        assert sample["ending"] == "complete", sample
        answers = sample["answers"]
        assert [each["text"] for each in answers] == ["one", "one | two", "one | two | three"]
        assert [each["structure"] for each in answers] == [{"turns": n} for n in (1, 2, 3)]
        # What the state adds up is not added again when it comes back.
        assert answers[2]["sly_data"] == {"notes": ["sent", "one", "two", "three"]}
    for sample in failed:
        assert sample["ending"] != "complete"
        assert "no such song" in sample["reason"]
    assert {sample["ending"] for sample in late} == {"too slow"}


def test_a_graph_that_waits_for_a_person_is_an_outage(hold: Hold) -> None:
    (samples,) = hold(("graphs:stopping", says("one")))
    for sample in samples:
        assert sample["ending"] == "outage", sample


def test_an_agent_of_pydantic_ai_remembers(hold: Hold) -> None:
    kept, failed, late = hold(
        ("agents:plain", says("one", "two")),
        ("agents:plain", says("fail")),
        ("agents:plain", [{"text": "wait", "timeout": 0.5}]),
    )
    for sample in kept:
        assert [each["text"] for each in sample["answers"]] == ["one", "one | two"], sample
    for sample in failed:
        assert sample["ending"] != "complete"
        assert "no such song" in sample["reason"]
    assert {sample["ending"] for sample in late} == {"too slow"}


def test_typed_output_of_pydantic_ai_is_structure_and_dependencies_are_private_data(
    hold: Hold,
) -> None:
    (samples,) = hold(("agents:typed", says("one", "two", sly_data={"x": 1})))
    for sample in samples:
        assert [each["structure"] for each in sample["answers"]] == [{"turns": 1}, {"turns": 2}]
        assert sample["answers"][1]["sly_data"] == {"x": 1, "seen": True}
