"""What the tests of submissions share: problem folders from texts."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent


def write_files(folder: Path, files: dict[str, str]) -> Path:
    """The folder with these files in it."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    return folder
