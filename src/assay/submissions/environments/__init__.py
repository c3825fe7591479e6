"""Environments: how a submission is set up and started, and with which variables."""

from assay.submissions.environments.file import (
    DEFAULT,
    ENVIRONMENTS,
    EnvironmentFile,
    EnvironmentType,
    find_environment,
    load_environment,
)
from assay.submissions.environments.preparing import PreparedSubmission, prepare

__all__ = [
    "DEFAULT",
    "ENVIRONMENTS",
    "EnvironmentFile",
    "EnvironmentType",
    "PreparedSubmission",
    "find_environment",
    "load_environment",
    "prepare",
]
