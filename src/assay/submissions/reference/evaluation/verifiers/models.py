"""`slop_code.evaluation.verifiers.models`: what a verifier says about a case."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, model_validator

from assay import model
from assay.model import AttributeResult, VerifierProtocol, VerifierReport, VerifierReturnType
from assay.submissions.reference.plain import plain

__all__ = [
    "AttributeResult",
    "VerificationResult",
    "VerifierProtocol",
    "VerifierReport",
    "VerifierReturnType",
]


class VerificationResult(model.VerificationResult):
    """A result that can be changed once it is made, as verifiers do, and takes plain forms."""

    model_config = ConfigDict(frozen=False, validate_assignment=True)

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, given: Any) -> Any:
        return plain(given) if isinstance(given, dict) else given
