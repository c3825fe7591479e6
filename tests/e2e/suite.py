"""An evaluation the end-to-end tests run; what it does is told by environment variables."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import assay
from assay import CaseResult, VerificationResult

COUNT = int(os.environ.get("CASES", "4"))
PAUSE = float(os.environ.get("PAUSE", "0"))
LOG = os.environ.get("LOG")
# case id → what goes wrong with it: fail, raise, hang, unverified, kill
BAD = dict(pair.split("=") for pair in os.environ.get("BAD", "").split(",") if pair)
CHANGED = os.environ.get("CHANGED", "").split(",")
# Which samples of every case fail, counted from 1.
FAILING_SAMPLES = [int(number) for number in os.environ.get("FAILING", "").split(",") if number]
SUFFIX = os.environ.get("SUFFIX", "")
taken: dict[str, int] = {}


def cases() -> Iterator[tuple[dict[str, Any], str]]:
    for number in range(COUNT):
        name = f"case-{number}{SUFFIX}"
        text = f"text {number}" + (" changed" if name in CHANGED else "")
        yield {"id": name, "text": text}, text


def task(case: Any) -> CaseResult:
    if LOG:
        with Path(LOG).open("a") as log:
            log.write(f"{case.id}\n")
    if PAUSE:
        time.sleep(PAUSE)
    taken[case.id] = taken.get(case.id, 0) + 1
    match BAD.get(case.id):
        case "raise":
            raise RuntimeError("<b>broken</b> \x1b[31mred")
        case "hang":
            time.sleep(600)
        case "orphan":
            if os.fork() == 0:
                os.setsid()
                # What it inherits of the streams is its own business; the rest is Assay's.
                os.closerange(0, 3)
                time.sleep(120)
                os._exit(0)
        case "thread":
            threading.Thread(target=time.sleep, args=(120,)).start()
        case "fail":
            return case.result(output="wrong")  # type: ignore[no-any-return]
        case "print":
            print("a task may print")
            sys.stdout.flush()
            os.system("echo and so may what it starts")
    wrong = taken[case.id] in FAILING_SAMPLES
    return case.result(output="wrong" if wrong else case.text)  # type: ignore[no-any-return]


def verifier(
    group: str, name: str, actual: CaseResult, expected: CaseResult
) -> dict[str, VerificationResult]:
    if BAD.get(name) == "unverified":
        return {}
    return {"output": VerificationResult.create("compared", actual.output == expected.output)}


def make() -> assay.Evaluation:
    return assay.Evaluation(cases, task, verifier)


evaluation = make()
not_one = 42
