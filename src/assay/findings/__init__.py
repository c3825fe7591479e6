"""Findings: defects found by static reading, their rules, and their output formats."""

from assay.findings.baseline import Baseline, BaselineEntry
from assay.findings.finding import (
    UNREADABLE,
    Check,
    Finding,
    Findings,
    Rule,
    Rules,
    Severity,
    refuse_errors,
)
from assay.findings.formats import FORMATS, format_findings
from assay.findings.sarif import sarif_text, to_sarif

__all__ = [
    "FORMATS",
    "UNREADABLE",
    "Baseline",
    "BaselineEntry",
    "Check",
    "Finding",
    "Findings",
    "Rule",
    "Rules",
    "Severity",
    "format_findings",
    "refuse_errors",
    "sarif_text",
    "to_sarif",
]
