"""`assay submissions verify` against a bare loop of subprocesses, and servers becoming ready.

The loop is the floor: one process after the other, in one folder, with nothing around it. Assay
runs the same cases two at a time, each in a fresh work folder, verifies and records them, first
without isolation and then with it. All are whole processes that take turns. Start-up is measured
with one case and taken off; what Assay costs is all CPU time beyond that of the programs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.sandbox.isolation import choose
from assay.submissions.cases import APICase
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig
from assay.submissions.environments import DEFAULT, prepare

_PROGRAM = "import sys\nprint(sum(int(number) for number in sys.argv[1:]))\n"
_SERVER = """
import http.server, json, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
    first = None
    def log_message(self, *about): pass
    def do_GET(self):
        Handler.first = Handler.first or time.monotonic()
        body = json.dumps([listening, Handler.first]).encode()
        self.send_response(200); self.send_header("Content-Length", str(len(body)))
        self.end_headers(); self.wfile.write(body)
time.sleep(float(sys.argv[-1]))
server = http.server.ThreadingHTTPServer(("127.0.0.1", 8000), Handler)
listening = time.monotonic()
server.serve_forever()
"""


_FLOOR = """
import subprocess, sys
for number in range(int(sys.argv[1])):
    command = [sys.argv[2], "main.py", str(number), "1"]
    ended = subprocess.run(command, capture_output=True, check=True)
    assert ended.stdout == b"%d\\n" % (number + 1)
"""


@dataclass(frozen=True)
class Measured:
    """What some cases took after start-up, each."""

    wall: float
    cpu: float


def main(arguments: Sequence[str] = ()) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.submissions")
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as place:
        folder, levels = Path(place), ("none", choose("auto"))
        submission = _problem_of_sums(folder, asked.cases)
        found: dict[str, list[Measured]] = defaultdict(list)
        for number in range(asked.rounds):
            python = getattr(sys, "_base_executable", sys.executable)
            floor = [sys.executable, "-c", _FLOOR]
            found["floor"].append(
                _each(
                    [*floor, str(asked.cases), python],
                    [*floor, "1", python],
                    submission,
                    asked.cases,
                )
            )
            for level in levels:
                command = _verify(folder, level, asked.workers, f"{level}-{number}")
                one = [*_verify(folder, level, asked.workers, f"{level}-{number}-1"), "--case=0"]
                found[level].append(_each(command, one, folder, asked.cases))
        _report(found, levels, asked)
        _report_servers(folder / "server")


def _problem_of_sums(folder: Path, cases: int) -> Path:
    """A problem with so many cases, and a submission that solves it."""
    checkpoint = folder / "problem" / "checkpoint_1"
    submission = folder / "submission"
    for path in (checkpoint, submission):
        path.mkdir(parents=True)
    (submission / "main.py").write_text(_PROGRAM)
    groups = {"core": {"type": "Core"}}
    config = {
        "name": "sums",
        "version": 1,
        "description": "Add numbers.",
        "tags": ["numbers"],
        "entry_file": "main",
        "adapter": "cli",
        "checkpoints": {"checkpoint_1": {"groups": groups}},
    }
    (folder / "problem" / "config.yaml").write_text(json.dumps(config))
    (checkpoint / "spec.md").write_text("Add the numbers.\n")
    described = {
        str(number): {
            "arguments": [str(number), "1"],
            "expected": {"output": f"{number + 1}\n", "status_code": 0},
        }
        for number in range(cases)
    }
    (checkpoint / "core.json").write_text(json.dumps({"cases": described}))
    return submission


def _verify(folder: Path, level: str, workers: int, run: str) -> list[str]:
    asked = ["-s", "submission", "-p", "problem", "--isolation", level, "-j", str(workers)]
    out = ["--out", str(folder / "runs" / run), "--quiet"]
    return [sys.executable, "-m", "assay", "submissions", "verify", *asked, *out]


def _each(command: list[str], one: list[str], folder: Path, cases: int) -> Measured:
    """What a case takes: all of them, less what one of them takes with the start."""
    all_of_them, only_one = _process(command, folder), _process(one, folder)
    others = cases - 1
    return Measured(
        (all_of_them.wall - only_one.wall) / others, (all_of_them.cpu - only_one.cpu) / others
    )


def _process(command: list[str], folder: Path) -> Measured:
    started = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    told = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{told.decode()}")
    return Measured(time.perf_counter() - started, usage.ru_utime + usage.ru_stime)


def _report(
    found: dict[str, list[Measured]], levels: Sequence[str], asked: argparse.Namespace
) -> None:
    floor = _median(found["floor"])
    print(f"submissions: {asked.cases} cases of a small program, medians of {asked.rounds} rounds")
    print(f"  bare loop of subprocesses       {1 / floor.wall:6.1f} cases/s")
    for level in levels:
        measured = _median(found[level])
        name = f"assay, {asked.workers} workers, {level}"
        print(
            f"  {name:32}{1 / measured.wall:6.1f} cases/s {floor.wall / measured.wall:6.2f} × the "
            f"floor, {(measured.cpu - floor.cpu) * 1000:5.1f} ms of CPU per case beyond it",
            flush=True,
        )


def _median(several: list[Measured]) -> Measured:
    return Measured(
        statistics.median(one.wall for one in several),
        statistics.median(one.cpu for one in several),
    )


def _report_servers(folder: Path) -> None:
    """From the moment a server listens, and from its first answer, to the moment it is used."""
    submission = folder / "submission"
    submission.mkdir(parents=True)
    (submission / "main.py").write_text(_SERVER)
    checkpoint = CheckpointConfig(name="checkpoint_1", path=folder)
    late: list[tuple[float, float]] = []

    async def work() -> None:
        for number in range(8):
            problem = ProblemConfig.model_validate(
                {
                    "name": "times",
                    "entry_file": "main",
                    "adapter": {"type": "api", "arguments": [str(0.05 * number)]},
                    "checkpoints": {"checkpoint_1": checkpoint},
                    "path": folder,
                }
            )
            site = prepare(submission, DEFAULT, problem, checkpoint)
            async with site as prepared, prepared.runner(GroupConfig(name="core")) as runner:
                result = await runner.run(APICase(id="first", group="core", path="/"))
                used = time.monotonic() - result.elapsed
                listening, first = result.output
                late.append((used - listening, used - first))

    asyncio.run(work())
    listening, first = (sorted(times) for times in zip(*late, strict=True))
    print(
        f"  a server is used {statistics.median(first) * 1000:.1f} ms (at most "
        f"{first[-1] * 1000:.1f}) after its first answer, {statistics.median(listening) * 1000:.1f}"
        f" ms (at most {listening[-1] * 1000:.1f}) after it listens"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
