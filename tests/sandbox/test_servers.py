"""Servers inside, spoken to from outside."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from assay.errors import InfrastructureError
from assay.sandbox.isolation import available_levels, probe
from assay.sandbox.servers import JailServer, NotServingError, Server, serve
from assay.sandbox.workers import Limits
from tests.sandbox.hostile.support import landlock_version, python_folders, reachable_python
from tests.waiting import PATIENCE

Result = TypeVar("Result")
LEVELS = [
    level for level in available_levels(probe()) if level == "namespaces" or landlock_version() >= 4
]
ECHO = b"""
import http.server, json, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.answer(self.path.encode())
    def do_POST(self):
        self.answer(self.rfile.read(int(self.headers["Content-Length"])))
    def answer(self, body):
        self.send_response(404 if self.path == "/missing" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Given", self.headers.get("X-Given", ""))
        self.end_headers()
        self.wfile.write(body)
print("serving", flush=True)
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def finish(work: Coroutine[Any, Any, Result]) -> Result:
    async def in_time() -> Result:
        return await asyncio.wait_for(work, PATIENCE)

    return asyncio.run(in_time())


def free_port() -> int:
    with socket.socket() as probe_socket:
        probe_socket.bind(("127.0.0.1", 0))
        port: int = probe_socket.getsockname()[1]
        return port


def echo(level: str, port: int, **options: Any) -> Any:
    binds = [(path, path, False) for path in python_folders()]
    command = [str(reachable_python()), "-I", "echo.py", str(port)]
    return serve(
        command, port=port, files={"echo.py": ECHO}, isolation=level, binds=binds, **options
    )


@pytest.mark.parametrize("level", LEVELS)
def test_requests_and_the_end(level: str) -> None:
    async def scenario() -> None:
        server: Server
        async with echo(level, free_port()) as server:
            got = await server.request("GET", "/path?query", headers={"X-Given": "header"})
            assert (got.status, got.body, got.headers["x-given"]) == (200, b"/path?query", "header")
            large = b"x" * 300_000
            assert (await server.request("POST", "/", body=large)).body == large
            assert (await server.request("GET", "/missing")).status == 404
            answers = await asyncio.gather(
                *(server.request("GET", f"/{number}") for number in range(10))
            )
            assert [answer.body for answer in answers] == [b"/%d" % n for n in range(10)]
            result = await server.stop()
        assert result.exit_status == -15
        assert result.stdout == b"serving\n"
        assert result.limit is None

    finish(scenario())


@pytest.mark.skipif("namespaces" not in LEVELS, reason="needs namespaces")
def test_the_same_fixed_port_many_times_at_once() -> None:
    async def one(number: int) -> bytes:
        async with echo("namespaces", 8080) as server:
            await asyncio.sleep(0.2)
            answer = await server.request("GET", f"/{number}")
            with pytest.raises(ConnectionRefusedError):
                await server.connect(9999)
            body: bytes = answer.body
            return body

    async def scenario() -> list[bytes]:
        return await asyncio.gather(*(one(number) for number in range(3)))

    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):  # somebody else has it, which serves as well
            taken.bind(("127.0.0.1", 8080))
        assert finish(scenario()) == [b"/0", b"/1", b"/2"]


@pytest.mark.skipif("landlock" not in LEVELS, reason="needs Landlock")
def test_without_a_private_network_the_port_must_be_free() -> None:
    async def scenario(port: int) -> None:
        async with echo("landlock", port):
            raise AssertionError("it must not start")

    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(InfrastructureError, match="is not free"),
    ):
        finish(scenario(taken.getsockname()[1]))


@pytest.mark.skipif("landlock" not in LEVELS, reason="needs Landlock")
def test_without_a_private_network_a_server_reaches_nobody() -> None:
    source = b"""
import socket, sys
own = int(sys.argv[1])
for port in (own, int(sys.argv[2])):
    try:
        socket.create_connection(("127.0.0.1", port), 1)
        print("reached", port, flush=True)
    except OSError as error:
        print(error.errno, flush=True)
try:
    socket.create_server(("127.0.0.1", int(sys.argv[2]) + 1))
    print("opened another port", flush=True)
except OSError as error:
    print(error.errno, flush=True)
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    print("made a datagram socket", flush=True)
except OSError as error:
    print(error.errno, flush=True)
socket.create_server(("127.0.0.1", own)).accept()
import time; time.sleep(60)
"""

    async def scenario(port: int) -> bytes:
        binds, own = [(path, path, False) for path in python_folders()], free_port()
        command = [str(reachable_python()), "-I", "-c", source.decode(), str(own), str(port)]
        async with serve(
            command, port=own, health=None, isolation="landlock", binds=binds
        ) as server:
            return (await server.stop()).stdout

    with socket.create_server(("127.0.0.1", 0)) as host:
        assert finish(scenario(host.getsockname()[1])) == b"13\n13\n13\n1\n"


@pytest.mark.parametrize("level", LEVELS)
def test_a_server_that_ends_at_once(level: str) -> None:
    async def scenario() -> None:
        async with serve(["sh", "-c", "echo why >&2; exit 4"], port=free_port(), isolation=level):
            raise AssertionError("it must not be taken for a server")

    with pytest.raises(NotServingError, match="ended before it answered") as caught:
        finish(scenario())
    assert caught.value.result.exit_status == 4
    assert caught.value.result.stderr == b"why\n"


@pytest.mark.parametrize("level", LEVELS)
def test_a_server_that_never_answers(level: str) -> None:
    async def scenario() -> None:
        async with serve(["sleep", "600"], port=free_port(), isolation=level, patience=0.3):
            raise AssertionError("it must not be taken for a server")

    start = time.monotonic()
    with pytest.raises(NotServingError, match=r"did not answer within 0\.3 s"):
        finish(scenario())
    assert time.monotonic() - start < PATIENCE


@pytest.mark.parametrize("level", LEVELS)
def test_a_server_that_dies_while_it_is_used(level: str) -> None:
    async def scenario() -> None:
        async with echo(level, free_port(), limits=Limits(wall_time=4.0)) as server:
            while server.running:
                await asyncio.sleep(0.02)
            with pytest.raises(ConnectionRefusedError):
                await server.request("GET", "/")
            assert (await server.stop()).limit == "wall_time"

    finish(scenario())


@pytest.mark.parametrize("level", LEVELS)
def test_a_server_that_does_not_want_to_stop(level: str) -> None:
    source = "trap '' TERM; touch ready; while :; do sleep 1; done"

    async def scenario() -> float:
        from assay.sandbox.programs import Programs, make_request
        from assay.sandbox.workers import JailWorker

        jail = Programs(isolation=level).jail
        worker = await JailWorker.start(jail)
        server = JailServer(worker, jail, 1)
        try:
            await server._begin(make_request(jail, ["sh", "-c", source], {}, (), {}))
            while not (await server.collect(["ready"])).files:
                await asyncio.sleep(0.01)
            start = time.monotonic()
            result = await server.stop(grace=0.2)
            assert result.exit_status == -9
            return time.monotonic() - start
        finally:
            await worker.close()

    assert 0.2 <= finish(scenario()) < PATIENCE
