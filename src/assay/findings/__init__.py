"""Findings: defects that reading alone shows, the rules behind them, and how they are printed."""

from assay.findings.baseline import Baseline, BaselineEntry
from assay.findings.finding import (
    UNREADABLE,
    Finding,
    Findings,
    Rule,
    Rules,
    Severity,
    refuse_errors,
)
from assay.findings.formats import FORMATS, format_findings

__all__ = [
    "FORMATS",
    "UNREADABLE",
    "Baseline",
    "BaselineEntry",
    "Finding",
    "Findings",
    "Rule",
    "Rules",
    "Severity",
    "format_findings",
    "refuse_errors",
]
