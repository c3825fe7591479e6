"""Grades the grader: tries a problem's verifier on right, empty and mutated results."""

from assay.submissions.audit.auditing import Auditor, AuditProgress
from assay.submissions.audit.findings import DEFAULT_MIN_SCORE, Finding, GroupAudit, findings_of
from assay.submissions.audit.showing import audit_lines, audit_values
from assay.submissions.audit.sorts import SORTS, Sort

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
