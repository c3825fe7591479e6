"""Grades the grader: tries a problem's verifier on right, empty and mutated results."""

from assay.submissions.audits.auditing import Auditor, AuditProgress
from assay.submissions.audits.findings import DEFAULT_MIN_SCORE, Finding, GroupAudit, findings_of
from assay.submissions.audits.showing import audit_lines, audit_values
from assay.submissions.audits.sorts import SORTS, Sort

__all__ = [
    "DEFAULT_MIN_SCORE",
    "SORTS",
    "AuditProgress",
    "Auditor",
    "Finding",
    "GroupAudit",
    "Sort",
    "audit_lines",
    "audit_values",
    "findings_of",
]
