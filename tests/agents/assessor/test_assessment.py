"""From records to assessments: what is counted, and what errors are said to be."""

from __future__ import annotations

from assay.agents.assessment import assess, assessment_values, markdown_lines
from assay.model import (
    AttributeResult,
    Case,
    CaseRecord,
    Outcome,
    VerificationResult,
    VerifierReport,
)


def sample(answer: str, is_correct: bool) -> VerifierReport:
    found = VerificationResult.create("why", is_correct)
    name = "1.text.keywords[2]"
    return VerifierReport(
        id="a", group="samples", type="Core", duration=0.0,
        results={name: AttributeResult.of(name, answer, "x", found)},
    )  # fmt: skip


def record(*reports: VerifierReport) -> CaseRecord:
    return CaseRecord(id="t", subject="agents", outcome=Outcome.FAILED, reports=list(reports))


def test_errors_are_told_and_say_nothing_about_the_agent() -> None:
    outage = VerifierReport.from_error(Case(id="a"), 0.0, "no `server`")
    assessment = assess(record(sample("x", True), sample("y", False), outage, outage))
    assert (assessment.passes, assessment.judged, assessment.errors) == (1, 2, 2)
    (mode,) = assessment.modes
    assert (mode.check, mode.interaction, mode.samples) == ("text.keywords", 1, (2,))
    (values,) = assessment_values([assessment])
    assert values["outages"] == [{"reason": "no `server`", "samples": 2}]
    told = "\n".join(markdown_lines([assessment]))
    assert "- error in 2 of the samples: `` no `server` ``" in told


def test_without_any_judged_sample_no_rate_is_given() -> None:
    outage = VerifierReport.from_error(Case(id="a"), 0.0, "gone")
    told = "\n".join(markdown_lines([assess(record(outage))]))
    assert "No sample could be judged: 1 errors" in told
    assert "interval" not in told
