"""`slop_code.evaluation.config`: problems, checkpoints and groups."""

from assay.model import GroupType
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig

__all__ = ["CheckpointConfig", "GroupConfig", "GroupType", "ProblemConfig"]
