"""Problems with code of their own: `loader.py` and `verifier.py`, run in a worker process."""

from assay.submissions.programmed.source import Limits, ProgrammedSource

__all__ = ["Limits", "ProgrammedSource"]
