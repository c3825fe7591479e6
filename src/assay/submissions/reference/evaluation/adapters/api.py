"""`slop_code.evaluation.adapters.api`: cases and results of a server."""

from assay.submissions.config import ApiAdapter as APIAdapterConfig
from assay.submissions.reference.evaluation.adapters.models import APICase, APIResult

__all__ = ["APIAdapterConfig", "APICase", "APIResult"]
