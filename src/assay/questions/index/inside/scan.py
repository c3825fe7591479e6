"""Every identifier that occurs in files, as a token or inside a string: code and data alike."""

from __future__ import annotations

import os
import re
import site
import sys
from collections.abc import Iterable

_IDENTIFIER = re.compile(r"[^\W\d]\w+")
_LARGEST = 32 << 20
_LONGEST = 120


def identifiers(paths: Iterable[str]) -> set[str]:
    """The identifiers of at least two characters in the files; what cannot be read is left out."""
    found: set[str] = set()
    for path in paths:
        try:
            with open(path, "rb") as file:
                text = file.read(_LARGEST).decode("utf-8", "ignore")
        except OSError:
            continue
        found.update(_IDENTIFIER.findall(text))
    return {word for word in found if len(word) <= _LONGEST}


def installed_folders() -> list[str]:
    """Where everything is installed, the target included."""
    folders = dict.fromkeys([*site.getsitepackages(), *sys.path])
    return [one for one in folders if os.path.basename(one) in ("site-packages", "dist-packages")]


def sources_below(folders: Iterable[str]) -> Iterable[str]:
    """Every file of Python source below the folders."""
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                if name.endswith((".py", ".pyi")):
                    yield os.path.join(place, name)


def lines_of(words: set[str]) -> bytes:
    """Sorted by their bytes, one per line, so that a reader can search by halves."""
    lines = sorted(word.encode("utf-8", "ignore") for word in words)
    return b"".join(line + b"\n" for line in lines)
