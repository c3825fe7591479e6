"""Audits of a grader: runs a problem's verifier on correct, empty and mutated results."""

from assay.submissions.audits.audit import Audit, Auditor, AuditProgress, audit_problem
from assay.submissions.audits.findings import (
    DEFAULT_MIN_SCORE,
    FINDING_TYPES,
    AuditFinding,
    FindingType,
    GroupAudit,
    find_problems,
)
from assay.submissions.audits.rendering import render_text, render_values

__all__ = [
    "DEFAULT_MIN_SCORE",
    "FINDING_TYPES",
    "Audit",
    "AuditFinding",
    "AuditProgress",
    "Auditor",
    "FindingType",
    "GroupAudit",
    "audit_problem",
    "find_problems",
    "render_text",
    "render_values",
]
