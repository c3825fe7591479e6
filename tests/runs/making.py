"""Makes small runs with as little said as a test needs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from assay.model import CaseRecord, GroupType, Outcome, VerifierReport
from assay.model.verification import AttributeResult
from assay.runs import Manifest, Unit, create_folder
from assay.runs.folder import RUNS_FOLDER, read_manifest, write_manifest
from assay.runs.writer import RunWriter

WORDS = {"P": Outcome.PASSED, "F": Outcome.FAILED, "U": Outcome.UNVERIFIED, "E": Outcome.ERROR}


def make_report(sample: str, weight: float = 1.0) -> VerifierReport:
    """A report whose attribute `a` is right, and whose `b` is as the letter says."""
    if sample == "E":
        return VerifierReport(
            id="x", group="g", type=GroupType.CORE, duration=0, results={}, error="no"
        )
    correct = {"P": True, "F": False, "U": None}[sample]
    right = AttributeResult(attribute="a", actual=1, expected=1, is_correct=True)
    other = AttributeResult(attribute="b", actual=1, expected=2, is_correct=correct, weight=weight)
    return VerifierReport(
        id="x", group="g", type=GroupType.CORE, duration=0, results={"a": right, "b": other}
    )


def make_record(name: str, ending: str, subject: str = "test", **more: Any) -> CaseRecord:
    """A record by the letters of its samples, after a colon where they are not its outcome:
    `F`, or `P:PPF` for one that passed although a sample failed."""
    outcome, _, samples = ending.partition(":")
    fields: dict[str, Any] = {
        "id": name,
        "subject": subject,
        "outcome": WORDS[outcome],
        "code": WORDS[outcome].value,
        "fingerprint": "f",
        "reports": [make_report(sample) for sample in samples or outcome],
        **more,
    }
    return CaseRecord(**fields)


def write_run(
    path: Path | None,
    cases: dict[str, str] | Iterable[CaseRecord],
    *,
    is_finished: bool = True,
    runs: Path = RUNS_FOLDER,
    started: datetime | None = None,
    subject: str = "test",
    **manifest: Any,
) -> Path:
    """A run of these cases, by their id and their ending."""
    if isinstance(cases, dict):
        cases = [make_record(name, ending, subject) for name, ending in cases.items()]
    when = {} if started is None else {"started": started}
    folder = create_folder(path, Manifest(subject=subject, **when, **manifest), runs)
    with RunWriter(folder) as writer:
        for place, record in enumerate(cases):
            unit = Unit(record.id, place, record.fingerprint, None)
            assert writer.wants(unit)
            writer.add(unit, record)
        writer.finish()
    if not is_finished:
        write_manifest(folder, read_manifest(folder).model_copy(update={"finished": None}))
    return folder
