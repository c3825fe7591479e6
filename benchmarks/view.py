"""`python -m benchmarks.view`: 100,000 cases in the viewer, and in inspect's reader of its logs.

Assay: the CPU seconds that the server needs for an answer while nothing else runs, the mean of
several. inspect: whole processes of its Python reader, without those of an empty one; its viewer
reads logs in the same way and then leaves the work to the browser. Both have the same texts.
"""

from __future__ import annotations

import argparse
import http.client
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from assay.model import Case, FinishedCase, Outcome, VerificationResult
from assay.model.packing import pack_report
from assay.runs import Manifest, Parts, Unit, create_folder, execute
from benchmarks.baselines.view_texts import RARE, make_cases
from benchmarks.measure import Cost, environment_with, run

HERE = Path(__file__).parent
PEERS = HERE.parent / ".venv" / "peers"
PEER = "inspect-ai==0.3.285"
CASES = 100_000
REPEATS = 10
LIMIT_MS, LIMIT_MB = 300, 150
_TICKS = os.sysconf("SC_CLK_TCK")

# What is asked of the viewer, and what inspect's reader does for the same.
QUESTIONS = {
    "list": ("/", "list"),
    "first page": ("/runs/big", "first page"),
    "page 1,000": ("/runs/big?page=1000", "first page"),
    "filter: failed": ("/runs/big?outcome=failed", "filter"),
    "filter: group, slowest first": ("/runs/big?group=group+7&order=slowest", "filter"),
    "search: a rare word": (f"/runs/big?q={RARE}", "search"),
    "search: in every text": ("/runs/big?q=case-0", "search"),
    "search: two letters": ("/runs/big?q=zq", "search"),
    "one case": ("", "one case"),
}


def main() -> None:
    """Measure and print; exit 1 if an answer or the memory is over its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alone", action="store_true", help="without inspect")
    alone = parser.parse_args().alone
    os.nice(10)
    peer = {} if alone else measure_inspect()
    with tempfile.TemporaryDirectory(prefix="assay-view-bench-") as name:
        is_within = measure_assay(Path(name), peer)
    raise SystemExit(0 if is_within else 1)


def make_run(folder: Path) -> None:
    """Write a run with the cases, as any run is written."""
    path = create_folder(folder, Manifest(subject="evaluation", title="big.py"))
    execute(path, list_units(), work, waits=False)


def list_units() -> Iterator[Unit]:
    for place, case in enumerate(make_cases(CASES)):
        yield Unit(case[0], place, f"print {place}", (place, *case))


async def work(unit: Unit, parts: Parts) -> FinishedCase:
    """Return the record of a case; how long it took is made up."""
    place, identifier, question, answer, is_right = unit.payload
    case = Case(id=identifier, group=f"group {place % 23}", question=question)
    actual, expected = case.result(output=answer), case.result(output=question[:200])
    diff = None if is_right else "- expected\n+ actual"
    found = {"output": VerificationResult.create(diff, is_right)}
    seconds = 0.01 * (place % 500)
    report = pack_report(case, seconds, actual, expected, found)
    ending = (Outcome.PASSED, "") if is_right else (Outcome.FAILED, "wrong: output")
    code = "" if is_right else "output"
    started = "2026-03-01T09:00:00+00:00"
    return FinishedCase.of(
        unit.id, "evaluation", ending, code, [report], unit.fingerprint, started, seconds
    )


class Server(NamedTuple):
    """A viewer that runs."""

    process: subprocess.Popen[str]
    port: int
    cookie: str

    def ask(self, path: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", path, headers={"Cookie": self.cookie})
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {text[:300]}")
        return text

    def read_cpu(self) -> float:
        """Return the CPU seconds of the server so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def read_peak(self) -> float:
        """Return the most memory that it had, in MB."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024

    def wait_until_idle(self) -> None:
        """Wait until everything is indexed and the server rests."""
        while "notice" in self.ask("/runs/big"):
            time.sleep(0.5)
        before = self.read_cpu()
        while True:
            time.sleep(2)
            now = self.read_cpu()
            if now - before < 0.05:
                return
            before = now


@contextmanager
def serve(folder: Path) -> Iterator[Server]:
    command = [sys.executable, "-m", "assay", "view", str(folder / "runs")]
    environment = {**os.environ, "ASSAY_CACHE": str(folder / "cache")}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        port = int(address.partition("/?")[0].rpartition(":")[2])
        try:
            yield Server(process, port, f"assay-view-{port}={address.partition('token=')[2]}")
        finally:
            process.send_signal(signal.SIGINT)


def measure_assay(folder: Path, peer: dict[str, float]) -> bool:
    """Print what every answer costs; return whether all are within their limits."""
    make_run(folder / "runs" / "big")
    print(f"{CASES:,} cases: CPU time of one answer of the server, of inspect's reader, and ratio")
    with serve(folder) as server:
        start = server.read_cpu()
        first = server.ask("/runs/big")
        print(f"  first answer, before anything is indexed   {server.read_cpu() - start:6.2f} s")
        assert "Reading the run" in first or "being indexed" in first
        server.wait_until_idle()
        print(f"  to index everything, in the background     {server.read_cpu() - start:6.2f} s")
        case = first.partition('class="id" href="')[2].partition('"')[0]
        is_within = True
        for name, (path, other) in QUESTIONS.items():
            cost = _measure_answer(server, path or case)
            is_within = is_within and cost <= LIMIT_MS
            ratio = f"{peer[other] / cost * 1000:9.0f} times" if other in peer else ""
            theirs = f"{peer[other]:8.2f} s" if other in peer else ""
            print(f"  {name:32}{cost:8.0f} ms {theirs} {ratio}")
        peak = server.read_peak()
        print(
            f"  the most memory: {peak:.0f} MB"
            + (f", inspect {peer['MB']:,.0f} MB" if peer else "")
        )
    print(f"limits: {LIMIT_MS} ms for an answer, {LIMIT_MB} MB")
    return is_within and peak <= LIMIT_MB


def _measure_answer(server: Server, path: str) -> float:
    """Return the mean CPU milliseconds of an answer."""
    server.ask(path)
    before = server.read_cpu()
    for _ in range(REPEATS):
        server.ask(path)
    return 1000 * (server.read_cpu() - before) / REPEATS


def measure_inspect() -> dict[str, float]:
    """Return the CPU seconds of inspect's reader for each thing, without its start; and its MB."""
    python = environment_with([PEER], PEERS / "inspect", Path(sys.executable).parent / "uv")
    script = str(HERE / "baselines/inspect_log.py")
    # Made once: it takes minutes.
    folder = PEERS / f"inspect-log-{CASES}"
    folder.mkdir(exist_ok=True)
    if not (folder / "log.eval").exists():
        made = run([str(python), script, "make", str(folder)], CASES)
        print(f"inspect wrote its log of {CASES:,} samples in {made.cpu:.0f} s of CPU")

    def cost_of(what: str) -> Cost:
        return run([str(python), script, what, str(folder)], CASES)

    start = cost_of("nothing").cpu
    costs = {what: cost_of(what) for what in dict.fromkeys(name for _, name in QUESTIONS.values())}
    peak = max(cost.megabytes for cost in costs.values())
    return {what: max(0.0, cost.cpu - start) for what, cost in costs.items()} | {"MB": peak}


if __name__ == "__main__":
    main()
