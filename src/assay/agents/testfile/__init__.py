"""Test files: read, checked to the last key, and described for editors."""

from assay.agents.testfile.discovery import Reading, read_files
from assay.agents.testfile.reading import ReadFile, load_file, read_file, unanswerable

__all__ = [
    "ReadFile",
    "Reading",
    "load_file",
    "read_file",
    "read_files",
    "unanswerable",
]
