"""Cases with their input files, and results of programs.

The names and fields are those that existing loaders and verifiers use; extra fields are kept, as
everywhere in the result model.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from assay.documents import read_bytes
from assay.errors import InputError
from assay.model import (
    Case,
    CaseResult,
    Value,
    encode_value,
)
from assay.submissions.file_formats import (
    LARGEST_FILE,
    Compression,
    FileType,
    compress,
    decompress,
    parse_small,
    signature,
    write_content,
)


def _check_within(path: Any) -> Any:
    """Return the path as text, if it stays within the work folder."""
    if not isinstance(path, str | os.PathLike):
        return path
    path = PurePosixPath(path)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError(f"{str(path)!r} does not name a file within the work folder")
    return str(path)


class InputFile(BaseModel):
    """A file that is in the work folder before the program starts."""

    model_config = ConfigDict(extra="forbid")

    path: Annotated[str, BeforeValidator(_check_within)]
    """Relative to the work folder."""
    content: Value
    file_type: FileType = FileType.TEXT
    compression: Compression = Compression.NONE
    source: Value = None
    """The bytes it was read from, where writing the content anew would give others."""

    def to_bytes(self) -> bytes:
        """Return what is written to the work folder; the same content gives the same bytes."""
        if isinstance(self.source, bytes) and self._is_unchanged(self.source):
            return self.source
        try:
            return compress(write_content(self.content, self.file_type), self.compression)
        except InputError as error:
            raise InputError(error.what, where=self.path, advice=error.advice) from None

    def _is_unchanged(self, source: bytes) -> bool:
        try:
            plain = decompress(source, self.compression, LARGEST_FILE)
            return bool(parse_small(plain, self.file_type) == self.content)
        except (InputError, ValueError):
            return False

    @classmethod
    def from_path(
        cls,
        path: str | os.PathLike[str],
        content: Any = None,
        file_type: FileType | str | None = None,
        compression: Compression | str | None = None,
        relative_to: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Return a file on disk, under its path relative to a folder."""
        given = Path(path)
        folder = None if relative_to is None else Path(relative_to)
        place = folder / given if folder is not None and not given.is_absolute() else given
        if not place.exists() and given.exists():
            place = given
        name = given.relative_to(folder) if folder is not None and given.is_absolute() else given
        return cls.from_absolute(place, name, content, file_type, compression)

    @classmethod
    def from_absolute(
        cls,
        path: str | os.PathLike[str],
        save_path: str | os.PathLike[str],
        content: Any = None,
        file_type: FileType | str | None = None,
        compression: Compression | str | None = None,
    ) -> Self:
        """Return a file on disk under another path; its name determines type and compression."""
        kind, packing = cls.resolve_suffix(path, file_type, compression)
        name = os.fspath(save_path)
        if content is not None:
            return cls(path=name, content=content, file_type=kind, compression=packing)
        try:
            source = read_bytes(Path(path), LARGEST_FILE)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None
        return cls._of_bytes(name, source, kind, packing)

    @classmethod
    def resolve_suffix(
        cls,
        path: str | os.PathLike[str],
        file_type: FileType | str | None = None,
        compression: Compression | str | None = None,
    ) -> tuple[FileType, Compression]:
        """Return type and compression: as given, else from the file name."""
        known_type, known_compression = signature(Path(path))
        return FileType(file_type or known_type), Compression(compression or known_compression)

    @classmethod
    def _of_bytes(cls, name: str, source: bytes, kind: FileType, packing: Compression) -> Self:
        """Return a structure if possible, else text, else bytes: malformed input is still input."""
        try:
            plain = decompress(source, packing, LARGEST_FILE)
        except InputError:
            return cls(path=name, content=source, file_type=FileType.BINARY)
        for each in dict.fromkeys((kind, FileType.TEXT, FileType.BINARY)):
            try:
                content = parse_small(plain, each)
                file = cls(path=name, content=content, file_type=each, compression=packing)
            except (InputError, ValueError):
                continue
            if file.to_bytes() != source:
                file.source = source
            return file
        raise AssertionError("bytes are always bytes")


class BaseCase(Case):
    """One thing a submission is tried on. Unlike its base it can be changed: loaders do."""

    model_config = ConfigDict(extra="allow", use_enum_values=True, frozen=False)
    kind: ClassVar[str] = "base"

    checkpoint: str = ""
    order: int = -1
    arguments: list[str] = Field(default_factory=list)
    timeout_s: float | None = Field(default=None, gt=0)
    input_files: list[InputFile] = Field(default_factory=list)
    tracked_files: list[str] = Field(default_factory=list)
    reset: bool = False
    """Begin this case in a new work folder, with a new server, though its group keeps them."""

    def describe(self) -> dict[str, Any]:
        """Return everything that defines the case; long input files are represented by a digest.

        A run stores it with every report, and inputs can be larger than everything else.
        """
        about = super().describe()
        about["input_files"] = [_describe_file(file) for file in self.input_files]
        return about


class CLICase(BaseCase):
    """A command line: arguments, and what is fed to it."""

    kind: ClassVar[str] = "cli"

    stdin: str | list[str] | bytes | None = None


class APICase(BaseCase):
    """A request to the server of its group."""

    kind: ClassVar[str] = "api"

    method: str = "GET"
    path: str = "/"
    query: dict[str, Any] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict)
    body: Value = None
    retries: int = Field(default=0, ge=0)


class CLIResult(CaseResult):
    """What a command did; `status_code` is its exit status, -1 if it was ended."""

    type: str = "cli"
    command: str | None = None


class APIResult(CaseResult):
    """What a server answered; `status_code` is -1 if there was no answer."""

    type: str = "api"
    method: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    retries: int = 0
    binary_response: bool = False
    binary_response_size: int | None = None
    binary_response_hash: str | None = None
    """The SHA-256 of the body, in hexadecimal."""


_LONGEST_SHOWN = 2000


def _describe_file(file: InputFile) -> dict[str, Any]:
    about: dict[str, Any] = {
        "path": file.path,
        "content": file.content,
        "file_type": file.file_type.value,
        "compression": file.compression.value,
    }
    text = encode_value(file.content)
    if len(text) > _LONGEST_SHOWN:
        del about["content"]
        about["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    return about
