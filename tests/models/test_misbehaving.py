"""Providers that never end, or send more than fits: each ends within a limit, as an outage."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from assay.models import ModelClient, ModelSettings, transport
from assay.models.transport import ModelFailed
from tests.waiting import PATIENCE

pytestmark = pytest.mark.anyio
_OK = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"


@contextmanager
def _provider(*, first: bytes, again: bytes, pause: float = 0.0) -> Iterator[str]:
    """Serve an answer that begins with some bytes and goes on with others until the block ends."""
    over = threading.Event()

    def answer(peer: socket.socket) -> None:
        with peer, suppress(OSError):
            peer.recv(1 << 16)
            peer.sendall(first)
            while again and not over.wait(pause):
                peer.sendall(again)
            over.wait()

    def serve() -> None:
        with suppress(OSError):
            while True:
                peer, _ = door.accept()
                threading.Thread(target=answer, args=(peer,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as door:
        threading.Thread(target=serve, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{door.getsockname()[1]}/v1"
        finally:
            over.set()


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


async def _ask(url: str, timeout: float) -> str:
    settings = ModelSettings("scripted", url, timeout=timeout, patience=0.0)
    async with ModelClient(settings, cache=None) as client:
        with pytest.raises(ModelFailed) as caught:
            await client.ask([{"role": "user", "content": "hello"}])
    return str(caught.value)


@pytest.mark.parametrize(
    ("first", "again", "pause"),
    [
        (_OK + b"\r\n", _chunk(b" "), 0.02),
        (b"HTTP/1.1 200 OK\r\nX: ", b"x", 0.02),
        (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1000, 0.0),
    ],
    ids=["a body", "a header", "interim answers"],
)
async def test_a_provider_that_never_ends_is_given_up_within_the_limit(
    first: bytes, again: bytes, pause: float
) -> None:
    started = time.monotonic()
    with _provider(first=first, again=again, pause=pause) as url:
        assert "within 0.5 s" in await _ask(url, 0.5)
    assert time.monotonic() - started < PATIENCE


_PACKED = gzip.compress(b" " * 5_000_000)


@pytest.mark.parametrize(
    ("first", "again", "told"),
    [
        (_OK + b"\r\n", _chunk(b" " * 60_000), "is longer than 1,000,000 bytes"),
        (
            _OK + b"Content-Encoding: gzip\r\n\r\n" + _chunk(_PACKED) + b"0\r\n\r\n",
            b"",
            "is longer than 1,000,000 bytes",
        ),
        (
            _OK + b"Content-Encoding: gzip, gzip\r\n\r\n" + _chunk(gzip.compress(_PACKED)),
            b"",
            "an encoding that was not asked for",
        ),
        (b"HTTP/1.1 200 OK\r\n", b"X-More: and more\r\n" * 1000, "RemoteProtocolError"),
    ],
    ids=["chunks", "gzip", "gzip in gzip", "headers"],
)
async def test_a_provider_that_sends_too_much_is_given_up(
    monkeypatch: pytest.MonkeyPatch, first: bytes, again: bytes, told: str
) -> None:
    monkeypatch.setattr(transport, "LONGEST_ANSWER", 1_000_000)
    with _provider(first=first, again=again) as url:
        assert told in await _ask(url, PATIENCE)
