"""The format of case files: their keys, and the input files they name."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from assay.errors import InputError
from assay.submissions.assets import with_assets
from assay.submissions.cases import InputFile
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig
from assay.submissions.declarative.expectations import fill
from assay.submissions.file_formats import Compression, FileType, signature


class _Written(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class WrittenRequest(_Written):
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
    request: WrittenRequest | None = None
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


def list_shared_files(
    problem: ProblemConfig, checkpoint: CheckpointConfig, group: GroupConfig
) -> Iterator[InputFile]:
    """Files that every case of a checkpoint or a group finds in its work folder."""
    source = problem.checkpoints.get(group.original_checkpoint or checkpoint.name, checkpoint)
    within = source.path / (group.original_group or group.name)
    for name in source.constant_files:
        yield from _files_below(problem, source.path, name)
    for name in group.group_files:
        folder = within if (within / name).exists() else source.path
        yield from _files_below(problem, folder, name)


def _files_below(problem: ProblemConfig, folder: Path, name: str) -> Iterator[InputFile]:
    path = folder / name
    problem.check_inside(path)
    if not path.is_dir():
        # Not of the current folder, where a file of that name is none of the problem's.
        yield InputFile.from_absolute(path, name)
        return
    for file in sorted(each for each in path.rglob("*") if each.is_file()):
        problem.check_inside(file)
        yield InputFile.from_path(file, relative_to=folder)


def list_own_files(
    files: dict[str, Any] | list[WrittenFile], folder: Path, problem: ProblemConfig
) -> Iterator[InputFile]:
    """Yield the files of one case, whose own file is in the folder."""
    if isinstance(files, list):
        yield from (_read_listed(file, folder, problem) for file in files)
        return
    for name, content in files.items():
        yield _make_file(WrittenFile(path=name, content=content))


def _read_listed(file: WrittenFile, folder: Path, problem: ProblemConfig) -> InputFile:
    if file.source is None:
        return _make_file(file)
    problem.check_inside(folder / file.source)
    return InputFile.from_absolute(
        folder / file.source,
        file.path,
        file_type=file.file_type,
        compression=file.compression,
    )


def _make_file(file: WrittenFile) -> InputFile:
    """Type and compression as the name tells them, unless they are said; binary is base64."""
    told_type, told_compression = signature(Path(file.path))
    kind = file.file_type or told_type
    content = file.content
    if kind is FileType.TEXT and isinstance(content, list | dict):
        kind = FileType.JSON
    if kind is FileType.BINARY and isinstance(content, str):
        try:
            content = base64.b64decode(content, validate=True)
        except binascii.Error as error:
            raise InputError(f"{file.path}: binary content is base64: {error}") from None
    compression = file.compression or (told_compression if file.file_type is None else None)
    return InputFile(
        path=file.path,
        content=content,
        file_type=kind,
        compression=compression or Compression.NONE,
    )


def place_file(file: InputFile, assets: Mapping[str, str] | None) -> InputFile:
    """Return the file with asset names replaced by paths."""
    return file if assets is None else with_assets(file, assets)


def fill_file(file: InputFile, saved: Mapping[str, Any]) -> InputFile:
    """Return the file with placeholders replaced by saved values."""
    if not saved or isinstance(file.content, bytes):
        return file
    return file.model_copy(update={"content": fill(file.content, saved)})
