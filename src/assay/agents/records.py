"""What a run keeps of a test on one connection: a record, with a report for every sample."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from assay.agents.model import AgentFile
from assay.agents.sampling import Decision, lets_through, statistics
from assay.findings import Finding
from assay.model import WRONG_INPUT, CaseRecord, Outcome, Ratio, VerifierReport
from assay.runs import Unit

SUBJECT = "agents"


def record_of(
    unit: Unit,
    file: AgentFile,
    ratio: Ratio,
    connection: str,
    decision: Decision,
    reports: list[VerifierReport],
) -> CaseRecord:
    """One test, counted once however many samples it has."""
    reason = _reason(decision, reports)
    if repeated := repeated_requests(reports):
        reason += f"; {repeated}"
    return CaseRecord(
        id=unit.id,
        subject=SUBJECT,
        outcome=decision.outcome,
        reason=reason,
        code=_code(decision, reports),
        reports=reports,
        detail=_detail(file, ratio, connection, decision, reports),
        fingerprint=unit.fingerprint,
    )


def repeated_requests(reports: list[VerifierReport]) -> str:
    """Return in words how many requests failed before the samples were had; nothing if none did."""
    sent, repeated = (_sum(reports, key) for key in ("requests", "repeated"))
    were = "was" if repeated == 1 else "were"
    return f"{repeated} of {sent} requests failed and {were} repeated" if repeated else ""


def _sum(reports: list[VerifierReport], key: str) -> int:
    return sum(count for report in reports if isinstance(count := report.case.get(key), int))


def wrong_file_record(unit: Unit, problems: list[Finding]) -> CaseRecord:
    """The record of a test file that cannot be used: an error, with everything wrong in it."""
    lines = [f"{one.place}: {one.message}" for one in problems]
    advised = [f"{line} ({one.advice})" if one.advice else line
               for line, one in zip(lines, problems, strict=True)]  # fmt: skip
    record = wrong_input_record(unit, "\n".join(advised))
    return record.model_copy(update={"detail": {"problems": [one.describe() for one in problems]}})


def wrong_input_record(unit: Unit, reason: str) -> CaseRecord:
    """The record of a case that could not be tried because of what the user gave."""
    return CaseRecord(
        id=unit.id,
        subject=SUBJECT,
        outcome=Outcome.ERROR,
        reason=reason,
        code=WRONG_INPUT,
        fingerprint=unit.fingerprint,
    )


def _detail(
    file: AgentFile,
    ratio: Ratio,
    connection: str,
    decision: Decision,
    reports: list[VerifierReport],
) -> dict[str, Any]:
    about: dict[str, Any] = {
        "agent": file.name,
        "connection": connection,
        "ratio": str(ratio),
        "taken": decision.taken,
        "decided early": decision.is_early,
        "lets through": lets_through(ratio),
        "requests": _sum(reports, "requests"),
        "repeated requests": _sum(reports, "repeated"),
    }
    if not decision.is_early:
        # Of samples that were stopped early a rate would be biased.
        about["statistics"] = _numbers([report.outcome for report in reports])
    return about


def _numbers(outcomes: list[Outcome]) -> dict[str, Any]:
    numbers = asdict(statistics(outcomes))
    numbers["interval"] = list(numbers["interval"]) if numbers["interval"] else None
    numbers["all_of"] = {str(size): chance for size, chance in numbers["all_of"].items()}
    return numbers


def wrong_checks(report: VerifierReport) -> list[str]:
    return [one.attribute for one in report.get_verified_attributes() if not one.is_correct]


def _code(decision: Decision, reports: list[VerifierReport]) -> str:
    """What identifies the finding in a baseline: the checks that failed in any sample."""
    if decision.outcome is not Outcome.FAILED:
        return "" if decision.outcome is Outcome.PASSED else decision.outcome.value
    return ",".join(sorted({name for report in reports for name in wrong_checks(report)}))


def _reason(decision: Decision, reports: list[VerifierReport]) -> str:
    if decision.outcome is Outcome.PASSED:
        return decision.reason
    if decision.outcome is Outcome.ERROR:
        errors = dict.fromkeys(report.error for report in reports if report.error)
        return "; ".join([decision.reason, *filter(None, errors)])
    names = sorted({name for report in reports for name in wrong_checks(report)})
    return f"{decision.reason}; failed: {', '.join(names)}" if names else decision.reason
