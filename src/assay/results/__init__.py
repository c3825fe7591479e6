"""The result model that questions, submissions and agents share: what was expected, what happened,
how the two compare, and what the case is worth."""

from assay.results.cases import MISTAKE, Case, CaseResult, GroupType, Outcome, now_text
from assay.results.packing import (
    is_packed_record,
    is_plain,
    outcome_of,
    pack_error,
    pack_report,
    undecided_names,
    wrong_names,
)
from assay.results.record import WRONG_INPUT, CaseRecord, FinishedCase, OutcomeRule
from assay.results.report import VerifierReport
from assay.results.verification import (
    AT_DEFAULT,
    INHERITED,
    AttributeResult,
    PackedReport,
    PackedResult,
    VerificationResult,
    VerifierProtocol,
    VerifierReturnType,
    checked_results,
    packed_values,
)

__all__ = [
    "AT_DEFAULT",
    "INHERITED",
    "MISTAKE",
    "WRONG_INPUT",
    "AttributeResult",
    "Case",
    "CaseRecord",
    "CaseResult",
    "FinishedCase",
    "GroupType",
    "Outcome",
    "OutcomeRule",
    "PackedReport",
    "PackedResult",
    "VerificationResult",
    "VerifierProtocol",
    "VerifierReport",
    "VerifierReturnType",
    "checked_results",
    "is_packed_record",
    "is_plain",
    "now_text",
    "outcome_of",
    "pack_error",
    "pack_report",
    "packed_values",
    "undecided_names",
    "wrong_names",
]
