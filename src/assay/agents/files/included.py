"""The texts that are read for one HOCON file: its own, and those of the files it includes."""

from __future__ import annotations

import os
from pathlib import Path

from assay.agents.files.expansion import LongTexts, UnfitTextError, size_without_long_texts
from assay.agents.files.outline import Include
from assay.agents.files.rules import FileProblems, unreadable
from assay.documents import MEGABYTE, Place, UnreadableFileError, read_text

LARGEST_HOCON = 8 * MEGABYTE
"""A file and all it includes, with their long texts."""
MOST_TEXT = MEGABYTE
"""A file and all it includes, without long texts in quotes."""
MOST_INCLUDES = 100
_EXTENSIONS = (".properties", ".json", ".conf", ".hocon")


class Files:
    """The texts that are read for one test file, by their paths."""

    def __init__(self, path: Path) -> None:
        self.path = self.last = path
        self.texts: dict[Path, str] = {}
        self.long = LongTexts()
        # What the parser was given, by the names that it asked for.
        self.given: dict[str, str] = {}
        self._left = MOST_TEXT
        self._left_with_long_texts = LARGEST_HOCON
        self._reads = 0

    def read_first(self) -> str:
        try:
            return self._take(self.path, self.path)
        except FileNotFoundError:
            message = "cannot be read: there is no such file"
            raise FileProblems(unreadable(message, Place(self.path, 1))) from None

    def read(self, wanted: str) -> str:
        """What the parser includes; it does not know the extension .hocon, this does."""
        path = Path(wanted)
        if path.suffix == ".conf" and not path.exists():
            bare = path.with_suffix("")
            path = bare if bare.suffix == ".hocon" else bare.with_name(f"{bare.name}.hocon")
        self.given[wanted] = self._take(near(path), path)
        return self.given[wanted]

    def _take(self, name: Path, path: Path) -> str:
        self.last = name
        try:
            text = read_text(path, LARGEST_HOCON, keep_mark=True).removeprefix("\ufeff")
        except FileNotFoundError:
            raise
        except UnreadableFileError as error:
            problem = unreadable(error.what, Place(name, error.line), error.advice or "")
            raise FileProblems(problem) from None
        except OSError as error:
            problem = unreadable(f"cannot be read: {error.strerror}", Place(name, 1))
            raise FileProblems(problem) from None
        short = self._shorten(text, name)
        # Short, with the lines as they were: an outline needs no more.
        self.texts[path.absolute()] = short
        return short

    def _shorten(self, text: str, name: Path) -> str:
        try:
            short = self.long.take_out(text)
        except UnfitTextError as error:
            line = text.count("\n", 0, error.position) + 1
            problem = unreadable(f"is not valid HOCON: {error.what}", Place(name, line))
            raise FileProblems(problem) from None
        self._reads += 1
        self._left -= size_without_long_texts(short)
        self._left_with_long_texts -= len(text)
        if self._left_with_long_texts < 0:
            what = f"is larger than {LARGEST_HOCON:,} characters with all it includes"
        elif self._left < 0:
            what = f"is larger than {MOST_TEXT:,} characters with all it includes"
        elif self._reads > MOST_INCLUDES + 1:
            what = f"includes more than {MOST_INCLUDES} files"
        else:
            return short
        raise FileProblems(unreadable(what, Place(self.path, 1)))

    def included_by(self, including: Path, include: Include) -> list[Path]:
        """The files that an include has brought; none if it is missing."""
        base = Path() if include.qualifier == "file" else including.parent
        path = Path(os.path.abspath(base / include.name))  # noqa: PTH100 - as the parser does it
        candidates = [path, *(path.with_name(path.name + end) for end in _EXTENSIONS)]
        return [one for one in candidates if one in self.texts]


def near(path: Path) -> Path:
    """A path as its reader would name it: from the current folder, if it is below it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
