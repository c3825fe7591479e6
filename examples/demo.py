"""`make demo`: runs Assay on the shipped examples; it must find what is planted, and only that."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLANTED = {"thousands only", "code, no sign"}


def assay(*words: str, show: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a command, and show it and what it says."""
    command = [sys.executable, "-m", "assay", *words]
    result = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if show:
        print(f"\n$ assay {shlex.join(words)}\n\n{result.stdout}", flush=True)
    return result


def main() -> None:
    """Run the example and check what it found."""
    print("A function that reads prices, eight prices, and what each should give. Two of them are")
    print("planted so that the function gets them wrong; Assay has to find these two, no others.")
    code = assay("run", "examples/evaluation/prices.py").returncode
    assay("report", "latest", "--format", "html", "--out", ".assay/demo.html")
    cases = json.loads(assay("report", "latest", "--format", "json", show=False).stdout)["cases"]
    found = {case["id"] for case in cases if case["outcome"] != "passed"}
    if code != 1 or found != PLANTED:
        raise SystemExit(f"the demo should have found {sorted(PLANTED)}, it found {sorted(found)}")
    print("Both planted bugs were found and nothing else was accused. The exit code was 1, so this")
    print("evaluation would have stopped a release. All the evidence: .assay/demo.html")
    print("Next: docs/first-evaluation.md")


if __name__ == "__main__":
    main()
