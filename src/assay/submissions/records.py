"""What a run keeps of a submission's case: one record, with the whole report beneath."""

from __future__ import annotations

import re
from typing import NamedTuple

from assay.model import (
    MISTAKE,
    AttributeResult,
    CaseRecord,
    CaseResult,
    Outcome,
    Value,
    VerificationResult,
    VerifierReport,
)
from assay.runs import Unit

SUBJECT = "submissions"
UNREADABLE = "unreadable"
"""The code of a failed case whose verifier gave no judgement of what the submission produced."""
_VERIFIER = "(verifier)"


class Home(NamedTuple):
    """Where a case belongs; a checkpoint that could not be set up has no group."""

    checkpoint: str
    group: str = ""
    type: str = ""

    def values(self) -> dict[str, Value]:
        return dict(self._asdict())


def describe_unreadable(error: str, actual: CaseResult) -> dict[str, VerificationResult]:
    """Return what stands for a judgement where the verifier could not read what it was shown."""
    why = error.replace("the verifier raised", "it raised", 1)
    what = f"the verifier could not read this output: {why}\nthe output: {actual.output!r:.500}"
    return {_VERIFIER: VerificationResult.create(what, False)}


def make_case_record(
    unit: Unit,
    home: Home,
    report: VerifierReport,
    actual: CaseResult | None,
    duration: float,
    *,
    is_mistake: bool = False,
) -> CaseRecord:
    """Return the record of a case that was tried; `is_mistake` if its error is the author's."""
    return CaseRecord(
        detail=home.values(),
        id=unit.id,
        subject=SUBJECT,
        outcome=report.outcome,
        reason=_reason(report, actual),
        code=MISTAKE if is_mistake else _code(report),
        reports=[report],
        fingerprint=unit.fingerprint,
        duration=duration,
    )


class Broken(NamedTuple):
    """Cases that there should have been, and why there are none."""

    home: Home
    reason: str
    code: str = Outcome.ERROR.value


def make_broken_record(unit: Unit) -> CaseRecord:
    """Return the record of cases that could not be had: an error, so that nothing passes.

    It is a failure if they depend on an output that could not be read.
    """
    broken: Broken = unit.payload
    return CaseRecord(
        detail=broken.home.values(),
        id=unit.id,
        subject=SUBJECT,
        outcome=Outcome.FAILED if broken.code == UNREADABLE else Outcome.ERROR,
        reason=broken.reason,
        code=broken.code,
        fingerprint=unit.fingerprint,
    )


def _wrong(report: VerifierReport) -> list[str]:
    return [one.attribute for one in report.get_verified_attributes() if not one.is_correct]


def _code(report: VerifierReport) -> str:
    if _VERIFIER in report.results:
        return UNREADABLE
    if report.outcome is Outcome.FAILED:
        return ",".join(sorted(_wrong(report)))
    return "" if report.outcome is Outcome.PASSED else report.outcome.value


def _describe_undecided(one: AttributeResult) -> str:
    return f"not decided: {one.attribute}: {str(one.diff).partition(chr(10))[0]}"


def _reason(report: VerifierReport, actual: CaseResult | None) -> str:
    """Return in one line what is not right, with why a program did not end before it."""
    if report.error is not None:
        # The report has the whole of it.
        return report.error.partition("\n")[0]
    if report.outcome is Outcome.UNVERIFIED:
        open_ones = [
            one for one in report.results.values() if one.is_correct is None and one.weight
        ]
        return "; ".join(_describe_undecided(one) for one in open_ones) or "nothing was verified"
    if report.outcome is Outcome.PASSED:
        return ""
    if unread := report.results.get(_VERIFIER):
        return str(unread.diff).partition("\n")[0]
    names = f"wrong: {', '.join(_wrong(report))}"
    why = _why(report, actual)
    return f"{why}; {names}" if why else names


def _why(report: VerifierReport, actual: CaseResult | None) -> str:
    """Return what kept the program from answering at all, if anything did."""
    if entry := report.results.get("entry_file"):
        return str(entry.diff)
    if actual is None:
        return ""
    told = _TOLD.match(actual.stderr) if isinstance(actual.stderr, str) else None
    if told and actual.status_code == NO_ANSWER:
        return told[1]
    return "it exceeded its time limit" if actual.timed_out else ""


NO_ANSWER = -1
# The adapter's own word before what a server wrote.
_TOLD = re.compile(r"\[([^\]\n]*)\]")
