"""What comes from a submission is read and compared in processes that have limits."""

from assay.submissions.untrusted_reader.pool import SECONDS, Readers, TooMuchError

__all__ = ["SECONDS", "Readers", "TooMuchError"]
