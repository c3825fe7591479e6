"""The keys of canonical case files, as they are written: cases with no code at all."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from assay.submissions.files import Compression, FileType


class _Written(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Request(_Written):
    """What is sent to the server of the group."""

    method: str = "GET"
    path: str = "/"
    query: dict[str, Any] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict)
    body: Any = None
    retries: int = Field(default=0, ge=0)


class WrittenFile(_Written):
    """An input file with its particulars; `from` names a file beside the case."""

    path: str
    content: Any = None
    source: str | None = Field(default=None, alias="from")
    file_type: FileType | None = None
    compression: Compression | None = None


class Expected(_Written):
    """What is looked at: values, or checks such as {check: regex, value: "\\\\d+", weight: 2}."""

    status_code: Any = None
    output: Any = None
    stderr: Any = None
    timed_out: Any = None
    headers: dict[str, Any] = Field(default_factory=dict)
    files: dict[str, Any] = Field(default_factory=dict)
    checks: dict[str, Any] = Field(default_factory=dict)
    weights: dict[str, float] = Field(default_factory=dict)


class WrittenCase(_Written):
    """One case: what the program is given, and what is expected of it."""

    description: str | None = None
    arguments: list[str] = Field(default_factory=list)
    stdin: str | list[str] | None = None
    request: Request | None = None
    input_files: dict[str, Any] | list[WrittenFile] = Field(default_factory=list)
    tracked_files: list[str] = Field(default_factory=list)
    timeout: float | None = Field(default=None, gt=0)
    reset: bool = False
    save: dict[str, str] = Field(default_factory=dict)
    expected: Expected


class CaseFile(WrittenCase):
    """A file that is one case; its name is the case's id."""

    schema_: str | None = Field(default=None, alias="$schema")


class GroupFile(_Written):
    """A file that holds all cases of a group by their ids, in their order."""

    schema_: str | None = Field(default=None, alias="$schema")
    cases: dict[str, WrittenCase]
