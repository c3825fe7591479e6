"""Writes files as a whole or not at all, and never through a link."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path


def replace_file(path: Path, pieces: Iterable[bytes]) -> None:
    """Put a new file in the place of whatever has this name: a link or a pipe is replaced too.

    The folder of a run may come from somebody else, and a link in it may lead to any file of the
    user. The name of the file that is renamed at the end cannot be guessed, and must be new.
    """
    new = path.with_name(f".assay-{secrets.token_hex(8)}.new")
    try:
        with new.open("xb") as file:
            file.writelines(pieces)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
