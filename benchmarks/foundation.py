"""Trivial cases through Assay, against a bare loop and against pydantic-evals, in one run.

All whole processes, interleaved, medians of several rounds. Start-up is measured with one case and
shown apart; rates are of what comes after it.
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from benchmarks.measure import Cost, environment_with, median, run

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
PEER = "pydantic-evals==2.62.0"
ROUNDS = 5
CASES = 10_000
MANY = 100_000


def main() -> None:
    """Measure and print."""
    python = environment_with(
        [PEER], HERE.parent / ".venv" / "peers" / "pydantic-evals", BIN / "uv"
    )
    costs: dict[tuple[str, int], list[Cost]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        for number in range(ROUNDS):
            for cases in (1, CASES):
                run_of = Path(folder) / f"run-{number}-{cases}"
                for name, command in _commands(run_of, python).items():
                    costs[name, cases].append(run(command, cases))
        helps = median([run([str(BIN / "assay"), "--help"], 0) for _ in range(5)])
        many = run(_commands(Path(folder) / "many", python)["assay"], MANY)
    _report({key: median(each) for key, each in costs.items()}, helps, many)


def _commands(out: Path, peer: Path) -> dict[str, list[str]]:
    suite = str(HERE / "trivial.py")
    parquet = f"--report=parquet={out / 'reports.parquet'}"
    return {
        "bare loop": [sys.executable, str(HERE / "baselines/bare_loop.py"), f"{out}.jsonl"],
        "assay": [str(BIN / "assay"), "run", suite, "--out", str(out), "--quiet", parquet],
        "pydantic-evals": [str(peer), str(HERE / "baselines/pydantic_evals_loop.py")],
    }


def _report(costs: dict[tuple[str, int], Cost], helps: Cost, many: Cost) -> None:
    rates = {}
    print(f"{CASES:,} trivial cases: echo, one exact check (assay: with journal and parquet)")
    print(f"{'':16}{'start-up':>10}{'cases/CPU-s':>14}{'whole process':>15}{'memory':>10}")
    for name in ("bare loop", "assay", "pydantic-evals"):
        start, whole = costs[name, 1], costs[name, CASES]
        rates[name] = CASES / (whole.cpu - start.cpu)
        print(
            f"{name:16}{start.cpu:8.2f} s{rates[name]:14,.0f}{CASES / whole.cpu:13,.0f}/s"
            f"{whole.megabytes:7.0f} MB"
        )
    later = MANY / (many.cpu - costs["assay", 1].cpu)
    print(
        f"{f'assay, {MANY:,}':26}{later:14,.0f}{MANY / many.cpu:13,.0f}/s{many.megabytes:7.0f} MB"
    )
    print(f"assay --help: {helps.cpu:.2f} s of CPU (limit 0.2)")
    print(f"assay / pydantic-evals: {rates['assay'] / rates['pydantic-evals']:.1f} times (goal: 5)")
    print(f"assay / bare loop: {rates['assay'] / rates['bare loop']:.3f} times")


if __name__ == "__main__":
    main()
