"""A suite file as text with its own line ends, and the difference between two such texts."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from assay.documents import LARGEST_DOCUMENT, read_text
from assay.errors import InfrastructureError, InputError

_LINES = re.compile(r"[^\n]*\n|[^\n]+\Z")


def read_suite_text(path: Path) -> str:
    """The text of a file as it is: no line end and no mark at its beginning is lost."""
    try:
        return read_text(path, LARGEST_DOCUMENT, keep_mark=True)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None


def write_suite_text(path: Path, text: str) -> None:
    """Put a text in place of the file's; whoever reads it sees the old one or the new one."""
    new = path.with_name(f".{path.name}.new")
    try:
        # What an earlier try left, or a link that somebody put there: it is not written through.
        new.unlink(missing_ok=True)
        with new.open("xb") as file:
            file.write(text.encode("utf-8"))
        new.chmod(path.stat().st_mode & 0o7777)
        new.replace(path.resolve())
    except OSError as error:
        new.unlink(missing_ok=True)
        raise InfrastructureError(f"cannot be written: {error.strerror}", where=str(path)) from None


def patch(old: str, new: str, path: str) -> str:
    """The unified difference, as `git apply` and `patch -p1` take it; nothing if there is none."""
    lines = difflib.unified_diff(_lines(old), _lines(new), f"a/{path}", f"b/{path}")
    told = []
    for line in lines:
        told.append(line)
        if not line.endswith("\n"):
            told.append("\n\\ No newline at end of file\n")
    return "".join(told)


def _lines(text: str) -> list[str]:
    """Lines as git counts them: other separators are characters of a line."""
    return _LINES.findall(text)
