"""`slop_code.evaluation`: what a problem says about itself, and the parts its code is made of."""

from assay.submissions.reference.evaluation import adapters, config, loaders, verifiers
from assay.submissions.reference.evaluation.adapters import GroupType
from assay.submissions.reference.evaluation.config import (
    CheckpointConfig,
    GroupConfig,
    ProblemConfig,
)

__all__ = [
    "CheckpointConfig",
    "GroupConfig",
    "GroupType",
    "ProblemConfig",
    "adapters",
    "config",
    "loaders",
    "verifiers",
]
