"""Source folders as targets: what they depend on, what they hold, and a copy that cannot change."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.documents import LARGEST_SETTINGS, open_regular, read_text, read_toml
from assay.errors import InputError

# Neither part of a package nor anything a proof should see: history, environments, caches, secrets.
_LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", ".venv", "venv", ".env", ".tox", ".nox", "node_modules", "__pycache__",
     ".mypy_cache", ".pytest_cache", ".ruff_cache", ".assay", "build", "dist"}
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """A folder as it is now: its requirements and a hash of every file that will be copied."""

    folder: Path
    name: str
    version: str
    requirements: tuple[str, ...]
    digest: str
    needs_build: bool

    @property
    def root(self) -> Path:
        """The part that goes on the path: `src/` where the folder has that layout."""
        inner = self.folder / "src"
        flat = (self.folder / self.name.replace("-", "_")).is_dir()
        return inner if inner.is_dir() and not flat else self.folder


def read_source(folder: Path) -> Source:
    """Look at a source folder; it need not be a package, but it must be there."""
    folder = folder.absolute()
    if not folder.is_dir():
        raise InputError(
            "the source folder does not exist", where=str(folder), advice="check the path"
        )
    project = _project(folder)
    dynamic = "dependencies" in project.get("dynamic", ())
    requirements = project.get("dependencies", ())
    if not project and (folder / "requirements.txt").is_file():
        requirements = _plain_lines(folder / "requirements.txt")
    return Source(
        folder=folder,
        name=str(project.get("name", folder.name)),
        version=str(project.get("version", "0")),
        requirements=tuple(str(line) for line in requirements),
        digest=digest(folder),
        needs_build=dynamic,
    )


def _project(folder: Path) -> dict[str, Any]:
    path = folder / "pyproject.toml"
    if not path.is_file():
        return {}
    project = read_toml(path).get("project", {})
    return project if isinstance(project, dict) else {}


def _plain_lines(path: Path) -> list[str]:
    lines = (line.split(" #")[0].strip() for line in read_text(path, LARGEST_SETTINGS).splitlines())
    return [line for line in lines if line and not line.startswith("#")]


# Far more than a package has; a folder above is not meant as one.
_MOST_FILES = 50_000
_MOST_BYTES = 2 << 30


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files that belong to a source; raise an InputError for a folder that is none."""
    count = size = 0
    for path in _all_files(folder):
        count, size = count + 1, size + path.lstat().st_size
        if count > _MOST_FILES or size > _MOST_BYTES:
            raise InputError(
                f"has more than {_MOST_FILES:,} files or {_MOST_BYTES:,} bytes",
                where=str(folder),
                advice="name the folder of one package",
            )
        yield path


def _all_files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
        for name in sorted(names):
            path = Path(place, name)
            # A link could point at anything of the user's; what it points at is not the source.
            if name not in _LEFT_OUT and path.is_file() and not path.is_symlink():
                yield path


def digest(folder: Path) -> str:
    """A hash of the names and contents of all files that belong to the source."""
    total = hashlib.sha256()
    for path in _files(folder):
        with open_regular(path, follow=False) as file:
            content = hashlib.file_digest(file, "sha256").digest()
        total.update(os.fsencode(path.relative_to(folder)) + b"\0" + content)
    return total.hexdigest()


def copy_files(folder: Path, place: Path) -> None:
    """Copy all files that belong to the source in a folder."""
    for path in _files(folder):
        copy = place / path.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def copy_source(source: Source, place: Path) -> None:
    """Copy what is importable, with just enough metadata that the package knows its version."""
    copy_files(source.root, place)
    information = place / f"{source.name.replace('-', '_')}-{source.version}.dist-info"
    if not information.exists():
        information.mkdir(parents=True)
        text = f"Metadata-Version: 2.1\nName: {source.name}\nVersion: {source.version}\n"
        (information / "METADATA").write_text(text, "utf-8")
