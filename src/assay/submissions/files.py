"""Input files of a case: content as text, bytes or structure, and how it becomes bytes."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from assay.values import Value


class FileType(StrEnum):
    TEXT = "text"
    BINARY = "binary"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    TSV = "tsv"
    SQLITE = "sqlite"
    PARQUET = "parquet"
    YAML = "yaml"


class Compression(StrEnum):
    NONE = "none"
    GZIP = "gzip"
    BZIP2 = "bzip2"


class InputFile(BaseModel):
    """A file that is in the work folder before the program starts."""

    model_config = ConfigDict(extra="forbid")

    path: str
    """Relative to the work folder."""
    content: Value
    file_type: FileType = FileType.TEXT
    compression: Compression = Compression.NONE
