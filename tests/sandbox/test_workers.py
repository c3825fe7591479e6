"""The outside of a worker: how long it waits, and for what."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

from assay.errors import InfrastructureError
from assay.processes import Channel, Child
from assay.sandbox import workers
from assay.sandbox.jail import launcher, trees

# Long enough for a thread of a busy machine to say something now and then.
SILENCE = 2.0


def _answer_of(talk: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What a worker is taken to have answered that says one of these every fifth of a second."""
    monkeypatch.setattr(workers, "_PATIENCE", SILENCE)

    async def ask() -> dict[str, object]:
        ours, theirs = socket.socketpair()
        child = Child(subprocess.Popen(["true"]), ours)
        control = Channel(theirs.detach())
        speaker = threading.Thread(target=_say, args=(control, talk))
        speaker.start()
        try:
            return (await workers.JailWorker(child).answer(0.0))[0]
        finally:
            await asyncio.to_thread(speaker.join)
            child.kill()
            control.socket.close()

    return asyncio.run(ask())


def _say(control: Channel, talk: list[dict[str, object]]) -> None:
    for message in talk:
        time.sleep(SILENCE * 0.4)
        control.send(message)


def test_a_worker_that_says_it_is_busy_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    talk: list[dict[str, object]] = [{"busy": True}] * 6
    talk.append({"ending": [0]})
    assert _answer_of(talk, monkeypatch) == {"ending": [0]}


def test_a_worker_that_says_nothing_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InfrastructureError, match="did not answer in time"):
        _answer_of([], monkeypatch)


def test_a_connection_that_comes_when_nobody_waits_any_more_is_closed() -> None:
    async def give_up() -> socket.socket:
        ours, theirs = socket.socketpair()
        child = Child(subprocess.Popen(["true"]), ours)
        worker = workers.JailWorker(child)
        asking = asyncio.create_task(worker.connect(80))
        await asyncio.sleep(0)
        connection, other = socket.socketpair()
        worker._connecting[0].set_result(connection)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        child.kill()
        theirs.close()
        other.close()
        return connection

    assert asyncio.run(give_up()).fileno() == -1


def test_a_worker_that_removes_many_files_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "_ASK_FOR_PATIENCE_EVERY", 0.0)
    (tmp_path / "work" / "deeper").mkdir(parents=True)
    for number in range(5):
        (tmp_path / "work" / "deeper" / str(number)).touch()
    ours, theirs = socket.socketpair()
    us, them = Channel(ours.detach()), Channel(theirs.detach())
    with us.socket, them.socket:
        trees.remove(str(tmp_path / "work"), launcher._Patience(them).ask)
        message, _ = us.receive()
    assert message == json.loads('{"busy": true}')
    assert not (tmp_path / "work").exists()


def test_a_worker_that_is_slow_to_clear_up_loses_no_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workers, "_PATIENCE_WITH_FILES", SILENCE)

    async def close() -> int:
        ours, theirs = socket.socketpair()
        with theirs:
            child = Child(subprocess.Popen(["sleep", "600"]), ours)
            await workers.JailWorker(child).close()
        return await child.wait()

    assert asyncio.run(close()) == -15
