"""Servers over real sockets that answer by script: a neuro-san one and an OpenAI-compatible one.

A script is an async function of a request and the wire back. `python -m
tests.agents.scripted_server` serves an agent that repeats what it hears, and prints its port.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import ssl
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.waiting import PATIENCE


@dataclass(frozen=True)
class Request:
    """What the server was asked, and how many it was asked before."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    number: int
    connection: int
    method: str = "POST"

    @property
    def text(self) -> str:
        return str(self.body["user_message"]["text"])


class Wire:
    """The way back to the client, honest or not."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self.is_open = True

    async def status(self, code: int, body: bytes = b"", *headers: str) -> None:
        """A complete reply without a stream."""
        lines = [f"HTTP/1.1 {code} Scripted", f"Content-Length: {len(body)}", *headers]
        await self.raw("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    async def begin(self, *headers: str) -> None:
        """Status 200 and the promise of a stream."""
        lines = ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", *headers]
        await self.raw("\r\n".join(lines).encode() + b"\r\n\r\n")

    async def chunk(self, data: bytes) -> None:
        await self.raw(b"%x\r\n%b\r\n" % (len(data), data))

    async def frame(self, frame: dict[str, Any]) -> None:
        await self.chunk(json.dumps(frame).encode() + b"\n")

    async def finish(self) -> None:
        await self.raw(b"0\r\n\r\n")

    async def raw(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def drop(self) -> None:
        """Close the socket, whatever was promised."""
        self.is_open = False
        self._writer.transport.abort()


Script = Callable[[Request, Wire], Awaitable[None]]


def message(
    text: str | None = None, kind: str = "AI", steps: int = 1, **more: Any
) -> dict[str, Any]:
    """A frame of the neuro-san protocol."""
    origin = [{"tool": f"agent{step}", "instantiation_index": 1} for step in range(steps)]
    response: dict[str, Any] = {"type": kind, "origin": origin, **more}
    if text is not None:
        response["text"] = text
    return {"response": response}


async def answer(
    wire: Wire,
    text: str | None,
    *,
    sly_data: dict[str, Any] | None = None,
    context: Any = None,
    **more: Any,
) -> None:
    """A whole, ordinary reply: the answer and the context come in the last message."""
    await wire.begin("Content-Type: application/json-lines")
    if sly_data is not None:
        more["sly_data"] = sly_data
    await wire.frame(message(text, "AGENT_FRAMEWORK", chat_context=context or {"n": 1}, **more))
    await wire.finish()


async def echo(request: Request, wire: Wire) -> None:
    """Answers with what it heard, counts the turns in the context and returns its sly_data."""
    turns = [*request.body.get("chat_context", {}).get("turns", []), request.text]
    await answer(
        wire,
        " | ".join(turns),
        sly_data=request.body.get("sly_data"),
        context={"turns": turns},
        structure={"turns": len(turns)},
    )


def complete(reply: Callable[[list[dict[str, Any]]], str | None]) -> Script:
    """A script of an OpenAI-compatible server: the messages so far decide the reply."""

    async def script(request: Request, wire: Wire) -> None:
        said = {"role": "assistant", "content": reply(request.body["messages"])}
        body = {"id": "1", "object": "chat.completion", "choices": [{"index": 0, "message": said}]}
        await wire.status(200, json.dumps(body).encode(), "Content-Type: application/json")

    return script


@dataclass
class ScriptedServer:
    """Serves a script from a thread of its own until the `with` block ends."""

    script: Script
    certificate: Path | None = None
    key: Path | None = None
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    port: int = 0

    def __enter__(self) -> ScriptedServer:
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls(), backlog=512)
        )
        self.port = self._server.sockets[0].getsockname()[1]
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(PATIENCE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    async def _stop(self) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)

    def _tls(self) -> ssl.SSLContext | None:
        if self.certificate is None:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.certificate, self.key)
        return context

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            await self._converse(reader, writer, self.connections)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.transport.abort()
            with suppress(OSError):
                await writer.wait_closed()

    async def _converse(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int
    ) -> None:
        wire = Wire(writer)
        while wire.is_open:
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in lines if line)
            }
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            request = Request(
                path=first.split()[1],
                headers=headers,
                body=json.loads(body or b"{}"),
                number=len(self.requests),
                connection=connection,
                method=first.split()[0],
            )
            self.requests.append(request)
            await self.script(request, wire)


def self_signed(
    folder: Path, names: str = "IP:127.0.0.1,DNS:localhost"
) -> tuple[Path, Path] | None:
    """A certificate for this machine and its key, made by openssl; None where there is none."""
    openssl = shutil.which("openssl")
    if openssl is None:
        return None
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    kind = (
        "-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=scripted"
    )
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(
        [openssl, "req", *kind.split(), *files, "-addext", f"subjectAltName={names}"],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key


def main() -> None:
    """Serve an echo until the standard input ends."""
    with ScriptedServer(echo) as server:
        print(server.port, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
