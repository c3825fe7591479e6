"""What servers of agents may answer: every connection, asked once, by a server on 127.0.0.1."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

# Between the answers to one request and the next; the last one is repeated.
BETWEEN = b"\n=====\n"
_AGENT = "music_nerd"
_SECONDS = 2.0


def _join(*answers: Any) -> bytes:
    several = (one if isinstance(one, bytes) else json.dumps(one).encode() for one in answers)
    return BETWEEN.join(several)


def _event(value: Any) -> bytes:
    return b"event: message\ndata: " + json.dumps(value).encode() + b"\n\n"


def _tool_result(number: int) -> bytes:
    result = {
        "content": [{"type": "text", "text": "hello"}],
        "structuredContent": {"a": 1},
        "isError": False,
    }
    return _event({"id": number, "result": result})


_SCHEMA = {"properties": {"question": {"type": "string"}}, "required": ["question"]}
_INTERFACE = {"url": "/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
_PARTS = {"parts": [{"text": "hello"}, {"data": {"a": 1}}], "role": "ROLE_AGENT"}
_TASK = {
    "id": "task",
    "contextId": "c",
    "status": {"state": "TASK_STATE_COMPLETED", "message": _PARTS},
    "artifacts": [{"artifactId": "1", "parts": _PARTS["parts"]}],
    "history": [_PARTS],
}
_ADK_EVENT = {"content": {"role": "model", "parts": [{"text": "hello"}]}, "author": _AGENT}

ANSWERS: dict[str, tuple[str, bytes]] = {
    "answer-http": (
        "http",
        b'{"response": {"type": "AI", "text": "hello", "structure": {"a": 1},'
        b' "origin": [{"tool": "a"}]}}\n',
    ),
    "answer-openai": (
        "openai",
        _join({"choices": [{"message": {"content": 'hello {"a": 1}'}, "finish_reason": "stop"}]}),
    ),
    "answer-responses": (
        "responses",
        _join(
            {
                "id": "resp_1",
                "status": "completed",
                "output": [
                    {"type": "reasoning", "summary": []},
                    {"type": "message", "content": [{"type": "output_text", "text": "hello"}]},
                ],
            }
        ),
    ),
    "answer-mcp": (
        "mcp",
        _join(
            {"id": 1, "result": {"protocolVersion": "2025-06-18", "serverInfo": {"name": "x"}}},
            {},
            {"id": 2, "result": {"tools": [{"name": _AGENT, "inputSchema": _SCHEMA}]}},
            _event({"method": "notifications/message", "params": {}}) + _tool_result(3),
            _tool_result(4),
        ),
    ),
    "answer-a2a": (
        "a2a",
        _join(
            {"name": _AGENT, "supportedInterfaces": [_INTERFACE]},
            {"id": 1, "result": {"task": _TASK}},
        ),
    ),
    "answer-adk": (
        "adk",
        _join({"id": "s"}, *[_event(_ADK_EVENT), {"id": "s", "state": {"a": 1}}] * 2),
    ),
    "answer-template": (
        "http-template",
        _join({"reply": [{"text": "hello"}], "session": {"id": "s"}, "error": None}),
    ),
}


def read_answers(kind: str) -> Callable[[Path, str, bytes], Iterator[str]]:
    """Return a loader of the answers of a connection."""

    def read(folder: Path, name: str, data: bytes) -> Iterator[str]:
        yield from asyncio.run(_talk(kind, data))

    return read


async def _talk(kind: str, data: bytes) -> list[str]:
    from assay.agents.connections import Settings, open_connection
    from assay.agents.connections.template import Template
    from assay.agents.sampling.conversation import ConversationEnd, hold
    from tests.agents.holding import Says

    answers, requests = data.split(BETWEEN), 0
    serving: dict[asyncio.Task[Any] | None, asyncio.StreamWriter] = {}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        serving[asyncio.current_task()] = writer
        with suppress(OSError, asyncio.IncompleteReadError, ValueError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                _, _, length = head.lower().partition(b"content-length:")
                await reader.readexactly(int(length.split(b"\r\n")[0] or 0))
                writer.write(_reply(answers[min(requests, len(answers) - 1)]))
                requests += 1
                await writer.drain()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        template = Template(
            path="/chat",
            body={"said": "{{text}}", "session": "{{context.session}}"},
            parts={"text": ("reply", 0, "text")},
            context={"session": ("session", "id")},
            error=("error",),
        )
        settings = Settings(
            _AGENT,
            host="127.0.0.1",
            port=server.sockets[0].getsockname()[1],
            template=template if kind == "http-template" else None,
        )
        connection = open_connection(kind, settings)
        try:
            # Twice: the second request is made of the first answer.
            several = [Says("one", timeout=_SECONDS), Says("two", timeout=_SECONDS)]
            found = await hold(connection, several)
        finally:
            await connection.close()
    finally:
        server.close()
        for writer in serving.values():
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
        await asyncio.gather(*filter(None, serving))
    return [] if found.ending is ConversationEnd.COMPLETE else [f"{found.ending}: {found.reason}"]


def _reply(body: bytes) -> bytes:
    if body.startswith(b"HTTP/"):
        return body
    kind = b"text/event-stream" if body.startswith(b"event:") else b"application/json"
    return b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n%b" % (
        kind,
        len(body),
        body,
    )
