"""The project's configuration: `assay.toml`, or `[tool.assay]` in pyproject.toml.

The nearest one is used, from the current folder upwards. Its paths are relative to its own folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assay.documents.files import LARGEST_SETTINGS, read_text
from assay.documents.toml import read_toml
from assay.errors import InputError, nearest

FILE = "assay.toml"
USER_CONFIG = "~/.config/assay/assay.toml"
_Kind = TypeVar("_Kind", bound=BaseModel)


class QuestionsConfig(BaseModel):
    """The table [questions]."""

    model_config = ConfigDict(extra="forbid")

    # Codes of lint findings that are not wanted.
    ignore: list[str] = Field(default_factory=list)


class SubmissionsConfig(BaseModel):
    """The table [submissions]."""

    model_config = ConfigDict(extra="forbid")

    # Codes of lint findings that are not wanted.
    ignore: list[str] = Field(default_factory=list)


class ModelsConfig(BaseModel):
    """The table [models]; keys to a provider are taken from the environment only."""

    model_config = ConfigDict(extra="forbid")

    model: str | None = None
    url: str | None = None
    max_cost: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    max_tokens: int | None = Field(default=None, ge=0, strict=True)
    judge_votes: int = Field(default=1, ge=1, strict=True)
    # How often the judge's decisions are wrong, as a fraction, where somebody has measured it.
    judge_error_rate: float | None = Field(default=None, ge=0, lt=1, allow_inf_nan=False)
    # Seconds: for one call, and for trying it again.
    timeout: float = Field(default=120, gt=0, allow_inf_nan=False)
    patience: float = Field(default=300, ge=0, allow_inf_nan=False)
    concurrency: int = Field(default=16, ge=1, strict=True)
    # US dollars per million tokens.
    input_price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    output_price: float | None = Field(default=None, ge=0, allow_inf_nan=False)


class AgentsConfig(BaseModel):
    """The table [agents]."""

    model_config = ConfigDict(extra="forbid")

    # Codes of lint findings that are not wanted.
    ignore: list[str] = Field(default_factory=list)
    # How often a sample that met an outage is tried again.
    retries: int = Field(default=2, ge=0, strict=True)
    # Folders that `python` agents come from, in the project; None for those of each test file.
    python_paths: list[Path] | None = None


class Config(BaseModel):
    """Every key of the configuration, with its default."""

    model_config = ConfigDict(extra="forbid")

    jobs: int | None = Field(default=None, ge=1, strict=True)
    runs: Path = Path(".assay/runs")
    baseline: Path | None = None
    models: ModelsConfig = Field(default_factory=ModelsConfig)
    questions: QuestionsConfig = Field(default_factory=QuestionsConfig)
    submissions: SubmissionsConfig = Field(default_factory=SubmissionsConfig)
    agents: AgentsConfig = Field(default_factory=AgentsConfig)

    def jobs_or_default(self) -> int:
        return self.jobs or os.cpu_count() or 1


class UserModelsConfig(BaseModel):
    """The table [models] of the user's own file."""

    model_config = ConfigDict(extra="forbid")

    # Servers, as host or host:port, that a project may name and that get the user's key.
    hosts: list[str] = Field(default_factory=list)


class UserAgentsConfig(BaseModel):
    """The table [agents] of the user's own file."""

    model_config = ConfigDict(extra="forbid")

    # Modules outside of a project that test files may name as `python` agents.
    allow: list[str] = Field(default_factory=list)
    # Servers, as host or host:port, that a resumed run may name and that get secrets of tests.
    hosts: list[str] = Field(default_factory=list)


class UserConfig(BaseModel):
    """What only the user may say, never a project: `~/.config/assay/assay.toml`."""

    model_config = ConfigDict(extra="forbid")

    models: UserModelsConfig = Field(default_factory=UserModelsConfig)
    agents: UserAgentsConfig = Field(default_factory=UserAgentsConfig)


def load_user_config(environment: Mapping[str, str] = os.environ) -> UserConfig:
    """Return the user's own configuration; all defaults where there is none."""
    folder = environment.get("XDG_CONFIG_HOME")
    path = Path(folder, "assay", FILE) if folder else Path(USER_CONFIG).expanduser()
    if not path.exists():
        return UserConfig()
    return _validated(path, read_toml(path, keep_mark=True), UserConfig)


def load_config(start: Path | None = None) -> Config:
    """The configuration that holds in a folder; all defaults where there is none."""
    folder = (start or Path.cwd()).absolute()
    for candidate in (folder, *folder.parents):
        if (found := _read(candidate)) is not None:
            path, table = found
            config = _validated(path, table, Config)
            _check_inside(config.agents.python_paths or (), candidate, path)
            return _anchored(config, candidate)
    return _anchored(Config(), folder)


def _check_inside(paths: Iterable[Path], folder: Path, file: Path) -> None:
    """Raise an InputError for a path that leaves its project: what is outside, users allow."""
    for path in paths:
        if not (folder / path).resolve().is_relative_to(folder.resolve()):
            raise InputError(
                f"agents.python_paths: {str(path)!r} is outside of the project",
                where=f"{file}:{_line_of(file, 'python_paths')}",
                advice="allow a module from elsewhere yourself: --allow-agent MODULE",
            )


def is_configured(folder: Path) -> bool:
    """Whether a folder has a configuration of its own."""
    return _read(folder.absolute()) is not None


def _read(folder: Path) -> tuple[Path, dict[str, Any]] | None:
    own, project = folder / FILE, folder / "pyproject.toml"
    table = (
        _table(read_toml(project, keep_mark=True), "tool", "assay") if project.exists() else None
    )
    if not own.exists():
        return None if table is None else (project, table)
    if table is not None:
        raise InputError(
            "both assay.toml and [tool.assay] in pyproject.toml configure Assay",
            where=str(folder),
            advice="keep one of them",
        )
    return own, read_toml(own, keep_mark=True)


def _table(data: Any, *keys: str) -> dict[str, Any] | None:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else None


def _validated(path: Path, table: dict[str, Any], kind: type[_Kind]) -> _Kind:
    try:
        return kind.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        names = [part for part in first["loc"] if isinstance(part, str)]
        where = f"{path}:{_line_of(path, names[-1])}"
        if first["type"] == "extra_forbidden":
            advice = nearest(names[-1], _keys_beside(kind, names))
            unknown = ".".join(names)
            raise InputError(f"unknown key {unknown!r}", where=where, advice=advice) from None
        raise InputError(f"{'.'.join(names)}: {first['msg']}", where=where) from None


def _keys_beside(kind: type[BaseModel], names: list[str]) -> Iterable[str]:
    """The valid keys of the table that a key stands in."""
    model: Any = kind
    for name in names[:-1]:
        model = model.model_fields[name].annotation
    return list(model.model_fields)


def _line_of(path: Path, key: str) -> int:
    """The line a key stands on; tomllib does not say."""
    pattern = re.compile(rf"""\s*(\[.*)?["']?{re.escape(key)}["']?\s*[=.\]]""")
    lines = read_text(path, LARGEST_SETTINGS).splitlines()
    return next((number for number, line in enumerate(lines, 1) if pattern.match(line)), 1)


def _anchored(config: Config, folder: Path) -> Config:
    """Paths of the configuration as seen from the current folder."""

    def anchor(path: Path) -> Path:
        return Path(os.path.relpath(folder / path))

    paths = config.agents.python_paths
    agents = {
        "python_paths": None if paths is None else [(folder / one).resolve() for one in paths]
    }
    return config.model_copy(
        update={
            "agents": config.agents.model_copy(update=agents),
            "runs": anchor(config.runs),
            "baseline": anchor(config.baseline) if config.baseline else None,
        }
    )
