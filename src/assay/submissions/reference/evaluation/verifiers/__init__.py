"""`slop_code.evaluation.verifiers`: what verifiers are made of."""

from assay.submissions.reference.evaluation.verifiers import models, parsers, verifiers
from assay.submissions.reference.evaluation.verifiers.errors import VerifierError
from assay.submissions.reference.evaluation.verifiers.format_validators import validate_format
from assay.submissions.reference.evaluation.verifiers.models import (
    AttributeResult,
    VerificationResult,
    VerifierProtocol,
    VerifierReport,
    VerifierReturnType,
)
from assay.submissions.reference.evaluation.verifiers.verifiers import (
    DEFAULT_DEEPDIFF_KWARGS,
    deepdiff_verify,
    jsonschema_verify,
    matches_regex,
    matches_status_code,
)

__all__ = [
    "DEFAULT_DEEPDIFF_KWARGS",
    "AttributeResult",
    "VerificationResult",
    "VerifierError",
    "VerifierProtocol",
    "VerifierReport",
    "VerifierReturnType",
    "deepdiff_verify",
    "jsonschema_verify",
    "matches_regex",
    "matches_status_code",
    "models",
    "parsers",
    "validate_format",
    "verifiers",
]
