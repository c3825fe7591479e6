import asyncio
import importlib
import inspect
import socket
import subprocess
import sys

import pytest
import websockets
import websockets.exceptions as ex
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, basic_auth, broadcast, serve

import websockets_snippets


def uri(server, path="/"):
    return f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}{path}"


async def echo(ws):
    async for m in ws:
        await ws.send(m)


def test_version():
    assert websockets.__version__ == "17.4"


def test_custom_request_headers():
    async def main():
        seen = []

        async def handler(ws):
            seen.append(ws.request.headers.get("X-T"))

        async with serve(handler, "127.0.0.1", 0) as s:
            async with websockets.connect(uri(s), proxy=None, additional_headers={"X-T": "1"}) as ws:
                await ws.wait_closed()
            assert seen == ["1"]
            for bad in ("extra_headers", "headers", "request_headers"):
                with pytest.raises(TypeError):
                    await websockets.connect(uri(s), proxy=None, **{bad: {"X-T": "1"}})

    asyncio.run(main())


def test_default_max_size():
    for f in (connect.__init__, serve, importlib.import_module("websockets.sync.client").connect,
              importlib.import_module("websockets.sync.server").serve):
        assert inspect.signature(f).parameters["max_size"].default == 2**20

    async def main():
        async with serve(echo, "127.0.0.1", 0, max_size=None) as s:
            async with connect(uri(s), proxy=None) as ws:
                await ws.send(b"x" * 2**20)
                assert len(await ws.recv()) == 2**20
                await ws.send(b"x" * (2**20 + 1))
                with pytest.raises(ex.ConnectionClosedError, match="1009"):
                    await ws.recv()

    asyncio.run(main())


def test_iterate_until_going_away(capsys, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")

    async def handler(ws):
        await ws.send("hi")
        await ws.close(1001)

    async def main():
        async with serve(handler, "127.0.0.1", 0) as s:
            await asyncio.wait_for(websockets_snippets.listen(uri(s)), 20)

    asyncio.run(main())
    assert capsys.readouterr().out == "hi\nend of stream\n"


def test_handler_with_path():
    async def main():
        async with serve(websockets_snippets.handler, "127.0.0.1", 0) as s:
            async with connect(uri(s, "/news"), proxy=None) as ws:
                with pytest.raises(ex.ConnectionClosedError) as e:
                    await ws.recv()
                assert e.value.rcvd.code == 1011

    asyncio.run(main())


def test_interactive_client(tmp_path):
    import os

    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    url = f"ws://127.0.0.1:{port}/"
    bindir = os.path.dirname(sys.executable)

    def run(*cmd):
        r = subprocess.run(cmd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        return r.stdout + r.stderr

    assert "Failed to connect" in run(sys.executable, "-m", "websockets", url)
    assert "Failed to connect" in run(os.path.join(bindir, "websockets"), url)
    assert not os.path.exists(os.path.join(bindir, "wscat"))
    out = run(sys.executable, "-W", "ignore", "-m", "websockets.client", url)
    assert "connect" not in out.lower()


def test_two_readers():
    async def main():
        async with serve(echo, "127.0.0.1", 0) as s:
            async with connect(uri(s), proxy=None) as ws:
                first = asyncio.create_task(ws.recv())
                await asyncio.sleep(0.05)
                with pytest.raises(ex.ConcurrencyError) as e:
                    await ws.recv()
                assert not isinstance(e.value, (ex.InvalidState, ex.ProtocolError, asyncio.InvalidStateError))
                first.cancel()

    asyncio.run(main())


def test_path_of_request():
    async def main():
        seen = []

        async def handler(ws):
            seen.append((ws.request.path, hasattr(ws, "path"), hasattr(ws, "uri"), hasattr(ws, "request_path")))

        async with serve(handler, "127.0.0.1", 0) as s:
            async with connect(uri(s, "/x"), proxy=None) as ws:
                await ws.wait_closed()
        assert seen == [("/x", False, False, False)]

    asyncio.run(main())


def test_purpose_of_broadcast():
    assert not inspect.iscoroutinefunction(broadcast)
    doc = inspect.getdoc(broadcast)
    assert "synchronously to all connections" in doc and "no backpressure" in doc and "ignores failures" in doc
    assert "doesn't support sending fragmented messages" in doc

    async def main():
        async with serve(echo, "127.0.0.1", 0) as s:
            async with connect(uri(s), proxy=None) as a, connect(uri(s), proxy=None) as b:
                await a.close()
                assert broadcast([a, b], "m") is None  # closed one is skipped
                assert await b.recv() == "m"

    asyncio.run(main())


def test_import_connect():
    from websockets import connect as b
    from websockets.sync.client import connect as c

    assert connect is b and c is not connect
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("websockets.aio")


def test_no_compression():
    async def main():
        async def ext(**kw):
            async with serve(echo, "127.0.0.1", 0, **kw) as s:
                async with connect(uri(s), proxy=None) as ws:
                    return ws.response.headers.get("Sec-WebSocket-Extensions")

        assert "permessage-deflate" in await ext()
        assert await ext(compression=None) is None
        for kw in ({"deflate": False}, {"permessage_deflate": None}):
            with pytest.raises(TypeError):
                await ext(**kw)
        with pytest.raises(ValueError):
            await ext(compression="off")

    asyncio.run(main())


def test_handshake_rejected():
    import warnings

    async def main():
        async with serve(echo, "127.0.0.1", 0, process_request=basic_auth("r", credentials=("u", "p"))) as s:
            with pytest.raises(ex.InvalidStatus) as e:
                await connect(uri(s), proxy=None)
            assert e.value.response.status_code == 401
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                from websockets.legacy.exceptions import InvalidStatusCode
            assert not isinstance(e.value, (InvalidStatusCode, ex.InvalidUpgrade, ex.ConnectionClosedError, PermissionError))

    asyncio.run(main())


def test_not_a_state():
    assert [s.name for s in websockets.State] == ["CONNECTING", "OPEN", "CLOSING", "CLOSED"]


def test_api_root_exception():
    assert websockets.WebSocketException is ex.WebSocketException
    assert all(issubclass(getattr(ex, n), ex.WebSocketException) for n in ex.__all__)


def test_api_http_answer():
    assert websockets.ServerConnection is ServerConnection

    async def main():
        def check(connection, request):
            return connection.respond(200, "OK\n")

        async with serve(echo, "127.0.0.1", 0, process_request=check) as s:
            with pytest.raises(ex.InvalidStatus) as e:
                await connect(uri(s), proxy=None)
            assert e.value.response.status_code == 200 and e.value.response.body == b"OK\n"

    asyncio.run(main())
