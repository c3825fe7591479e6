"""Reads TOML that anybody may have written."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from assay.documents.files import LARGEST_SETTINGS, read_text
from assay.errors import InputError

# Every part of a dotted key is looked up from the top again: 100,000 parts would take an hour.
_MOST_PARTS = 50
_PART = r"""(?:"[^"\n]*"|'[^'\n]*'|[\w-]++)"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*\.[ \t]*{_PART}){{{_MOST_PARTS}}}")


def read_toml(path: Path, *, keep_mark: bool = False) -> dict[str, Any]:
    """Return what a TOML file says; an InputError if it cannot be read.

    `keep_mark` refuses a byte order mark, as TOML does.
    """
    try:
        text = read_text(path, LARGEST_SETTINGS, keep_mark=keep_mark)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None
    if _LONG_KEY.search(text):
        raise InputError(
            f"is nested too deeply: a key has more than {_MOST_PARTS} parts", where=str(path)
        )
    try:
        return tomllib.loads(text)
    except ValueError as error:
        # Not only TOMLDecodeError: an integer of 5,000 digits is a plain ValueError.
        raise InputError(f"is not valid TOML: {error}", where=str(path)) from None
    except RecursionError:
        raise InputError("is nested too deeply", where=str(path)) from None
