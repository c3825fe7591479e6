"""Conversations: what one interaction costs Assay, next to a loop of nothing but httpx.

A scripted server in a process of its own answers at once; 50 connections are busy all the time.
Assay is the real command, with journal and report; its start-up is measured with one sample and
taken off. The floor posts the same requests with one pooled client and parses what comes back. It
can come out dearer than Assay: its 50 tasks do nothing between two requests, so they reach for the
same idle connection at the same time, and the pool makes all but one of them try again.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measure import Cost, median, run

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
SAMPLES = 1000
MORE = 4 * SAMPLES
CONNECTIONS = 50
ROUNDS = 3
GOAL = 3.0


def main() -> None:
    """Measure and print."""
    costs: dict[tuple[str, int], list[Cost]] = {}
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder, _server() as port:
        file = _test_file(Path(folder))
        for number in range(ROUNDS):
            for samples in (1, SAMPLES):
                for name, command in _commands(file, port, samples, number).items():
                    costs.setdefault((name, samples), []).append(run(command, samples))
        _refuse_errors(Path(folder) / f"run-{SAMPLES}-0")
        more = run(_commands(file, port, MORE, 0)["assay"], MORE)
    _report({key: median(each) for key, each in costs.items()}, more)


def _test_file(folder: Path) -> Path:
    path = folder / "echo.hocon"
    interaction = {
        "text": "Who did Yellow Submarine?",
        "timeout_in_seconds": 30,
        "response": {"text": {"keywords": "Yellow"}, "structure": {"turns": {"value": 1}}},
    }
    told = {"agent": "echo", "connections": "http", "interactions": [interaction]}
    path.write_text(json.dumps(told), encoding="utf-8")
    return path


def _commands(file: Path, port: int, samples: int, number: int) -> dict[str, list[str]]:
    address = ["--host", "127.0.0.1", "--port", str(port)]
    many = ["--jobs", str(CONNECTIONS), "--max-connections", str(CONNECTIONS)]
    out = str(file.parent / f"run-{samples}-{number}")
    return {
        "httpx": [sys.executable, str(HERE / "baselines/httpx_loop.py"), str(port)],
        "assay": [
            str(BIN / "assay"), "agents", "verify", str(file), *address, *many,
            "--ratio", f"{samples}/{samples}", "--out", out, "--quiet", "--model", "none",
        ],
    }  # fmt: skip


@contextmanager
def _server() -> Iterator[int]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.agents.scripted_server"],
        cwd=HERE.parent,
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


def _refuse_errors(folder: Path) -> None:
    """A run that passed by its ratio alone could still hold errors."""
    from assay.runs import Run

    with Run(folder) as kept:
        [record] = kept.records()
    outcomes = [report.outcome.value for report in record.reports]
    if outcomes != ["passed"] * SAMPLES:
        raise SystemExit(f"not all samples passed: {record.reason}")


def _report(costs: dict[tuple[str, int], Cost], more: Cost) -> None:
    print(f"Agents: {SAMPLES:,} samples of one interaction, {CONNECTIONS} connections, http")
    each = {}
    for name in ("httpx", "assay"):
        start, whole = costs[name, 1], costs[name, SAMPLES]
        each[name] = (whole.cpu - start.cpu) / (SAMPLES - 1) * 1000
        print(
            f"{name:8}{each[name]:6.2f} ms CPU per interaction{start.cpu:7.2f} s start-up"
            f"{whole.megabytes:6.0f} MB"
        )
    growth = more.megabytes - costs["assay", SAMPLES].megabytes
    print(
        f"assay, {MORE:,} samples: {more.megabytes:.0f} MB, "
        f"{growth / (MORE - SAMPLES) * 1024:.1f} KB more per sample, no error"
    )
    verdict = "holds" if each["assay"] <= GOAL else "MISSED"
    ratio = each["assay"] / each["httpx"]
    print(f"assay / httpx: {ratio:.2f} times; at most {GOAL:g} ms per interaction: {verdict}")


if __name__ == "__main__":
    main()
