"""`slop_code.evaluation.adapters`: cases and results of both kinds of program."""

from assay.submissions.reference.evaluation.adapters import api, cli, models
from assay.submissions.reference.evaluation.adapters.models import (
    APICase,
    APIResult,
    BaseCase,
    CaseResult,
    CLICase,
    CLIResult,
    GroupType,
)

__all__ = [
    "APICase",
    "APIResult",
    "BaseCase",
    "CLICase",
    "CLIResult",
    "CaseResult",
    "GroupType",
    "api",
    "cli",
    "models",
]
