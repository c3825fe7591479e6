"""The texts that are read for one HOCON file: its own, and those of the files it includes."""

from __future__ import annotations

import os
from pathlib import Path

from assay.agents.files.outline import Include
from assay.agents.files.problems import FileProblems, unreadable
from assay.documents import Place

_EXTENSIONS = (".properties", ".json", ".conf", ".hocon")


class Files:
    """The texts that are read for one test file, by their paths."""

    def __init__(self, path: Path) -> None:
        self.path = self.last = path
        self.texts: dict[Path, str] = {}

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
        return self._take(near(path), path)

    def _take(self, name: Path, path: Path) -> str:
        self.last = name
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except FileNotFoundError:
            raise
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            problem = unreadable("is not UTF-8 text", Place(name, line), "save it as UTF-8")
            raise FileProblems(problem) from None
        except OSError as error:
            problem = unreadable(f"cannot be read: {error.strerror}", Place(name, 1))
            raise FileProblems(problem) from None
        self.texts[path.absolute()] = text
        return text

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
