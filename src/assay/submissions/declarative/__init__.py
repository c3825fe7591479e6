"""Problems without code: cases and expectations in YAML or JSON."""

from assay.submissions.declarative.reading import read_group
from assay.submissions.declarative.source import (
    DeclarativeCase,
    DeclarativeSource,
    DeclarativeStream,
)

__all__ = ["DeclarativeCase", "DeclarativeSource", "DeclarativeStream", "read_group"]
