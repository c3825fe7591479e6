"""`slop_code.evaluation.loaders`: what loaders are made of."""

from assay.submissions.reference.evaluation.loaders import helpers, loader_protocol
from assay.submissions.reference.evaluation.loaders.loader_protocol import (
    BaseLoader,
    CaseStore,
    GroupLoader,
    LoaderError,
    LoaderYieldType,
    NoOpStore,
)

__all__ = [
    "BaseLoader",
    "CaseStore",
    "GroupLoader",
    "LoaderError",
    "LoaderYieldType",
    "NoOpStore",
    "helpers",
    "loader_protocol",
]
