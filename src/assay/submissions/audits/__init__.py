"""Grades the grader: tries a problem's verifier on right, empty and mutated results."""

from assay.submissions.audits.audit import Auditor, AuditProgress
from assay.submissions.audits.findings import (
    DEFAULT_MIN_SCORE,
    SORTS,
    Finding,
    GroupAudit,
    Sort,
    findings_of,
)
from assay.submissions.audits.rendering import audit_lines, audit_values

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
