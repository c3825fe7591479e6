"""Turns the metadata of a test into HTTP headers, without ever showing a value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from assay.errors import InputError

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")
# These say where a message ends; metadata that sets them would break the protocol.
_RESERVED = frozenset(
    {"connection", "content-length", "host", "te", "trailer", "transfer-encoding"}
)


def headers_from(metadata: Mapping[str, Any]) -> dict[str, str]:
    """The headers that metadata stands for; only names are ever told."""
    return {
        _checked_name(name): _as_text(name, value)
        for name, value in metadata.items()
        if value is not None
    }


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InputError(
            f"metadata key {name!r} cannot be the name of an HTTP header",
            advice="use letters, digits and dashes",
        )
    if name.lower() in _RESERVED:
        raise InputError(
            f"metadata key {name!r} is a header that the connection sets itself",
            advice="remove it from metadata",
        )
    return name


def _as_text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)) and _VALUE.fullmatch(str(value)):
        # Spaces around a value mean nothing in HTTP, and a client may refuse them.
        return str(value).strip(" \t")
    raise InputError(
        f"the value of metadata key {name!r} cannot be an HTTP header",
        advice="use one line of text or a number",
    )
