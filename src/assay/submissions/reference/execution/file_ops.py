"""`slop_code.execution.file_ops`: input files and their types."""

from assay.submissions.files import Compression, FileType, InputFile

__all__ = ["Compression", "FileType", "InputFile"]
