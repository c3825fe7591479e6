"""The result model that questions, submissions and agents share: what was expected, what happened,
how the two compare, and what the case is worth."""

from assay.results.cases import Case, CaseResult, GroupType, Outcome
from assay.results.record import CaseRecord, OutcomeRule
from assay.results.report import VerifierReport
from assay.results.verification import (
    AT_DEFAULT,
    AttributeResult,
    PackedResult,
    VerificationResult,
    VerifierProtocol,
    VerifierReturnType,
    checked_results,
    packed_values,
)

__all__ = [
    "AT_DEFAULT",
    "AttributeResult",
    "Case",
    "CaseRecord",
    "CaseResult",
    "GroupType",
    "Outcome",
    "OutcomeRule",
    "PackedResult",
    "VerificationResult",
    "VerifierProtocol",
    "VerifierReport",
    "VerifierReturnType",
    "checked_results",
    "packed_values",
]
