"""Cases, results and verdicts with the reference's API, accepting any value with a plain form.

A loader may pass numpy numbers, tuples or paths where Assay's own models require JSON and bytes.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from enum import Enum
from pathlib import PurePath
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, create_model, model_validator

from assay import model
from assay.model import AttributeResult, GroupType, VerifierReport, VerifierReturnType
from assay.model import VerifierProtocol as VerifierProtocol
from assay.submissions import cases
from assay.submissions.cases import InputFile
from assay.submissions.config import ApiAdapter as APIAdapterConfig
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig
from assay.submissions.config import CliAdapter as CLIAdapterConfig
from assay.submissions.file_formats import Compression, FileType

__all__ = [
    "APIAdapterConfig",
    "APICase",
    "APIResult",
    "AttributeResult",
    "BaseCase",
    "CLIAdapterConfig",
    "CLICase",
    "CLIResult",
    "CaseResult",
    "CheckpointConfig",
    "Compression",
    "FileType",
    "GroupConfig",
    "GroupType",
    "InputFile",
    "ProblemConfig",
    "VerificationResult",
    "VerifierError",
    "VerifierProtocol",
    "VerifierReport",
    "VerifierReturnType",
]
Model = TypeVar("Model", bound=BaseModel)
_PLAIN = frozenset({str, int, float, bool, bytes, type(None)})


def plain(value: Any) -> Any:
    """Return the value in plain forms; a part that has none is left as it is."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return _plain_scalar(value)


def _plain_scalar(value: Any) -> Any:
    # numpy's float64 is a float, and a YAML reader may give strings of a class of its own.
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    if type(value).__module__ == "numpy":
        return plain(value.tolist())
    return value


def _plain_fields(given: Any) -> Any:
    if not isinstance(given, dict):
        return given
    return {name: value if name == "input_files" else plain(value) for name, value in given.items()}


def _take_plain(model: type[Model], **fields: Any) -> type[Model]:
    """Return a model of the same name that takes plain forms, with more fields."""
    validators: Any = {"take_plain": model_validator(mode="before")(_plain_fields)}
    made: Any = create_model(
        model.__name__,
        __base__=model,
        __doc__=model.__doc__,
        __module__=__name__,
        __validators__=validators,
        **fields,
    )
    checked: type[Model] = made
    return checked


BaseCase = _take_plain(cases.BaseCase)
CLICase = _take_plain(cases.CLICase)
APICase = _take_plain(cases.APICase)
CaseResult = _take_plain(model.CaseResult)
CLIResult = _take_plain(cases.CLIResult)
# What is no text has these two here and in the reference; of other answers they are None.
_BINARY = {
    "binary_response_base64": (str | None, None),
    "binary_response_filename": (str | None, None),
}
APIResult = _take_plain(cases.APIResult, **_BINARY)


class VerificationResult(model.VerificationResult):
    """A result that takes plain forms, and can be changed once it is made, as verifiers do."""

    model_config = ConfigDict(frozen=False, validate_assignment=True)
    _take_plain = model_validator(mode="before")(_plain_fields)


class VerifierError(Exception):
    """A verifier cannot judge: the case becomes an error, neither passed nor failed."""
