"""Formats exceptions of third-party code: in one line, and with their location."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

_OWN_CODE = str(Path(__file__).parent)


def describe(error: BaseException) -> str:
    """Return an exception in one line."""
    if type(error).__name__ == "ValidationError" and hasattr(error, "errors"):
        return f"ValidationError: {first_problem(error)}"
    try:
        text = " ".join(str(error).split())
    except Exception:
        # An exception that cannot even say what it is must not take the run along.
        text = "(its message cannot be shown)"
    if isinstance(error, SyntaxError) and error.filename:
        text = f"{text} in {(error.text or '').strip()!r}"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def origin(error: BaseException) -> str | None:
    """Return file:line of the innermost frame of an exception."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else None


def first_problem(error: Any) -> str:
    """Return what pydantic found wrong first, and with which field."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]


def _leads_there(filename: str) -> bool:
    return filename.startswith((_OWN_CODE, "<frozen importlib"))


def _is_in(filename: str, folder: Path) -> bool:
    return Path(filename).is_relative_to(folder)


def format_exception(error: BaseException, folder: Path | None = None) -> str:
    """Return the line, then the traceback without the frames of Assay that led there.

    If the folder of the user's code is given, library frames after its last line are left out.
    """
    lines = [describe(error)]
    frames = traceback.extract_tb(error.__traceback__)
    while frames and _leads_there(frames[0].filename):
        del frames[0]
    own = [n for n, frame in enumerate(frames) if folder and _is_in(frame.filename, folder)]
    for frame in frames[: own[-1] + 1] if own else frames:
        lines.append(f"  {frame.filename}:{frame.lineno} in {frame.name}")
        if frame.line:
            lines.append(f"    {frame.line}")
    return "\n".join(lines)
