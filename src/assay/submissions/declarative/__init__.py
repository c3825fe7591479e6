"""Problems with no code of their own: cases and expectations in YAML or JSON."""

from assay.submissions.declarative.reading import read_group
from assay.submissions.declarative.source import CanonicalDrawn, CanonicalSource, CanonicalStream

__all__ = ["CanonicalDrawn", "CanonicalSource", "CanonicalStream", "read_group"]
