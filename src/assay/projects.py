"""The project that a file belongs to: what its owner answers for as a whole."""

from __future__ import annotations

import os
from pathlib import Path

from assay.errors import InputError

_MARKS = ("assay.toml", "pyproject.toml", ".git")


def find_project(folder: Path) -> Path:
    """Return the nearest folder, from here upwards, that is marked as a project; else this one."""
    folder = Path(os.path.realpath(folder))
    marked = (one for one in (folder, *folder.parents) if _is_marked(one))
    return next(marked, folder)


def is_inside(path: Path, folder: Path) -> bool:
    """Return whether a path, with all links resolved, lies in a folder."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def check_named_code(file: Path, project: Path) -> None:
    """Raise an InputError if code that a run folder names does not belong to the user's project."""
    if not is_inside(file, project):
        raise InputError(
            "runs code, and only the run folder names it",
            where=str(file),
            advice="resume the run from the folder of its project; or, if you trust it, "
            "say --trust",
        )


def _is_marked(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in _MARKS)
