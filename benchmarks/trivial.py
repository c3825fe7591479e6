"""The trivial evaluation that the benchmark runs: echo, and one exact check."""

from __future__ import annotations

import os
from collections.abc import Iterator

import assay
from assay import Case, CaseResult, VerificationResult
from assay.checks import run_check

COUNT = int(os.environ.get("CASES", "10000"))


def cases() -> Iterator[tuple[Case, str]]:
    for number in range(COUNT):
        yield Case(id=f"case-{number}", text=f"text {number}"), f"text {number}"


def task(case: Case) -> CaseResult:
    return case.result(output=case.text)  # type: ignore[attr-defined]


def verifier(
    group_name: str, case_name: str, actual: CaseResult, expected: CaseResult
) -> dict[str, VerificationResult]:
    return {"output": run_check("exact", actual.output, expected.output)}


evaluation = assay.Evaluation(cases, task, verifier)
