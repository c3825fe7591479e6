"""Test files: reading, strict validation, and their JSON Schema for editors."""

from assay.agents.testfile.discovery import FileSet, read_files
from assay.agents.testfile.reading import ReadFile, find_unanswerable, read_file

__all__ = [
    "FileSet",
    "ReadFile",
    "find_unanswerable",
    "read_file",
    "read_files",
]
