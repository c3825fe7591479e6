"""Cases of a command line program against a bare loop of subprocesses, and servers becoming ready.

The loop is the floor: one process after the other, in one folder, with nothing around it. Assay
runs the same cases two at a time, each in a fresh work folder, first without isolation and then
with it. What Assay itself costs is the CPU time of all its processes beyond that of the programs.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
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
from assay.submissions.cases import APICase, CLICase
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig
from assay.submissions.environments import DEFAULT
from assay.submissions.preparing import prepare

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


@dataclass(frozen=True)
class Measured:
    """Wall and CPU time of some cases; of the CPU time, what this process used itself."""

    cases: int
    wall: float
    cpu: float
    own_cpu: float

    @property
    def rate(self) -> float:
        return self.cases / self.wall


def main(arguments: Sequence[str] = ()) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.submissions")
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        found: dict[str, list[Measured]] = defaultdict(list)
        levels = ("none", choose("auto"))
        for _ in range(asked.rounds):
            found["floor"].append(_floor(Path(folder, "floor"), asked.cases))
            for level in levels:
                place = Path(folder, level)
                found[level].append(_assay(place, asked.cases, level, asked.workers))
        _report(found, levels, asked.workers)
        _report_servers(Path(folder, "server"))


def _floor(folder: Path, cases: int) -> Measured:
    folder.mkdir(exist_ok=True)
    (folder / "main.py").write_text(_PROGRAM)
    python = getattr(sys, "_base_executable", sys.executable)
    before = _clock()
    for number in range(cases):
        ended = subprocess.run(
            [python, "main.py", str(number), "1"], cwd=folder, capture_output=True, check=True
        )
        assert ended.stdout == b"%d\n" % (number + 1)
    return _since(before, cases)


def _problem(folder: Path, **adapter: object) -> tuple[Path, ProblemConfig, CheckpointConfig]:
    submission = folder / "submission"
    submission.mkdir(parents=True, exist_ok=True)
    (folder / "problem").mkdir(exist_ok=True)
    checkpoint = CheckpointConfig(name="checkpoint_1", path=folder / "problem")
    problem = ProblemConfig.model_validate(
        {
            "name": "sum",
            "entry_file": "main",
            "adapter": adapter,
            "checkpoints": {"checkpoint_1": checkpoint},
            "path": folder / "problem",
        }
    )
    return submission, problem, checkpoint


def _assay(folder: Path, cases: int, level: str, workers: int) -> Measured:
    """The subject: what runs the cases; start-up of the workers is part of it."""
    submission, problem, checkpoint = _problem(folder, type="cli")
    (submission / "main.py").write_text(_PROGRAM)

    async def work() -> None:
        site = prepare(submission, DEFAULT, problem, checkpoint, isolation=level)
        async with site as prepared, prepared.runner(GroupConfig(name="core")) as runner:
            waiting = iter(range(cases))

            async def one_after_the_other() -> None:
                for number in waiting:
                    case = CLICase(id=str(number), group="core", arguments=[str(number), "1"])
                    result = await runner.run(case)
                    assert result.output == f"{number + 1}\n", result

            await asyncio.gather(*(one_after_the_other() for _ in range(workers)))

    before = _clock()
    asyncio.run(work())
    return _since(before, cases)


def _clock() -> tuple[float, float, float]:
    own, children = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    used = own.ru_utime + own.ru_stime
    return time.perf_counter(), used + children.ru_utime + children.ru_stime, used


def _since(before: tuple[float, float, float], cases: int) -> Measured:
    wall, cpu, own = (after - start for after, start in zip(_clock(), before, strict=True))
    return Measured(cases, wall, cpu, own)


def _report(found: dict[str, list[Measured]], levels: Sequence[str], workers: int) -> None:
    floor = _median(found["floor"])
    programs = (floor.cpu - floor.own_cpu) / floor.cases
    print(f"submissions: {floor.cases} cases of a small Python program (medians)")
    print(f"  bare loop of subprocesses      {floor.rate:6.1f} cases/s")
    for level in levels:
        measured = _median(found[level])
        beyond = (measured.cpu / measured.cases - programs) * 1000
        own = measured.own_cpu / measured.cases * 1000
        print(
            f"  assay, {workers} workers, {level:12} {measured.rate:6.1f} cases/s"
            f"  {measured.rate / floor.rate:5.2f} × the floor"
            f"  CPU per case: {own:.1f} ms its own, {beyond:.1f} ms with its sandbox",
            flush=True,
        )


def _median(several: list[Measured]) -> Measured:
    return sorted(several, key=lambda one: one.wall)[len(several) // 2]


def _report_servers(folder: Path) -> None:
    """From the moment a server listens, and from its first answer, to the moment it is used."""
    submission, problem, checkpoint = _problem(folder, type="api")
    (submission / "main.py").write_text(_SERVER)
    late: list[tuple[float, float]] = []

    async def work() -> None:
        for number in range(8):
            adapter = problem.adapter.model_copy(update={"arguments": [str(0.05 * number)]})
            slow = problem.model_copy(update={"adapter": adapter})
            site = prepare(submission, DEFAULT, slow, checkpoint)
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
