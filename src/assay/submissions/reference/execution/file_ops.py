"""`slop_code.execution.file_ops`: input files and their types."""

from assay.submissions.cases import InputFile
from assay.submissions.file_formats import Compression, FileType

__all__ = ["Compression", "FileType", "InputFile"]
