"""Servers that never end, or send more than fits: each ends within a limit, and as an outage."""

from __future__ import annotations

import asyncio
import gzip
import time

import pytest

from assay.agents.connections import web
from assay.agents.sampling import conversation
from assay.agents.sampling.conversation import ConversationEnd
from tests.agents.connections.test_http import local
from tests.agents.holding import Says, held
from tests.agents.scripted_server import Request, Script, ScriptedServer, Wire, message
from tests.waiting import PATIENCE


async def _drip_the_body(request: Request, wire: Wire) -> None:
    await wire.begin()
    while True:
        await wire.chunk(b" ")
        await asyncio.sleep(0.02)


async def _drip_the_headers(request: Request, wire: Wire) -> None:
    await wire.raw(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        await wire.raw(b"x")
        await asyncio.sleep(0.02)


async def _drip_interim_answers(request: Request, wire: Wire) -> None:
    while True:
        await wire.raw(b"HTTP/1.1 102 Processing\r\n\r\n")
        await asyncio.sleep(0.02)


async def _flood_with_interim_answers(request: Request, wire: Wire) -> None:
    while True:
        await wire.raw(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 1000)


async def _frames_for_ever(request: Request, wire: Wire) -> None:
    await wire.begin()
    while True:
        await wire.frame(message("not yet"))
        await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    "script",
    [
        _drip_the_body,
        _drip_the_headers,
        _drip_interim_answers,
        _flood_with_interim_answers,
        _frames_for_ever,
    ],
)
def test_an_answer_without_a_limit_that_never_ends_is_an_outage(
    monkeypatch: pytest.MonkeyPatch, script: Script
) -> None:
    monkeypatch.setattr(conversation, "LONGEST_ANSWER", 0.5)
    started = time.monotonic()
    with ScriptedServer(script) as server:
        found = held("http", local(server), Says("hello", timeout=None))
    assert found.ending is ConversationEnd.OUTAGE
    assert "no complete answer within 0.5 s" in str(found.reason)
    assert time.monotonic() - started < PATIENCE


async def _headers_for_ever(request: Request, wire: Wire) -> None:
    await wire.raw(b"HTTP/1.1 200 OK\r\n")
    while True:
        await wire.raw(b"X-More: and more\r\n" * 1000)


async def _chunks_for_ever(request: Request, wire: Wire) -> None:
    await wire.begin()
    while True:
        await wire.chunk(b" " * 60_000 + b"\n")


async def _gzip_bomb(request: Request, wire: Wire) -> None:
    await wire.begin("Content-Encoding: gzip")
    await wire.chunk(gzip.compress(b" " * 10_000_000))
    await wire.finish()


async def _gzip_in_gzip(request: Request, wire: Wire) -> None:
    await wire.begin("Content-Encoding: gzip, gzip")
    await wire.chunk(gzip.compress(gzip.compress(b" " * 10_000_000)))
    await wire.finish()


async def _gzip_cut_off(request: Request, wire: Wire) -> None:
    await wire.begin("Content-Encoding: gzip")
    await wire.chunk(gzip.compress(b'{"response": {"type": "AI", "text": "yes"}}\n')[:-4])
    await wire.finish()


async def _millions_of_parts(request: Request, wire: Wire) -> None:
    await wire.begin()
    await wire.chunk(b'{"response": [' + b"[]," * 1_500_000 + b"[]]}\n")
    await wire.finish()


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (_headers_for_ever, "the stream broke (RemoteProtocolError)"),
        (_chunks_for_ever, "the answer is longer than 16 MB"),
        (_gzip_bomb, "the answer is longer than 16 MB"),
        (_gzip_in_gzip, "the stream broke (DecodingError)"),
        (_gzip_cut_off, "the stream broke (DecodingError)"),
        (_millions_of_parts, "a line of more than 500,000 parts"),
    ],
)
def test_an_answer_that_is_too_much_is_an_outage(
    monkeypatch: pytest.MonkeyPatch, script: Script, told: str
) -> None:
    monkeypatch.setattr(web, "_LONGEST_ANSWER", 5_000_000)
    with ScriptedServer(script) as server:
        found = held("http", local(server), Says("hello", timeout=PATIENCE))
    assert found.ending is ConversationEnd.OUTAGE
    assert told in str(found.reason)


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_an_answer_is_read_whether_it_is_compressed_or_not(encoding: str) -> None:
    async def script(request: Request, wire: Wire) -> None:
        body = b'{"response": {"type": "AI", "text": "yes", "origin": [{"tool": "a"}]}}\n'
        data = gzip.compress(body) if encoding == "gzip" else body
        await wire.begin(f"Content-Encoding: {encoding}")
        for byte in data:
            await wire.chunk(bytes([byte]))
        await wire.finish()

    with ScriptedServer(script) as server:
        found = held("http", local(server), Says("hello", timeout=PATIENCE))
    assert [reply.answer.text for reply in found.replies] == ["yes"]
