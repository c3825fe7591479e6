"""Environments: how a submission is set up and started, and with which variables."""

from assay.submissions.environments.file import DEFAULT, EnvironmentFile, load_environment
from assay.submissions.environments.preparing import PreparedSubmission, prepare
from assay.submissions.environments.types import ENVIRONMENTS, EnvironmentType, find_environment

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
