"""Canonical problems run as plainly as can be: bare processes, a bare server, nothing isolated."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from assay.model import CaseResult
from assay.submissions.cases import APICase, APIResult, BaseCase, CLICase, CLIResult
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig
from assay.submissions.declarative import DeclarativeSource
from tests.waiting import PATIENCE

Run = Callable[[BaseCase], CaseResult]


def outcomes(
    problem: ProblemConfig, checkpoint: CheckpointConfig, program: Path, work: Path
) -> dict[str, bool]:
    """Whether each case of a checkpoint passes."""
    source, found = DeclarativeSource(problem), {}
    starting = served if problem.adapter.type == "api" else started
    for group in checkpoint.groups.values():
        with starting(program, work / group.name, problem) as run:
            for name, is_right in asyncio.run(judged(source, checkpoint, group, run)).items():
                found[f"{group.name}/{name}"] = is_right
    return found


async def judged(
    source: DeclarativeSource, checkpoint: CheckpointConfig, group: GroupConfig, run: Run
) -> dict[str, bool]:
    found = {}
    async with source.open(checkpoint, group) as stream:
        while (drawn := await stream.draw()) is not None:
            actual = run(drawn.case)
            results = await source.verify(checkpoint, group, drawn, actual)
            found[drawn.case.id] = all(one.is_correct for one in results.values())
            await stream.update(drawn, actual)
    return found


@contextlib.contextmanager
def started(program: Path, work: Path, problem: ProblemConfig) -> Iterator[Run]:
    """Runs a command in a folder of its own for every case."""

    def run(case: BaseCase) -> CaseResult:
        assert isinstance(case, CLICase)
        folder = work / case.id
        folder.mkdir(parents=True)
        for file in case.input_files:
            (folder / file.path).write_bytes(file.to_bytes())
        done = subprocess.run(
            [sys.executable, program, *(_with_assets(text, problem) for text in case.arguments)],
            cwd=folder, capture_output=True, text=True, input=_fed(case.stdin), timeout=PATIENCE,
        )  # fmt: skip
        tracked = {one.name: one for one in folder.iterdir() if one.name in case.tracked_files}
        return CLIResult(
            id=case.id, group=case.group, status_code=done.returncode, output=done.stdout,
            stderr=done.stderr, files={name: one.read_text() for name, one in tracked.items()},
        )  # fmt: skip

    yield run


def _fed(stdin: Any) -> str:
    return stdin if isinstance(stdin, str) else ""


def _with_assets(text: str, problem: ProblemConfig) -> str:
    for name, asset in problem.static_assets.items():
        text = text.replace(f"{{{{static:{name}}}}}", str(problem.path / asset.path))
    return text


@contextlib.contextmanager
def served(program: Path, work: Path, problem: ProblemConfig) -> Iterator[Run]:
    """Sends requests to a server that is started once."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(program), "--address", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            _wait(client)
            yield lambda case: _asked(client, case)
    finally:
        process.kill()
        process.wait()


def _wait(client: httpx.Client) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            client.get("/health")
            return
        except httpx.TransportError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def _asked(client: httpx.Client, case: BaseCase) -> CaseResult:
    assert isinstance(case, APICase)
    about = {"id": case.id, "group": case.group}
    try:
        answer = client.request(
            case.method, case.path, params=case.query or None, headers=case.headers, json=case.body
        )
    except httpx.TransportError:
        return APIResult(**about, status_code=-1)
    output = json.loads(answer.content) if answer.content else None
    return APIResult(
        **about, status_code=answer.status_code, output=output, headers=dict(answer.headers)
    )
