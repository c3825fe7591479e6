"""What a problem's code hands over, as plain values: subclasses, tuples and paths become JSON."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from enum import Enum
from pathlib import PurePath
from typing import Any

_PLAIN = frozenset({str, int, float, bool, bytes, type(None)})


def plain(value: Any) -> Any:
    """The value with every part that has a plain form in it; what has none is left as it is."""
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
