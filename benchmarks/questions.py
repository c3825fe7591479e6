"""Replaying the example suite against a cold `python -m pytest` for every option of it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "examples" / "questions"
SUITE = FOLDER / "pydantic.yaml"
# Every fifth option is enough for a mean, and five times shorter.
EVERY = 5


def main() -> None:
    """Print both and their ratio."""
    proofs = sorted((FOLDER / "proofs" / "pydantic").rglob("test_*.py"))
    tried = proofs[::EVERY]
    cold = _cold(tried)
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "questions"
        shutil.copytree(FOLDER, copy)
        took = _replay(copy / SUITE.name, Path(place) / "run")
    each = took / len(proofs)
    print(f"questions: {len(proofs)} proofs of {SUITE.name}, replayed with their twins")
    print(f"  cold `python -m pytest`, per option  {cold * 1000:8.0f} ms (mean of {len(tried)})")
    print(f"  assay questions verify, per option   {each * 1000:8.0f} ms ({took:.1f} s in all)")
    print(f"  ratio                                {cold / each:8.1f}")


def _cold(proofs: list[Path]) -> float:
    started = time.perf_counter()
    for proof in proofs:
        # The exit code is 1: one side of a proof fails, as it should.
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", proof],
            stdout=subprocess.DEVNULL,
            check=False,
        )
    return (time.perf_counter() - started) / len(proofs)


def _replay(suite: Path, run: Path) -> float:
    started = time.perf_counter()
    command = [sys.executable, "-m", "assay", "questions", "verify", suite, "--out", run, "-q"]
    subprocess.run([str(word) for word in command], stdout=subprocess.DEVNULL, check=False)
    took = time.perf_counter() - started
    report = json.loads((run / "quality_report.json").read_text())
    if not report["finished"]:
        raise SystemExit("the replay did not finish")
    return took


if __name__ == "__main__":
    main()
