"""The outside of a worker: how long it waits, and for what."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from pathlib import Path

import pytest

from assay.errors import InfrastructureError
from assay.sandbox import workers
from assay.sandbox.jail import launcher, trees

SILENCE = 0.5


def _answer_of(talk: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What a worker is taken to have answered that says one of these every fifth of a second."""
    monkeypatch.setattr(workers, "_PATIENCE", SILENCE)

    async def ask() -> dict[str, object]:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        process = await asyncio.create_subprocess_exec("true")
        with ours, theirs:
            speaker = threading.Thread(target=_say, args=(theirs, talk))
            speaker.start()
            try:
                return (await workers.Worker(process, ours).answer(0.0))[0]
            finally:
                await asyncio.to_thread(speaker.join)

    return asyncio.run(ask())


def _say(control: socket.socket, talk: list[dict[str, object]]) -> None:
    for message in talk:
        time.sleep(SILENCE * 0.4)
        launcher.send(control, message)


def test_a_worker_that_says_it_is_busy_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    talk: list[dict[str, object]] = [{"busy": True}] * 6
    talk.append({"ending": [0]})
    assert _answer_of(talk, monkeypatch) == {"ending": [0]}


def test_a_worker_that_says_nothing_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InfrastructureError, match="did not answer in time"):
        _answer_of([], monkeypatch)


def test_a_worker_that_removes_many_files_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "_ASK_FOR_PATIENCE_EVERY", 0.0)
    (tmp_path / "work" / "deeper").mkdir(parents=True)
    for number in range(5):
        (tmp_path / "work" / "deeper" / str(number)).touch()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        trees.remove(str(tmp_path / "work"), launcher._Patience(theirs).ask)
        message, _ = launcher.receive(ours)
    assert message == json.loads('{"busy": true}')
    assert not (tmp_path / "work").exists()


def test_a_worker_that_is_slow_to_clear_up_loses_no_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workers, "_PATIENCE_WITH_FILES", SILENCE)

    async def close() -> int | None:
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec("sleep", "600")
            await workers.Worker(process, ours).close()
        return process.returncode

    assert asyncio.run(close()) == -15
