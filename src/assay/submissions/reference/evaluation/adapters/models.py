"""`slop_code.evaluation.adapters.models`: cases and results, which take whatever has a plain form.

A loader may pass numpy's numbers, tuples or paths where Assay's own models ask for JSON and bytes.
"""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from assay import model
from assay.model import GroupType
from assay.submissions import cases
from assay.submissions.reference.plain import plain

__all__ = [
    "APICase",
    "APIResult",
    "BaseCase",
    "CLICase",
    "CLIResult",
    "CaseResult",
    "GroupType",
]


def _plain_fields(given: Any) -> Any:
    if not isinstance(given, dict):
        return given
    return {name: value if name == "input_files" else plain(value) for name, value in given.items()}


class BaseCase(cases.BaseCase):
    """A case that takes plain forms."""

    _plain = model_validator(mode="before")(_plain_fields)


class CLICase(cases.CLICase):
    """A command line that takes plain forms."""

    _plain = model_validator(mode="before")(_plain_fields)


class APICase(cases.APICase):
    """A request that takes plain forms."""

    _plain = model_validator(mode="before")(_plain_fields)


class CaseResult(model.CaseResult):
    """A result that takes plain forms."""

    _plain = model_validator(mode="before")(_plain_fields)


class CLIResult(cases.CLIResult):
    """What a command did, taking plain forms."""

    _plain = model_validator(mode="before")(_plain_fields)


class APIResult(cases.APIResult):
    """What a server answered, taking plain forms.

    What is no text has these two here and in the reference; of other answers they are None.
    """

    binary_response_base64: str | None = None
    binary_response_filename: str | None = None
    _plain = model_validator(mode="before")(_plain_fields)
