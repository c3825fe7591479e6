"""Tests of A2A against a server of a2a-sdk, in both versions of the protocol, and broken ones."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.agents.connections import Settings
from assay.agents.sampling.conversation import ConversationEnd
from tests.agents.connections.peers import JSON
from tests.agents.environments import NotHere, made_with
from tests.agents.holding import GRACE, Says, calmest, held, held_often, texts
from tests.agents.scripted_server import Request, Script, ScriptedServer, Wire
from tests.agents.serving import served

REQUIREMENTS = ("a2a-sdk[http-server]==1.3.0", "uvicorn==0.41.0")

SERVER = """
import asyncio, sys

import uvicorn
from a2a.helpers import (
    new_data_part, new_task_from_user_message, new_text_message, new_text_part,
)
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette

version, port = sys.argv[1:]
turns = {}


class Echo(AgentExecutor):
    async def execute(self, context, queue):
        text = context.get_user_input()
        said = turns.setdefault(context.context_id, [])
        said.append(text)
        if text == "raise":
            raise ValueError("no such song")
        if text == "wait":
            await asyncio.sleep(60)
        if text == "message":
            answer = new_text_message(" | ".join(said), context_id=context.context_id)
            return await queue.enqueue_event(answer)
        task = context.current_task
        if not task:
            task = new_task_from_user_message(context.message)
            await queue.enqueue_event(task)
        work = TaskUpdater(queue, task.id, task.context_id)
        if text == "fail":
            return await work.failed(new_text_message("no such song"))
        if text == "reject":
            return await work.reject(new_text_message("not my field"))
        if text == "ask":
            return await work.requires_input(new_text_message("which one?"))
        await work.start_work()
        parts = [new_text_part(" | ".join(said))]
        if text == "data":
            parts.append(new_data_part({"turns": len(said)}))
        await work.add_artifact(parts)
        await work.complete()

    async def cancel(self, context, queue):
        pass


# The address on the card is one that only the server's own network knows.
spoken = AgentInterface(
    url="http://10.255.255.1:9/rpc", protocol_binding="JSONRPC", protocol_version=version
)
card = AgentCard(
    name="Song Agent", description="songs", version="1", capabilities=AgentCapabilities(),
    default_input_modes=["text"], default_output_modes=["text"], supported_interfaces=[spoken],
    skills=[AgentSkill(id="songs", name="songs", description="songs", tags=["songs"])],
)
handler = DefaultRequestHandler(Echo(), InMemoryTaskStore(), card)
rpc = create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=True)
uvicorn.run(Starlette(routes=[*create_agent_card_routes(card), *rpc]), port=int(port))
"""


@pytest.fixture(scope="module", params=["1.0", "0.3"])
def port(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    try:
        python = made_with(REQUIREMENTS[0], lambda: Path(sys.executable), *REQUIREMENTS[1:])
    except NotHere as reason:
        pytest.skip(str(reason))
    folder = tmp_path_factory.mktemp("a2a")
    (folder / "server.py").write_text(SERVER)
    with served([str(python), "server.py", request.param], folder) as port:
        yield port


def real(port: int, agent: str = "Song Agent") -> Settings:
    return Settings(agent, host="127.0.0.1", port=port)


def says(*said: str) -> list[Says]:
    return [Says(one, timeout=60) for one in said]


def test_a_real_agent_remembers_by_its_context(port: int) -> None:
    for conversation in held_often(3, "a2a", real(port), *says("one", "message", "three")):
        assert conversation.ending is ConversationEnd.COMPLETE, conversation.reason
        assert texts(conversation) == ["one", "one | message", "one | message | three"]


def test_data_of_a_real_agent_is_the_structure(port: int) -> None:
    (reply,) = held("a2a", real(port), *says("data")).replies
    assert (reply.answer.text, reply.answer.structure) == ("data", {"turns": 1})


def test_a_question_of_a_real_agent_is_answered_within_its_task(port: int) -> None:
    conversation = held("a2a", real(port), *says("ask", "that one"))
    assert texts(conversation) == ["which one?", "ask | that one"], conversation.reason


def test_a_task_that_a_real_agent_calls_failed_is_its_failure(port: int) -> None:
    conversation = held("a2a", real(port), *says("fail"))
    assert conversation.ending is ConversationEnd.FAILED
    assert "its task failed: no such song" in str(conversation.reason)


def test_what_a_real_agent_rejects_is_an_answer_for_the_checks(port: int) -> None:
    assert texts(held("a2a", real(port), *says("reject"))) == ["not my field"]


def test_what_a_real_agent_raises_comes_as_an_internal_error_like_any_fault_of_the_server(
    port: int,
) -> None:
    conversation = held("a2a", real(port), *says("raise"))
    assert conversation.ending is ConversationEnd.OUTAGE
    assert "error -32603" in str(conversation.reason)


def test_a_slow_real_agent_ends_at_its_limit(port: int) -> None:
    conversation = calmest("a2a", real(port), Says("wait", timeout=0.5))
    assert conversation.ending is ConversationEnd.TOO_SLOW
    assert conversation.seconds < 0.5 + GRACE + 0.3


def test_another_agent_than_the_file_names_is_not_tested(port: int) -> None:
    conversation = held("a2a", real(port, "Bank Agent"), *says("one"))
    assert conversation.ending is ConversationEnd.OUTAGE
    assert "another agent is served there: Song Agent" in str(conversation.reason)


def serving(task: Any, *later: Any, card: Any = None) -> Script:
    """An agent of version 1.0 that gives these results, one after the other."""
    results = [task, *later]
    spoken = {"url": "/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    own = {"name": "a", "supportedInterfaces": [spoken]} if card is None else card

    async def script(request: Request, wire: Wire) -> None:
        if request.method == "GET":
            await wire.status(200 if own else 404, json.dumps(own).encode(), JSON)
            return
        result = results[min(request.number - 1, len(results) - 1)]
        told = {"jsonrpc": "2.0", "id": request.body["id"], "result": result}
        await wire.status(200, json.dumps(told).encode(), JSON)

    return script


def task(state: str, **more: Any) -> dict[str, Any]:
    return {"id": "t", "contextId": "c", "status": {"state": f"TASK_STATE_{state}"}, **more}


def test_a_task_that_is_still_worked_on_is_asked_for_until_it_is_done() -> None:
    done = task("COMPLETED", artifacts=[{"parts": [{"text": "done"}]}])
    with ScriptedServer(serving({"task": task("SUBMITTED")}, task("WORKING"), done)) as server:
        conversation = held("a2a", real(server.port, "a"), *says("one"))
    assert texts(conversation) == ["done"], conversation.reason
    methods = [request.body.get("method") for request in server.requests[1:]]
    assert methods == ["SendMessage", "GetTask", "GetTask"]


@pytest.mark.parametrize(
    ("results", "card", "word"),
    [
        ([{"task": task("CANCELED")}], None, "the task ended as canceled"),
        ([{"task": task("AUTH_REQUIRED")}], None, "the task ended as auth-required"),
        ([{"task": task("COMPLETED")}], None, "without text and data"),
        ([{"task": {}}], None, "neither a message nor a task"),
        ([{}], {}, "no agent card"),
        ([{}], {"name": "a"}, "no JSON-RPC interface"),
        ([{}], {"name": "a", "supportedInterfaces": [{"url": "/"}]}, "of the wrong shape"),
    ],
)
def test_what_is_no_answer_is_an_outage(results: list[Any], card: Any, word: str) -> None:
    with ScriptedServer(serving(*results, card=card)) as server:
        conversation = held("a2a", real(server.port, "a"), *says("one"))
    assert conversation.ending is ConversationEnd.OUTAGE
    assert word in str(conversation.reason)


def test_a_conversation_whose_context_the_agent_does_not_give_does_not_go_on_without_it() -> None:
    message = {"message": {"role": "ROLE_AGENT", "parts": [{"text": "hello"}]}}
    with ScriptedServer(serving(message)) as server:
        conversation = held("a2a", real(server.port, "a"), *says("one", "two"))
    assert texts(conversation) == ["hello"]
    assert conversation.ending is ConversationEnd.OUTAGE
    assert "no contextId" in str(conversation.reason)
