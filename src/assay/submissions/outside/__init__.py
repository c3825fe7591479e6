"""What comes from a submission is read and compared in processes that have limits."""

from assay.submissions.outside.readers import SECONDS, Readers, TooMuchError

__all__ = ["SECONDS", "Readers", "TooMuchError"]
