"""Grades the grader: tries a problem's verifier on right, empty and mutated results."""

from assay.submissions.audits.audit import Audit, Auditor, AuditProgress, audit_problem
from assay.submissions.audits.findings import (
    DEFAULT_MIN_SCORE,
    FINDING_TYPES,
    AuditFinding,
    FindingType,
    GroupAudit,
    findings_of,
)
from assay.submissions.audits.rendering import audit_lines, audit_values

__all__ = [
    "DEFAULT_MIN_SCORE",
    "FINDING_TYPES",
    "Audit",
    "AuditFinding",
    "AuditProgress",
    "Auditor",
    "FindingType",
    "GroupAudit",
    "audit_lines",
    "audit_problem",
    "audit_values",
    "findings_of",
]
