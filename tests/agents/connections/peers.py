"""The same scripted agent behind every connection: it echoes its turns, and misbehaves on request.

It remembers a conversation only by what its protocol has for that (a context, an id, a session),
so a connection that does not hand it back is found out.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.agents.plan import ConnectionOptions
from tests.agents.scripted_server import Request, ScriptedServer, Wire, message

HUGE = 65 * 1024 * 1024
AGENT = "echo"
JSON = "Content-Type: application/json"
EVENTS = "Content-Type: text/event-stream"


@dataclass
class Memory:
    """The turns of every conversation that a server knows, by its id."""

    turns: dict[str, list[str]] = field(default_factory=dict)
    count: int = 0

    def begin(self) -> str:
        self.count += 1
        return f"conversation-{self.count}"

    def hear(self, identifier: str, text: str) -> str:
        said = self.turns.setdefault(identifier, [])
        said.append(text)
        return " | ".join(said)


async def reply(
    wire: Wire, said: str, text: str, body: Callable[[str], Any], *, as_events: bool = False
) -> None:
    """Answer, or do what was asked for instead; `body` is an answer in the words of a protocol."""
    kind = EVENTS if as_events else JSON
    if said == "wait":
        await asyncio.sleep(60)
    elif said == "die":
        await wire.begin(kind)
        await wire.chunk(b"{")
        await wire.drop()
    elif said == "garbage":
        await wire.status(200, b"data: {nonsense\n\n" if as_events else b"{nonsense", kind)
    elif said == "huge":
        await wire.begin(kind)
        for _ in range(HUGE // (1024 * 1024)):
            await wire.chunk(b" " * (1024 * 1024))
        await wire.finish()
    else:
        told = json.dumps(body(text))
        await wire.status(200, f"data: {told}\n\n".encode() if as_events else told.encode(), kind)


def _key(request: Request) -> str:
    return request.headers.get("authorization", "no key")


def _heard(memory: Memory, identifier: str, said: str, request: Request) -> str:
    return _key(request) if said == "leak" else memory.hear(identifier, said)


def responses(memory: Memory) -> Any:
    """OpenAI's Responses API; the id of an answer stands for all before it."""

    async def script(request: Request, wire: Wire) -> None:
        said, before = request.body.get("input", ""), request.body.get("previous_response_id")
        identifier = before or memory.begin()
        text = _heard(memory, identifier, said, request)

        def body(text: str) -> Any:
            part = {"type": "output_text", "text": text, "annotations": []}
            item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
            return {
                "id": identifier,
                "object": "response",
                "created_at": 1700000000,
                "model": "small-model",
                "status": "completed",
                "error": None,
                "parallel_tool_calls": True,
                "tool_choice": "auto",
                "tools": [],
                "previous_response_id": before,
                "output": [
                    {"type": "reasoning", "id": "rs_1", "summary": []},
                    {**item, "content": [part]},
                ],
            }

        await reply(wire, said, text, body)

    return script


def neuro_san(memory: Memory) -> Any:
    """A neuro-san server, which gives the client a context to hand back."""

    async def script(request: Request, wire: Wire) -> None:
        said = request.text
        turns = [*request.body.get("chat_context", {}).get("turns", []), said]
        text = _key(request) if said == "leak" else " | ".join(turns)
        structure: dict[str, Any] = {"structure": {"a": 1}} if said.startswith("{") else {}
        await reply(
            wire,
            said,
            text,
            lambda text: message(
                text, "AGENT_FRAMEWORK", chat_context={"turns": turns}, **structure
            ),
        )

    return script


def completions(memory: Memory) -> Any:
    """OpenAI's chat completions, where every request has the whole history."""

    async def script(request: Request, wire: Wire) -> None:
        turns = [one["content"] for one in request.body["messages"] if one["role"] == "user"]
        text = _key(request) if turns[-1] == "leak" else " | ".join(turns)
        await reply(
            wire, turns[-1], text, lambda text: {"choices": [{"message": {"content": text}}]}
        )

    return script


def mcp(memory: Memory) -> Any:
    """An MCP server with one tool, which remembers by the session; answers come as events."""

    async def script(request: Request, wire: Wire) -> None:
        session = request.headers.get("mcp-session-id")
        method = request.body.get("method")
        if request.method == "DELETE" or method == "notifications/initialized":
            await wire.status(202)
        elif method == "initialize":
            result = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {}}
            told = {"jsonrpc": "2.0", "id": request.body["id"], "result": result}
            await wire.status(
                200, json.dumps(told).encode(), JSON, f"Mcp-Session-Id: {memory.begin()}"
            )
        elif method == "tools/list":
            schema = {"properties": {"question": {"type": "string"}}, "required": ["question"]}
            tools = {"tools": [{"name": AGENT, "inputSchema": schema}]}
            told = {"jsonrpc": "2.0", "id": request.body["id"], "result": tools}
            await wire.status(200, json.dumps(told).encode(), JSON)
        else:
            assert session is not None
            assert request.headers["mcp-protocol-version"] == "2025-06-18"
            said = request.body["params"]["arguments"]["question"]
            text = _heard(memory, session, said, request)

            def body(text: str) -> Any:
                result = {"content": [{"type": "text", "text": text}], "isError": said == "fail"}
                return {"jsonrpc": "2.0", "id": request.body["id"], "result": result}

            await reply(wire, said, text, body, as_events=True)

    return script


def a2a(memory: Memory) -> Any:
    """An A2A agent of version 1.0; a task is completed at once."""

    async def script(request: Request, wire: Wire) -> None:
        if request.method == "GET":
            spoken = {"url": "http://10.0.0.1/rpc", "protocolBinding": "JSONRPC"}
            card = {"name": AGENT, "supportedInterfaces": [{**spoken, "protocolVersion": "1.0"}]}
            await wire.status(200, json.dumps(card).encode(), JSON)
            return
        assert request.headers["a2a-version"] == "1.0"
        sent = request.body["params"]["message"]
        said, context = sent["parts"][0]["text"], sent.get("contextId") or memory.begin()
        text = _heard(memory, context, said, request)

        def body(text: str) -> Any:
            task: dict[str, Any] = {"id": "task", "contextId": context}
            if said == "fail":
                words = {"role": "ROLE_AGENT", "parts": [{"text": "no such song"}]}
                task["status"] = {"state": "TASK_STATE_FAILED", "message": words}
            else:
                task["status"] = {"state": "TASK_STATE_COMPLETED"}
                task["artifacts"] = [{"artifactId": "1", "parts": [{"text": text}]}]
            return {"jsonrpc": "2.0", "id": request.body["id"], "result": {"task": task}}

        await reply(wire, said, text, body)

    return script


def adk(memory: Memory) -> Any:
    """The API server of google-adk, which remembers by the session."""

    async def script(request: Request, wire: Wire) -> None:
        if request.path != "/run_sse":
            identifier = memory.begin() if request.method == "POST" else "known"
            told = {"id": identifier, "state": {"turns": memory.count}}
            await wire.status(200, json.dumps(told).encode(), JSON)
            return
        said = request.body["newMessage"]["parts"][0]["text"]
        text = _heard(memory, request.body["sessionId"], said, request)

        def body(text: str) -> Any:
            if said == "fail":
                return {"error": "ValueError: no such song"}
            return {"content": {"role": "model", "parts": [{"text": text}]}, "author": AGENT}

        await reply(wire, said, text, body, as_events=True)

    return script


TEMPLATE: dict[str, Any] = {
    "request": {
        "path": "/v1/{{agent}}/chat",
        "body": {"message": {"text": "{{text}}"}, "session": "{{context.session}}"},
    },
    "answer": {"text": "reply.0.text", "context": {"session": "session.id"}, "error": "problem"},
}


def template(memory: Memory) -> Any:
    """An HTTP API like nobody else's, which the test file describes."""

    async def script(request: Request, wire: Wire) -> None:
        assert request.path == f"/v1/{AGENT}/chat"
        said = request.body["message"]["text"]
        session = request.body.get("session") or memory.begin()
        text = _heard(memory, session, said, request)
        await reply(
            wire, said, text, lambda text: {"reply": [{"text": text}], "session": {"id": session}}
        )

    return script


PROGRAM = """
import json, os, sys, time

said = []
for line in sys.stdin:
    text = json.loads(line)["text"]
    said.append(text)
    if text == "wait":
        time.sleep(60)
    if text == "die":
        sys.exit("no such song")
    if text == "garbage":
        print("{nonsense", flush=True)
    elif text == "huge":
        for _ in range(65):
            sys.stdout.write(" " * (1024 * 1024))
        print(flush=True)
    elif text == "fail":
        print(json.dumps({"error": "no such song"}), flush=True)
    elif text == "leak":
        print(json.dumps({"text": os.environ["ECHO_API_KEY"]}), flush=True)
    else:
        print(json.dumps({"text": " | ".join(said)}), flush=True)
"""

SCRIPTS = {
    "http": neuro_san,
    "openai": completions,
    "responses": responses,
    "mcp": mcp,
    "a2a": a2a,
    "adk": adk,
    "http-template": template,
}
# Whose protocol can say that the agent itself has failed.
CONFESSING = ("mcp", "a2a", "adk", "command")
KINDS = (*SCRIPTS, "command")


@dataclass(frozen=True)
class Peer:
    """How a scripted agent is reached, and what a test file says to reach it."""

    kind: str
    reach: ConnectionOptions
    keys: dict[str, Any]
    requests: list[Request]


@contextmanager
def served(kind: str, folder: Path) -> Iterator[Peer]:
    """The scripted agent behind a connection."""
    if kind == "command":
        program = folder / "program.py"
        program.write_text(PROGRAM)
        yield Peer(kind, ConnectionOptions(command=f"{sys.executable} {program}"), {}, [])
        return
    # The two that have a key of their own take it from the environment.
    keys: dict[str, Any] = {}
    if kind not in ("openai", "responses"):
        keys["metadata"] = {"Authorization": "${?ECHO_API_KEY}"}
    with ScriptedServer(SCRIPTS[kind](Memory())) as server:
        reach = ConnectionOptions(host="127.0.0.1", port=server.port)
        yield Peer(
            kind, reach, {**keys, **(TEMPLATE if kind == "http-template" else {})}, server.requests
        )


def set_key(monkeypatch: Any, key: str) -> None:
    """Put a key where each connection looks for it."""
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.setenv("ECHO_API_KEY", key)
    assert os.environ["ECHO_API_KEY"] == key
