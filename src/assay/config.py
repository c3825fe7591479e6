"""The project's configuration: `assay.toml`, or `[tool.assay]` in pyproject.toml.

The nearest one is used, from the current folder upwards. Its paths are relative to its own folder.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assay.errors import InputError, nearest

FILE = "assay.toml"


class Config(BaseModel):
    """Every key of the configuration, with its default."""

    model_config = ConfigDict(extra="forbid")

    jobs: int | None = Field(default=None, ge=1, strict=True)
    runs: Path = Path(".assay/runs")
    baseline: Path | None = None

    def jobs_or_default(self) -> int:
        return self.jobs or os.cpu_count() or 1


def load_config(start: Path | None = None) -> Config:
    """The configuration that holds in a folder; all defaults where there is none."""
    folder = (start or Path.cwd()).absolute()
    for candidate in (folder, *folder.parents):
        if (found := _read(candidate)) is not None:
            path, table = found
            return _anchored(_validated(path, table), candidate)
    return _anchored(Config(), folder)


def is_configured(folder: Path) -> bool:
    """Whether a folder has a configuration of its own."""
    return _read(folder.absolute()) is not None


def _read(folder: Path) -> tuple[Path, dict[str, Any]] | None:
    own, project = folder / FILE, folder / "pyproject.toml"
    table = _table(_parse(project), "tool", "assay") if project.is_file() else None
    if not own.is_file():
        return None if table is None else (project, table)
    if table is not None:
        raise InputError(
            "both assay.toml and [tool.assay] in pyproject.toml configure Assay",
            where=str(folder),
            advice="keep one of them",
        )
    return own, _parse(own)


def _table(data: Any, *keys: str) -> dict[str, Any] | None:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else None


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is not valid TOML: {error}", where=str(path)) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None


def _validated(path: Path, table: dict[str, Any]) -> Config:
    try:
        return Config.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0])
        where = f"{path}:{_line_of(path, key)}"
        if first["type"] == "extra_forbidden":
            advice = nearest(key, Config.model_fields)
            raise InputError(f"unknown key {key!r}", where=where, advice=advice) from None
        raise InputError(f"{key}: {first['msg']}", where=where) from None


def _line_of(path: Path, key: str) -> int:
    """The line a key stands on; tomllib does not say."""
    pattern = re.compile(rf"""\s*(\[.*)?["']?{re.escape(key)}["']?\s*[=.\]]""")
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((number for number, line in enumerate(lines, 1) if pattern.match(line)), 1)


def _anchored(config: Config, folder: Path) -> Config:
    """Paths of the configuration as seen from the current folder."""

    def anchor(path: Path) -> Path:
        return Path(os.path.relpath(folder / path))

    return config.model_copy(
        update={
            "runs": anchor(config.runs),
            "baseline": anchor(config.baseline) if config.baseline else None,
        }
    )
