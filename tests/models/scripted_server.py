"""An OpenAI-compatible chat server on 127.0.0.1 whose answers and failures are scripted."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, cast

from tests.waiting import PATIENCE


@dataclass(frozen=True)
class Received:
    """A request as it came: its path, headers with names in lower case, and JSON body."""

    path: str
    headers: dict[str, str]
    body: Any
    at: float

    @property
    def messages(self) -> list[dict[str, Any]]:
        return cast("list[dict[str, Any]]", self.body["messages"])

    @property
    def last(self) -> str:
        """The content of the last message."""
        return str(self.messages[-1]["content"])


@dataclass(frozen=True)
class Reply:
    """What the server does with one request; see the functions below."""

    message: dict[str, Any] | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    usage: dict[str, int] | None = field(
        default_factory=lambda: {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    )
    finish_reason: str = "stop"
    delay: float = 0.0
    # What it waits for, beside the delay.
    gate: threading.Event | None = None
    hangs: bool = False
    drops: bool = False
    trickles: bool = False


def says(text: str, **more: Any) -> Reply:
    """A plain answer."""
    return Reply({"role": "assistant", "content": text}, **more)


def says_json(value: Any, **more: Any) -> Reply:
    """An answer that is a JSON object."""
    return says(json.dumps(value), **more)


def calls(*functions: tuple[str, dict[str, Any]], **more: Any) -> Reply:
    """An answer that asks for tools to be called, each a name with arguments."""
    wanted = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for number, (name, arguments) in enumerate(functions)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": wanted}
    return Reply(message, finish_reason="tool_calls", **more)


def fails(status: int, message: str = "scripted", **more: Any) -> Reply:
    """An HTTP failure as providers word it; `retry_after` becomes the header."""
    wait = more.pop("retry_after", None)
    headers = {} if wait is None else {"Retry-After": str(wait)}
    body = json.dumps({"error": {"message": message, "code": status}}).encode()
    return Reply(status=status, headers={**headers, **more.pop("headers", {})}, raw=body, **more)


def hangs() -> Reply:
    """Silence until the server is closed."""
    return Reply(hangs=True)


def drops() -> Reply:
    """The connection is cut without an answer."""
    return Reply(drops=True)


def trickles() -> Reply:
    """A byte now and then, and never an end."""
    return Reply(trickles=True)


def raw(content: bytes, **more: Any) -> Reply:
    """A body that is whatever it is."""
    return Reply(raw=content, **more)


Script = Callable[[Received], Reply] | Iterable[Reply] | Reply


class ScriptedServer:
    """Answers by a function of the request, by a list in order, or always the same.

    A list that is used up is a mistake of the test: the server then answers 418.
    """

    def __init__(self, script: Script) -> None:
        self._answer = _function(script)
        self.requests: list[Received] = []
        self.most_at_a_time = 0
        self.at_a_time = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.script = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """The address to give to --model-url."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def calls(self) -> int:
        return len(self.requests)

    def take(self, received: Received) -> Reply:
        with self._lock:
            self.requests.append(received)
            self.at_a_time += 1
            self.most_at_a_time = max(self.most_at_a_time, self.at_a_time)
            return self._answer(received)

    def done(self) -> None:
        with self._lock:
            self.at_a_time -= 1

    def wait(self, seconds: float | None) -> bool:
        """Wait, but not beyond the end of the server; whether that is over."""
        return self._closing.wait(seconds)


def _function(script: Script) -> Callable[[Received], Reply]:
    if isinstance(script, Reply):
        return lambda _: script
    if callable(script):
        return script
    replies = iter(script)
    return lambda _: next(replies, None) or fails(418, "the script has no more answers")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    script: ScriptedServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length) or b"null")
        headers = {name.lower(): value for name, value in self.headers.items()}
        script = self.server.script
        reply = script.take(Received(self.path, headers, body, time.monotonic()))
        script.wait(None if reply.hangs else reply.delay)
        if reply.gate is not None:
            reply.gate.wait(PATIENCE)
        # Before the answer: who has it may ask again at once, and is one asker still.
        script.done()
        self._carry_out(reply, body)

    def _carry_out(self, reply: Reply, asked: Any) -> None:
        if reply.hangs or reply.drops:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif reply.trickles:
            self._trickle()
        else:
            self._send(reply, asked)

    def _send(self, reply: Reply, asked: Any) -> None:
        streams = isinstance(asked, dict) and asked.get("stream") and reply.raw is None
        content = _stream(reply) if streams else _body(reply)
        self.send_response(reply.status)
        kind = "text/event-stream" if streams else "application/json"
        for name, value in {"Content-Type": kind, **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _trickle(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        while not self.server.script.wait(0.05):
            self.wfile.write(b" ")
            self.wfile.flush()


def _body(reply: Reply) -> bytes:
    if reply.raw is not None:
        return reply.raw
    return json.dumps(
        {
            "id": "scripted",
            "object": "chat.completion",
            "created": 0,
            "model": "scripted",
            "choices": [
                {"index": 0, "message": reply.message, "finish_reason": reply.finish_reason}
            ],
            **({"usage": reply.usage} if reply.usage is not None else {}),
        }
    ).encode()


def _stream(reply: Reply) -> bytes:
    """The same answer as server-sent events: one delta, the end, the usage."""
    delta = dict(reply.message or {})
    if delta.get("tool_calls"):
        delta["tool_calls"] = [
            {"index": number, **call} for number, call in enumerate(delta["tool_calls"])
        ]
    shared = {
        "id": "scripted",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "scripted",
    }
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": reply.finish_reason}]},
        {"choices": [], "usage": reply.usage},
    ]
    lines = [f"data: {json.dumps({**shared, **chunk})}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()
