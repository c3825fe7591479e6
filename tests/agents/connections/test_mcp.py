"""Tests of MCP against a server of its own library, and of what a scripted server may do to it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from assay.agents.connections import Settings
from assay.agents.connections.template import Template
from assay.agents.sampling.conversation import ConversationEnd
from assay.errors import InputError
from tests.agents.connections.peers import JSON
from tests.agents.holding import GRACE, Says, calmest, held, held_often, texts
from tests.agents.scripted_server import Request, Script, ScriptedServer, Wire
from tests.agents.serving import served

SERVER = """
import asyncio, sys

from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("songs")
turns = {}


@server.tool()
async def echo(question: str, ctx: Context) -> str:
    if question == "fail":
        raise ValueError("no such song")
    if question == "wait":
        await asyncio.sleep(60)
    said = turns.setdefault(ctx.request_context.request.headers["mcp-session-id"], [])
    said.append(question)
    return " | ".join(said)


@server.tool()
def count(words: list[str], factor: int) -> dict[str, int]:
    return {"count": len(words) * factor}


server.run("streamable-http", port=int(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    pytest.importorskip("mcp", reason="the mcp package is not installed (extra adk)")
    folder = tmp_path_factory.mktemp("mcp")
    (folder / "server.py").write_text(SERVER)
    with served([sys.executable, "server.py"], folder) as port:
        yield port


def real(port: int, agent: str = "echo", **more: Any) -> Settings:
    return Settings(agent, host="127.0.0.1", port=port, **more)


def test_a_tool_of_a_real_server_remembers_by_its_session(port: int) -> None:
    says = Says("one", timeout=60), Says("two", timeout=60)
    for conversation in held_often(3, "mcp", real(port), *says):
        assert conversation.ending is ConversationEnd.COMPLETE, conversation.reason
        assert texts(conversation) == ["one", "one | two"]


def test_what_a_tool_of_a_real_server_raises_is_the_agents_failure(port: int) -> None:
    conversation = held("mcp", real(port), Says("fail", timeout=60))
    assert conversation.ending is ConversationEnd.FAILED
    assert "the agent reports an error" in str(conversation.reason)


def test_a_slow_tool_of_a_real_server_ends_at_its_limit(port: int) -> None:
    conversation = calmest("mcp", real(port), Says("wait", timeout=0.5))
    assert conversation.ending is ConversationEnd.TOO_SLOW
    assert conversation.seconds < 0.5 + GRACE + 0.3


def test_a_file_says_what_the_arguments_of_a_tool_are(port: int) -> None:
    template = Template(body={"words": ["{{text}}", "b"], "factor": 3})
    (reply,) = held("mcp", real(port, "count", template=template), Says("a", timeout=60)).replies
    assert reply.answer.structure == {"count": 6}


def test_a_tool_without_a_place_for_the_text_is_the_users_mistake(port: int) -> None:
    with pytest.raises(InputError, match="one argument that takes a text"):
        held("mcp", real(port, "count"), Says("a", timeout=60))
    with pytest.raises(InputError, match="no argument for sly_data"):
        held("mcp", real(port), Says("a", {"x": 1}, timeout=60))


def test_a_server_without_the_tool_is_an_outage_that_lasts_and_names_its_tools(port: int) -> None:
    conversation = held("mcp", real(port, "ech"), Says("a", timeout=60))
    assert conversation.ending is ConversationEnd.OUTAGE
    assert conversation.lasting
    assert "did you mean 'echo'?" in str(conversation.reason)


def replying(**results: Any) -> Script:
    """A server that replies to each method as given; whole replies, so that errors can be given."""
    known: dict[str, Any] = {
        "initialize": {"result": {"protocolVersion": "2025-06-18"}},
        "tools/list": {
            "result": {"tools": [{"name": "a", "inputSchema": {"properties": {"text": {}}}}]}
        },
        **{name.replace("_", "/"): result for name, result in results.items()},
    }

    async def script(request: Request, wire: Wire) -> None:
        method = str(request.body.get("method"))
        if method in known:
            told = {"jsonrpc": "2.0", "id": request.body["id"], **known[method]}
            await wire.status(200, json.dumps(told).encode(), JSON)
        else:
            await wire.status(202)

    return script


@pytest.mark.parametrize(
    ("results", "word", "is_lasting"),
    [
        (
            {"initialize": {"result": {"protocolVersion": "1999"}}},
            "another version of MCP: 1999",
            True,
        ),
        ({"tools_list": {"result": {}}}, "list of tools is not a list", False),
        (
            {"tools_call": {"error": {"code": -32603, "message": "busy"}}},
            "error -32603: busy",
            False,
        ),
        ({"tools_call": {"error": {"code": -32602, "message": "no"}}}, "error -32602: no", True),
        ({"tools_call": {"result": {"content": "x"}}}, "has no content", False),
        ({"tools_call": {"result": {"content": []}}}, "neither text nor structure", False),
        ({"tools_call": {"result": None}}, "has no result", False),
    ],
)
def test_an_error_of_the_protocol_is_an_outage(
    results: dict[str, Any], word: str, is_lasting: bool
) -> None:
    with ScriptedServer(replying(**results)) as server:
        conversation = held("mcp", real(server.port, "a"), Says("hi", timeout=30))
    assert conversation.ending is ConversationEnd.OUTAGE
    assert word in str(conversation.reason)
    assert conversation.lasting is is_lasting


def test_plain_text_that_a_server_wraps_is_no_structure() -> None:
    content = [{"type": "text", "text": "hello"}]
    for structured, structure in (({"result": "hello"}, None), ({"n": 1}, {"n": 1})):
        called = {"result": {"content": content, "structuredContent": structured}}
        with ScriptedServer(replying(tools_call=called)) as server:
            (reply,) = held("mcp", real(server.port, "a"), Says("hi", timeout=30)).replies
        assert reply.answer.structure == structure
