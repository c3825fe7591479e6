"""The record of a test on one connection, with a report for every sample."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from assay.agents.model import AgentFile
from assay.agents.sampling.tally import Decision, describe_false_pass_rate, statistics
from assay.findings import Finding
from assay.model import DECIDED_EARLY, WRONG_INPUT, CaseRecord, Outcome, Ratio, VerifierReport
from assay.runs import Unit

SUBJECT = "agents"


def make_record(
    unit: Unit,
    file: AgentFile,
    ratio: Ratio,
    connection: str,
    decision: Decision,
    reports: list[VerifierReport],
) -> CaseRecord:
    """Return the record of one test, counted once however many samples it has."""
    reason = _reason(decision, reports)
    if repeated := describe_repetitions(reports):
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


def describe_repetitions(reports: list[VerifierReport]) -> str:
    """Describe how many requests failed before the samples succeeded; empty if none did."""
    sent, repeated = (_sum(reports, key) for key in ("requests", "repeated"))
    were = "was" if repeated == 1 else "were"
    return f"{repeated} of {sent} requests failed and {were} repeated" if repeated else ""


def _sum(reports: list[VerifierReport], key: str) -> int:
    return sum(count for report in reports if isinstance(count := report.case.get(key), int))


def wrong_file_record(unit: Unit, problems: list[Finding]) -> CaseRecord:
    """Return the record of an invalid test file, with all its problems."""
    lines = [f"{one.place}: {one.message}" for one in problems]
    advised = [f"{line} ({one.advice})" if one.advice else line
               for line, one in zip(lines, problems, strict=True)]  # fmt: skip
    record = wrong_input_record(unit, "\n".join(advised))
    return record.model_copy(update={"detail": {"problems": [one.describe() for one in problems]}})


def wrong_input_record(unit: Unit, reason: str) -> CaseRecord:
    """Return the record of a case that could not run because of invalid user input."""
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
        DECIDED_EARLY: decision.is_early,
        "false_pass_rate": describe_false_pass_rate(ratio),
        "requests": _sum(reports, "requests"),
        "repeated requests": _sum(reports, "repeated"),
    }
    if not decision.is_early:
        # A rate from samples that were stopped early would be biased.
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
    """Return the baseline code of the finding: the checks that failed in any sample."""
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


def describe_statistics(records: Iterable[CaseRecord]) -> Iterator[str]:
    """Describe the statistics of every test and its repeated requests.

    A rate is given only if all samples were taken; repeated requests are always listed.
    """
    for record in records:
        detail: Any = record.detail
        if not isinstance(detail, dict):
            continue
        repeated = describe_repetitions(record.reports)
        if "statistics" in detail and detail["taken"] > 1:
            yield from _lines(record, detail, repeated)
        elif repeated:
            yield from (record.id, f"  {repeated}")


def _lines(record: CaseRecord, detail: dict[str, Any], repeated: str) -> Iterator[str]:
    numbers = detail["statistics"]
    yield record.id
    counts = [
        (numbers["passes"], "passed"),
        (numbers["failures"], "failed"),
        (numbers["unverified"], "unverified"),
        (numbers["errors"], "errors"),
    ]
    counted = ", ".join(f"{count} {word}" for count, word in counts if count or word == "passed")
    yield f"  {detail['taken']} samples: {counted}"
    if numbers["rate"] is not None:
        low, high = numbers["interval"]
        chances = ", ".join(f"{size}: {chance:.0%}" for size, chance in numbers["all_of"].items())
        rate = f"  rate {numbers['rate']:.0%}, 95% interval {low:.0%} to {high:.0%}"
        yield f"{rate}; {repeated}" if repeated else rate
        yield f"  chance that k in a row all pass (pass^k): {chances}"
    elif repeated:
        yield f"  {repeated}"
    # Runs of earlier versions call it "lets through".
    yield f"  {detail.get('false_pass_rate') or detail['lets through']}"
