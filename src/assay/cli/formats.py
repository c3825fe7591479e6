"""The report formats that subjects add, made known when a command may need them."""

from __future__ import annotations

from assay.reports.registry import Format, format_names, register_format

_FORMATS = (
    Format(
        "quality",
        "Questions: what is known about each, as quality_report.json.",
        "assay.questions.reporting.quality_report:render_json",
        subject="questions",
    ),
    Format(
        "verdicts",
        "Questions: a Markdown document grouped by verdict, with the evidence.",
        "assay.questions.reporting.quality_report:render_markdown",
        subject="questions",
    ),
    Format(
        "sarif",
        "Questions: findings on the lines of the suite, for code scanning.",
        "assay.questions.reporting.quality_report:render_sarif",
        subject="questions",
    ),
)


def register_formats() -> None:
    """Add the formats of all subjects, once."""
    known = set(format_names())
    for one in _FORMATS:
        if one.name not in known:
            register_format(one)
