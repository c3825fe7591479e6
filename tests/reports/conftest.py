"""Real runs for the tests of reports: written through the engine, read back from their folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.model import AttributeResult, CaseRecord, GroupType, Outcome, VerifierReport
from assay.runs import BASELINE, Baseline, Manifest, Parts, Run, Unit, create_folder, execute
from assay.runs.folder import read_manifest, write_manifest

HOSTILE = (
    "<script>alert(1)</script> </details></summary></pre> ]]> --> "
    '"><img src=x onerror=alert(1)> {{ 7*7 }} {% raw %} \x1b[31mred\x1b]0;title\x07\x9b2J '
    "\u202eevil\u2066 \x00 @octocat #1 | a\\|b `x` ```y``` <!-- & &amp; "
    "\r\u2028\ufeff\U000e0041 end"
)


class Make:
    """Makes reports, records and runs with as little said as a test needs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs: list[Run] = []

    def result(
        self,
        attribute: str,
        is_correct: bool | None,
        actual: Any = 1,
        expected: Any = 2,
        **more: Any,
    ) -> AttributeResult:
        return AttributeResult(
            attribute=attribute, actual=actual, expected=expected, is_correct=is_correct, **more
        )

    def report(self, *results: AttributeResult, **fields: Any) -> VerifierReport:
        given: dict[str, Any] = {
            "id": "case",
            "group": "group",
            "type": GroupType.CORE,
            "duration": 0.25,
            "results": {result.attribute: result for result in results},
            **fields,
        }
        return VerifierReport(**given)

    def record(self, identifier: str, outcome: str = "passed", **fields: Any) -> CaseRecord:
        """A record of one sample that ended like the case itself."""
        samples = {
            "passed": self.report(self.result("output", True, "a", "a")),
            "failed": self.report(self.result("output", False, "a", "b", diff="- b\n+ a")),
            "unverified": self.report(self.result("output", None, diff="no judge")),
            "error": self.report(error="the task raised ValueError: no\n  file.py:3"),
        }
        given: dict[str, Any] = {
            "id": identifier,
            "subject": "tests",
            "outcome": Outcome(outcome),
            "reason": "" if outcome == "passed" else f"because {outcome}",
            "code": outcome,
            "reports": [samples[outcome]],
            "fingerprint": f"print of {identifier}",
            "duration": 0.5,
            **fields,
        }
        return CaseRecord(**given)

    def run(
        self,
        records: Iterable[CaseRecord],
        *,
        name: str = "run",
        subject: str = "tests",
        unverified_fails: bool = True,
        finished: bool = True,
        baseline: Baseline | None = None,
    ) -> Run:
        manifest = Manifest(subject=subject, unverified_fails=unverified_fails)
        path = create_folder(self._folder / name, manifest)
        units = (
            Unit(record.id, place, record.fingerprint, record)
            for place, record in enumerate(records)
        )
        execute(path, units, _keep, waits=False)
        if not finished:
            write_manifest(path, read_manifest(path).model_copy(update={"finished": None}))
        if baseline is not None:
            baseline.write(path / BASELINE)
        self._runs.append(Run(path))
        return self._runs[-1]

    def hostile_run(self) -> Run:
        """Text that attacks its reader, in every place that text from a case can be."""
        results = (
            self.result(f"files-{HOSTILE}", False, HOSTILE, f"a\n{HOSTILE}\n", diff=HOSTILE),
            self.result("undecided", None, HOSTILE.encode(), b"\xff\x00<", diff=[HOSTILE]),
            self.result("right", True, {HOSTILE: HOSTILE}, {HOSTILE: [HOSTILE]}),
            AttributeResult.of(f"unchecked {HOSTILE}", HOSTILE, HOSTILE, None),
        )
        wrong = self.report(*results, group=HOSTILE, id=HOSTILE, case={HOSTILE: HOSTILE})
        broken = self.report(error=f"{HOSTILE}\n{HOSTILE}", group="\ud800 \udfff")
        common: dict[str, Any] = {"reason": HOSTILE, "code": HOSTILE, "detail": {HOSTILE: HOSTILE}}
        usage = {HOSTILE: 1.0}
        records = [
            self.record(HOSTILE, "failed", reports=[wrong], usage=usage, **common),
            self.record(f"samples {HOSTILE}", "failed", reports=[wrong, broken], **common),
            self.record(f"error {HOSTILE}", "error", reports=[broken], **common),
            self.record(f"known {HOSTILE}", "failed", reports=[wrong], **common),
            self.record(f"passed {HOSTILE}", reports=[wrong, wrong], **common),
        ]
        first = self.run(records[3:4], name="known")
        accepted = Baseline.of(first.rows())
        gone = accepted.accepted[0].model_copy(update={"case": f"gone {HOSTILE}"})
        accepted = Baseline(accepted=[*accepted.accepted, gone])
        return self.run(records, name="hostile", baseline=accepted)

    def close(self) -> None:
        for run in self._runs:
            run.close()


async def _keep(unit: Unit, parts: Parts) -> CaseRecord:
    record: CaseRecord = unit.payload
    return record


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    maker = Make(tmp_path / "runs")
    yield maker
    maker.close()


@pytest.fixture
def hostile() -> str:
    return HOSTILE
