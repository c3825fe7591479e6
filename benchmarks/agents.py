"""Conversations: what one interaction costs Assay, next to a loop of nothing but httpx.

A scripted server in a process of its own answers at once; 50 connections are busy all the time.
The floor posts the same requests with one pooled client and parses the lines that come back.
"""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

SAMPLES = 1000
CONNECTIONS = 50
ROUNDS = 3
GOAL = 3.0

Work = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class _Says:
    text: str | None = "Who did Yellow Submarine?"
    sly_data: dict[str, object] | None = None
    chat_filter: str = "MINIMAL"
    timeout: float | None = 30.0
    continue_conversation: bool = True


def main() -> None:
    """Measure and print."""
    costs: dict[str, list[dict[str, float]]] = {"httpx": [], "assay": []}
    with _server() as port:
        for _ in range(ROUNDS):
            for side, measured in costs.items():
                measured.append(_measured(side, port))
    print(f"Agents: {SAMPLES} samples of one interaction, {CONNECTIONS} connections, http")
    for side, measured in costs.items():
        cpu, first, last, seconds = (
            statistics.median(each[key] for each in measured)
            for key in ("cpu", "first", "last", "seconds")
        )
        print(
            f"  {side:6} {cpu:5.2f} ms CPU per interaction, {SAMPLES / seconds:5.0f} per second, "
            f"{first:.0f} MB after a tenth, {last:.0f} MB at the end"
        )
    floor, ours = (
        statistics.median(each["cpu"] for each in costs[side]) for side in ("httpx", "assay")
    )
    verdict = "holds" if ours <= GOAL else "MISSED"
    print(f"  {ours / floor:.2f} times the floor; at most {GOAL:g} ms: {verdict}")


@contextmanager
def _server() -> Iterator[int]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.agents.scripted_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(10)


def _measured(side: str, port: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.agents", side, str(port)]
    told: dict[str, float] = json.loads(subprocess.check_output(command))
    return told


async def _assay(port: int) -> dict[str, float]:
    from assay.agents.connections import Settings, open_connection
    from assay.agents.conversation import Ending, hold

    connection = open_connection("http", Settings("echo", host="127.0.0.1", port=port))

    async def sample() -> None:
        conversation = await hold(connection, [_Says()])
        if conversation.ending is not Ending.COMPLETE:
            raise SystemExit(f"a sample failed: {conversation.reason}")

    try:
        return await _timed(sample)
    finally:
        await connection.close()


async def _httpx(port: int) -> dict[str, float]:
    import httpx

    url = f"http://127.0.0.1:{port}/api/v1/echo/streaming_chat"
    asked = {
        "user_message": {"type": "HUMAN", "text": _Says().text},
        "chat_filter": {"chat_filter_type": "MINIMAL"},
    }
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(verify=False, limits=limits, timeout=30) as client:

        async def sample() -> None:
            async with client.stream("POST", url, json=asked) as response:
                async for line in response.aiter_lines():
                    json.loads(line)

        return await _timed(sample)


async def _timed(sample: Work) -> dict[str, float]:
    """CPU per interaction once warm, and the most memory after a tenth and after all."""
    await _many(sample, SAMPLES // 10)
    first = _megabytes()
    cpu, started = time.process_time(), time.perf_counter()
    await _many(sample, SAMPLES)
    spent, seconds = time.process_time() - cpu, time.perf_counter() - started
    return {
        "cpu": spent / SAMPLES * 1000,
        "first": first,
        "last": _megabytes(),
        "seconds": seconds,
    }


async def _many(sample: Work, count: int) -> None:
    places = iter(range(count))

    async def work() -> None:
        for _ in places:
            await sample()

    await asyncio.gather(*(work() for _ in range(CONNECTIONS)))


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        side = {"assay": _assay, "httpx": _httpx}[sys.argv[1]]
        print(json.dumps(asyncio.run(side(int(sys.argv[2])))))
