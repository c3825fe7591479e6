"""A child process: what crosses its line, what does not, and how it is ended."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from assay.processes import Channel, Child, ChildLateError, ChildLostError, start_module
from assay.processes.channel import HEADER, JSON
from tests.waiting import PATIENCE, wait_until

_SERVING = """
from assay.processes import VALUES, Channel

def main(descriptor):
    import of_the_problem
    channel = Channel(descriptor, VALUES)
    channel.receive()
    channel.send({"value": of_the_problem.__name__})
"""


def test_a_child_compiles_modules_of_assay_once_and_leaves_nothing_beside_those_of_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "of_assay.py").write_text(_SERVING)
    (tmp_path / "of_the_problem.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)

    async def main() -> None:
        child = start_module("of_assay")
        try:
            assert await child.ask({}, PATIENCE) == {"value": "of_the_problem"}
        finally:
            child.kill()

    asyncio.run(main())
    compiled = [path.name.partition(".")[0] for path in (tmp_path / "__pycache__").glob("*.pyc")]
    assert compiled == ["of_assay"]


def fork_saying(raw: bytes, largest: int = 1000) -> Child:
    """Return a child that answers whatever it is asked with these bytes, and then listens on."""

    def serve(channel: Channel) -> None:
        channel.receive()
        channel.socket.sendall(raw)
        channel.receive()

    child = Child.fork(serve, JSON)
    child._largest = largest
    return child


def ask(child: Child, seconds: float = PATIENCE) -> Any:
    async def main() -> Any:
        try:
            return await child.ask({}, seconds)
        finally:
            child.kill()

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (HEADER.pack(1 << 63, 1 << 62), "answered nonsense: a message of .* where 1000 are"),
        (HEADER.pack(0, 1001), "answered nonsense: a message of 1001 bytes"),
        (HEADER.pack(3, 0) + b"{]}", "answered nonsense"),
        (HEADER.pack(2, 0) + b"\xff\xfe", "answered nonsense"),
    ],
)
def test_nonsense_is_refused(raw: bytes, reason: str) -> None:
    with pytest.raises(ChildLostError, match=reason):
        ask(fork_saying(raw))


def test_a_message_that_is_nested_without_end_is_nonsense() -> None:
    deep = b"[" * 1_000_000
    with pytest.raises(ChildLostError, match=r"answered nonsense: .* nested too deep"):
        ask(fork_saying(HEADER.pack(len(deep), 0) + deep, largest=1 << 30))


def test_a_length_alone_takes_no_memory() -> None:
    start = Path("/proc/self/statm").read_text().split()[0]
    with pytest.raises(ChildLateError, match=r"^did not answer within 0.2 s$"):
        ask(fork_saying(HEADER.pack(1 << 40, 0), largest=1 << 41), 0.2)
    grown = int(Path("/proc/self/statm").read_text().split()[0]) - int(start)
    assert grown * os.sysconf("SC_PAGE_SIZE") < 1 << 30


def test_bytes_go_beside_the_text_and_open_files_after_it() -> None:
    def serve(channel: Channel) -> None:
        message, data = channel.receive()
        (opened,) = channel.receive_descriptors(1)
        os.write(opened, data + json.dumps(message).encode())
        channel.send({"written": True})
        channel.send_descriptors([opened])
        channel.receive()

    async def main() -> bytes:
        child = Child.fork(serve, JSON)
        reading, writing = os.pipe()
        try:
            await child.send({"number": 1}, b"\x00\xff")
            child.send_descriptors([writing])
            assert await child.receive() == ({"written": True}, b"")
            again = await child.receive_descriptor()
            os.write(again, b"!")
            os.close(again)
            return os.read(reading, 100)
        finally:
            os.close(reading)
            os.close(writing)
            child.kill()

    assert asyncio.run(main()) == b'\x00\xff{"number": 1}!'


def test_one_that_clears_up_by_itself_is_let_and_one_that_does_not_is_ended() -> None:
    async def end(command: list[str]) -> tuple[int, float]:
        child = Child.start(command, {"PATH": os.environ["PATH"]}, keeps_output=False)
        start = time.monotonic()
        await child.close(1.0 if "sleep" in command[-2] else PATIENCE)
        return await child.wait(), time.monotonic() - start

    async def main() -> None:
        code, _ = await end(["sh", "-c", "sleep 600", "sh"])
        assert code == -15
        script = "import socket, sys; socket.socket(fileno=int(sys.argv[1])).recv(1); sys.exit(3)"
        code, _ = await end([sys.executable, "-c", script])
        assert code == 3

    asyncio.run(main())


def test_the_last_that_was_printed_is_told(tmp_path: Path) -> None:
    script = "import sys; print('x' * 5000 + 'last words', flush=True); sys.exit(3)"
    child = Child.start([sys.executable, "-c", script], {})
    with pytest.raises(ChildLostError, match=r"^ended its process with status 3; the last") as lost:
        ask(child)
    assert lost.value.printed.endswith("xlast words")
    assert len(lost.value.printed) < 3000
    wait_until(lambda: not Path(f"/proc/{child.pid}").exists())
