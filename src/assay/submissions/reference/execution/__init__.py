"""`slop_code.execution`: what a program is given."""

from assay.submissions.reference.execution import file_ops

__all__ = ["file_ops"]
