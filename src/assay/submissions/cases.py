"""What a program is given, and what came of it: cases and results of both adapters.

The names and fields are those that existing loaders and verifiers use; further fields are kept, as
everywhere in the result model.
"""

from __future__ import annotations

import hashlib
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, Field

from assay.model import Case, CaseResult, Value, encode_value
from assay.submissions.files import InputFile


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
        """Everything that makes the case what it is; of long input files only what identifies them.

        A run keeps it with every report, and inputs can be larger than all the rest.
        """
        about = super().describe()
        about["input_files"] = [_described(file) for file in self.input_files]
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


AdapterKind = Literal["cli", "api"]
CASE_OF: dict[str, type[BaseCase]] = {"base": BaseCase, "cli": CLICase, "api": APICase}
RESULT_OF: dict[str, type[CaseResult]] = {"base": CaseResult, "cli": CLIResult, "api": APIResult}


_LONGEST_SHOWN = 2000


def _described(file: InputFile) -> dict[str, Any]:
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
