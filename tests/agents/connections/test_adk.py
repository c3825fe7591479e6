"""Tests of google-adk in an environment that has it: in this process, and its API server."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.agents.connections import Settings
from assay.agents.sampling.conversation import Conversation, ConversationEnd
from tests.agents.environments import Hold, NotHere, holding_inside, made_with
from tests.agents.holding import GRACE, Says, calmest, held, held_often, texts
from tests.agents.serving import served

REQUIREMENT = "google-adk==2.13.0"

AGENT = '''
import asyncio

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.genai import errors, types


class Scripted(BaseLlm):
    """Repeats what it heard so far, unless it is told to fail or to be slow."""

    async def generate_content_async(self, llm_request, stream=False):
        said = [p.text for c in llm_request.contents if c.role == "user" for p in c.parts if p.text]
        if said[-1] == "fail":
            raise ValueError("no such song")
        if said[-1] == "overloaded":
            raise errors.ServerError(503, {"error": {"status": "UNAVAILABLE", "message": "busy"}})
        if said[-1] == "blocked":
            yield LlmResponse(error_code="SAFETY", error_message="not that")
            return
        if said[-1] == "wait":
            await asyncio.sleep(30)
        text = '{"a": 1}' if said[-1] == "structure" else " | ".join(said)
        parts = [types.Part(text="hm", thought=True), types.Part(text=text)]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def count(callback_context):
    state = callback_context.state
    state["turns"] = state.get("turns", 0) + 1
    state["user:turns"] = state.get("user:turns", 0) + 1


root = LlmAgent(name="echo", model=Scripted(model="scripted"), before_agent_callback=count)
root_agent = root
'''

# An App is a root agent with plugins for all of it; a Workflow is a graph of agents and functions.
APPS = """
from google.adk.apps import App
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.workflow import START, Workflow

from adk_agent import root


class Stamp(BasePlugin):
    async def on_user_message_callback(self, *, invocation_context, user_message):
        user_message.parts[0].text += "!"
        return user_message


def measure(node_input):
    if node_input == "burst":
        raise ValueError("too long")
    return {"length": len(node_input)}


app = App(name="stamped", root_agent=root, plugins=[Stamp(name="stamp")])
workflow = Workflow(name="measuring", edges=[(START, root, measure)])
root_agent = workflow
"""


@pytest.fixture(scope="module")
def python() -> Path:
    try:
        return made_with(REQUIREMENT, lambda: Path(sys.executable))
    except NotHere as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def hold(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hold]:
    folder = tmp_path_factory.mktemp("agents")
    (folder / "adk_agent.py").write_text(AGENT)
    (folder / "adk_apps.py").write_text(APPS)
    with holding_inside(python, folder) as hold:
        yield hold


def test_an_agent_of_google_adk(hold: Hold) -> None:
    patient = {"timeout": 60.0}
    turns: list[list[dict[str, Any]]] = [
        [
            {"text": "one", "sly_data": {"x": 1}, **patient},
            {"text": "two", "continue_conversation": False, **patient},
            {"text": "three", **patient},
        ],
        [{"text": "fail", **patient}],
        [{"text": "blocked", **patient}],
        [{"text": "overloaded", **patient}],
        [{"text": "wait", "timeout": 0.5}],
        [{"text": "structure", **patient}],
        [
            {"text": "one", "sly_data": {"x": 1, "y": 1}, **patient},
            {"text": "two", "sly_data": {"y": 2}, **patient},
            {"text": "three", "sly_data": {}, **patient},
            {"text": "four", **patient},
            {"text": "five", "sly_data": {"x": 5}, **patient},
        ],
    ]
    kept, failed, blocked, overloaded, slow, structured, replaced = hold(
        *(("adk_agent:root", each) for each in turns)
    )
    for sample in replaced:
        # What was sent is replaced; what the agent itself remembers is not.
        assert [
            {key: each["sly_data"].get(key, "gone") for key in ("x", "y", "turns")}
            for each in sample["answers"]
        ] == [
            {"x": 1, "y": 1, "turns": 1},
            {"x": "gone", "y": 2, "turns": 2},
            {"x": "gone", "y": "gone", "turns": 3},
            {"x": "gone", "y": "gone", "turns": 4},
            {"x": 5, "y": "gone", "turns": 5},
        ], sample
    for sample in kept:
        assert sample["ending"] == "complete", sample
        assert [each["text"] for each in sample["answers"]] == ["one", "one | two", "three"]
        # State of a user outlives a session in google-adk, but neither a sample nor a new start.
        first, second, third = (each["sly_data"] for each in sample["answers"])
        assert first == {"x": 1, "turns": 1, "user:turns": 1}
        assert second == {"x": 1, "turns": 2, "user:turns": 2}
        assert third == {"turns": 1, "user:turns": 1}
    # What its own code raises is the agent's failure.
    assert {sample["ending"] for sample in failed} == {"failed"}
    assert "no such song" in failed[0]["reason"]
    assert {sample["ending"] for sample in blocked} == {"failed"}
    assert "not that" in blocked[0]["reason"]
    # A model that is out of reach is not the agent.
    assert {sample["ending"] for sample in overloaded} == {"outage"}
    assert "busy" in overloaded[0]["reason"]
    assert {sample["ending"] for sample in slow} == {"too slow"}
    assert structured[0]["answers"][0]["structure"] == {"a": 1}


def test_an_app_of_google_adk_runs_with_its_plugins(hold: Hold) -> None:
    patient = {"timeout": 60.0}
    two_turns = [{"text": "one", **patient}, {"text": "two", **patient}]
    (samples,) = hold(("adk_apps:app", two_turns))
    for sample in samples:
        assert [each["text"] for each in sample["answers"]] == ["one!", "one! | two!"], sample


def test_a_workflow_of_google_adk_answers_with_the_output_of_its_last_node(hold: Hold) -> None:
    done, failed = hold(
        ("adk_apps:workflow", [{"text": "one", "sly_data": {"x": 1}, "timeout": 60.0}]),
        ("adk_apps:workflow", [{"text": "burst", "timeout": 60.0}]),
    )
    for sample in done:
        (answer,) = sample["answers"]
        assert answer["structure"] == {"length": 3}, sample
        assert json.loads(answer["text"]) == {"length": 3}
        assert answer["sly_data"]["x"] == 1
    for sample in failed:
        assert sample["ending"] == "failed"
        # What a node raises is not taken for a failure of the model.
        assert "the agent raised an error: ValueError: too long" in sample["reason"]


@pytest.fixture(scope="module")
def port(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The real API server, with an agent and a workflow."""
    folder = tmp_path_factory.mktemp("apps")
    modules = tmp_path_factory.mktemp("modules")
    (modules / "adk_agent.py").write_text(AGENT)
    (modules / "adk_apps.py").write_text(APPS)
    for name, module in (("echo", "adk_agent"), ("measuring", "adk_apps")):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("from . import agent\n")
        (folder / name / "agent.py").write_text(f"from {module} import root_agent\n")
    adk = [str(python.with_name("adk")), "api_server", str(folder), "--port"]
    with served(adk, tmp_path_factory.mktemp("log"), {"PYTHONPATH": str(modules)}) as port:
        yield port


def over_http(port: int, agent: str, *says: Says) -> Conversation:
    return held("adk", Settings(agent, host="127.0.0.1", port=port), *says)


def test_an_agent_behind_the_real_api_server(port: int) -> None:
    says = Says("one", {"x": 1}, timeout=60), Says("two", timeout=60, continue_conversation=False)
    settings = Settings("echo", host="127.0.0.1", port=port)
    for conversation in held_often(2, "adk", settings, *says, Says("three", timeout=60)):
        assert conversation.ending is ConversationEnd.COMPLETE, conversation.reason
        assert texts(conversation) == ["one", "one | two", "three"]
        first, second, third = (reply.answer.sly_data for reply in conversation.replies)
        # State of a user outlives a session on the server, but neither a sample nor a new start.
        assert first == {"x": 1, "turns": 1, "user:turns": 1}
        assert second == {"x": 1, "turns": 2, "user:turns": 2}
        assert third == {"turns": 1, "user:turns": 1}


def test_a_workflow_behind_the_real_api_server(port: int) -> None:
    (reply,) = over_http(port, "measuring", Says("one", timeout=60)).replies
    assert reply.answer.structure == {"length": 3}


def test_what_an_agent_behind_the_real_api_server_raises_is_its_failure(port: int) -> None:
    for said, reason in (("fail", "ValueError: no such song"), ("blocked", "not that")):
        conversation = over_http(port, "echo", Says(said, timeout=60))
        assert conversation.ending is ConversationEnd.FAILED
        assert f"the agent raised an error: {reason}" in str(conversation.reason)


def test_a_model_out_of_reach_behind_the_real_api_server_is_an_outage(port: int) -> None:
    conversation = over_http(port, "echo", Says("overloaded", timeout=60))
    assert conversation.ending is ConversationEnd.OUTAGE
    assert "the service of the agent's model is out" in str(conversation.reason)


def test_private_data_behind_the_real_api_server_is_replaced_and_not_added(port: int) -> None:
    sent: list[dict[str, Any] | None] = [{"x": 1, "y": 1}, {"y": 2}, {}, None, {"x": 5}]
    conversation = over_http(port, "echo", *(Says("hi", each, timeout=60) for each in sent))
    states = [reply.answer.sly_data or {} for reply in conversation.replies]
    assert [{key: state[key] for key in ("x", "y") if key in state} for state in states] == [
        {"x": 1, "y": 1},
        {"y": 2},
        {},
        {},
        {"x": 5},
    ], conversation.reason


def test_a_slow_agent_behind_the_real_api_server_ends_at_its_limit(port: int) -> None:
    settings = Settings("echo", host="127.0.0.1", port=port)
    conversation = calmest("adk", settings, Says("wait", timeout=0.5))
    assert conversation.ending is ConversationEnd.TOO_SLOW
    assert conversation.seconds < 0.5 + GRACE + 0.3


def test_the_real_api_server_knows_no_such_agent(port: int) -> None:
    conversation = over_http(port, "nobody", Says("one", timeout=60))
    assert conversation.ending is ConversationEnd.OUTAGE
    assert conversation.lasting
    assert "status 404" in str(conversation.reason)
