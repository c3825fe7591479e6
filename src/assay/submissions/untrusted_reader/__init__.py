"""Reads and compares output of submissions in processes with limits."""

from assay.submissions.untrusted_reader.pool import SECONDS, Readers, TooMuchError

__all__ = ["SECONDS", "Readers", "TooMuchError"]
