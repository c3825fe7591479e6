"""The result model that questions, submissions and agents share: what was expected, what happened,
how the two compare, and what the case is worth."""

from assay.model.cases import MISTAKE, Case, CaseResult, GroupType, Outcome, now_text
from assay.model.packing import (
    is_packed_record,
    is_plain,
    list_undecided,
    list_wrong,
    outcome_of,
    pack_error,
    pack_report,
    score_of,
)
from assay.model.ratio import Interval, Ratio, Share, wilson
from assay.model.records import (
    WRONG_INPUT,
    CaseRecord,
    FinishedCase,
    OutcomeRule,
    VerifierReport,
)
from assay.model.values import Value, check_value, fingerprint
from assay.model.verification import (
    AT_DEFAULT,
    INHERITED,
    AttributeResult,
    PackedReport,
    PackedResult,
    VerificationResult,
    VerifierProtocol,
    VerifierReturnType,
    check_results,
    unpack_values,
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
    "Interval",
    "Outcome",
    "OutcomeRule",
    "PackedReport",
    "PackedResult",
    "Ratio",
    "Share",
    "Value",
    "VerificationResult",
    "VerifierProtocol",
    "VerifierReport",
    "VerifierReturnType",
    "check_results",
    "check_value",
    "fingerprint",
    "is_packed_record",
    "is_plain",
    "list_undecided",
    "list_wrong",
    "now_text",
    "outcome_of",
    "pack_error",
    "pack_report",
    "score_of",
    "unpack_values",
    "wilson",
]
