"""A small working problem to start from, with a solution and a broken one."""

from __future__ import annotations

import re
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from assay.errors import InputError

# Programs are kept as text, so that nobody takes them for modules of Assay.
_AS_TEXT = ".txt"


def write_problem(folder: Path, *, is_api: bool) -> list[Path]:
    """Write the files of a new problem and say which; a folder that has something is left alone."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", folder.name):
        raise InputError(
            f"{folder.name!r} is no name for a problem",
            advice="letters, digits, _ and -, beginning with a letter, such as word_count",
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError("exists already", where=str(folder), advice="choose another name")
    templates = resources.files("assay.submissions").joinpath("templates")
    return _copied(templates.joinpath("api" if is_api else "cli"), folder, folder.name)


def _copied(source: Traversable, folder: Path, name: str) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for each in sorted(source.iterdir(), key=lambda one: (one.is_dir(), one.name)):
        if each.is_dir():
            written += _copied(each, folder / each.name, name)
            continue
        path = folder / each.name.removesuffix(_AS_TEXT)
        text = each.read_text(encoding="utf-8").replace("NAME", name)
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written
