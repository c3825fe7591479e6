"""First files for users: templates that are copied into a new folder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path

from assay.errors import InputError

# Programs are kept as text, so that nobody takes them for modules of Assay.
_AS_TEXT = ".txt"


def write_starter(
    templates: Traversable,
    folder: Path,
    words: Mapping[str, str],
    generated: Mapping[str, str] | None = None,
) -> list[Path]:
    """Copy templates into a new folder and return the files; `generated` are files without one.

    Every word of `words` in a template is replaced. A folder that has files is never written to.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", folder.name):
        raise InputError(
            f"{folder.name!r} is not a valid name for a folder of yours",
            advice="letters, digits, _ and -, beginning with a letter, such as word_count",
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError("exists already", where=str(folder), advice="choose another name")
    written = list(_copy(templates, folder, words))
    for name, text in (generated or {}).items():
        (folder / name).write_text(text, encoding="utf-8")
        written.append(folder / name)
    return written


def _copy(source: Traversable, folder: Path, words: Mapping[str, str]) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for each in sorted(source.iterdir(), key=lambda one: (one.is_dir(), one.name)):
        if each.is_dir():
            yield from _copy(each, folder / each.name, words)
            continue
        path = folder / each.name.removesuffix(_AS_TEXT)
        text = each.read_text(encoding="utf-8")
        for word, value in words.items():
            text = text.replace(word, value)
        path.write_text(text, encoding="utf-8")
        yield path
