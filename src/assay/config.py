"""The project configuration: `assay.toml`, or `[tool.assay]` in pyproject.toml.

The nearest file is used, searching upwards from the current directory. Its paths are relative to
its own folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from assay.documents import MappingNode, Node, find_places, read_model, read_toml_tree
from assay.errors import InputError

FILE = "assay.toml"
USER_CONFIG = "~/.config/assay/assay.toml"
# What marks the folder of a project.
_MARKS = (FILE, "pyproject.toml", ".git")
_Model = TypeVar("_Model", bound=BaseModel)


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


class RoleConfig(BaseModel):
    """A table of [models.roles]: what is different for one role."""

    model_config = ConfigDict(extra="forbid")

    model: str | None = None
    url: str | None = None
    effort: str | None = None
    temperature: float | None = Field(default=None, ge=0, le=2, allow_inf_nan=False)
    timeout: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    input_price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    output_price: float | None = Field(default=None, ge=0, allow_inf_nan=False)


Role: TypeAlias = Literal["reader", "engineer", "reviewer", "fixer", "judge"]


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
    roles: dict[Role, RoleConfig] = Field(default_factory=dict)


Transcripts: TypeAlias = Literal["all", "failed", "none"]


class AgentsConfig(BaseModel):
    """The table [agents]."""

    model_config = ConfigDict(extra="forbid")

    # Codes of lint findings that are not wanted.
    ignore: list[str] = Field(default_factory=list)
    # How often a sample that met an outage is tried again.
    retries: int = Field(default=2, ge=0, strict=True)
    # Of which samples the conversation is kept.
    transcripts: Transcripts = "all"
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
    return _to_model(path, read_toml_tree(path), UserConfig)


def load_config(start: Path | None = None) -> Config:
    """Return the configuration for a folder; all defaults if there is none."""
    folder = (start or Path.cwd()).absolute()
    for candidate in (folder, *folder.parents):
        if (found := _read(candidate)) is not None:
            path, table = found
            config = _to_model(path, table, Config)
            place = find_places(table, path).nearest("agents.python_paths")
            _check_inside(config.agents.python_paths or (), candidate, str(place))
            return _anchor(config, candidate)
    return _anchor(Config(), folder)


def find_project(folder: Path) -> Path:
    """Return the nearest folder upwards that is marked as a project, else the given one."""
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
            "pass --trust",
        )


def _is_marked(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in _MARKS)


def _check_inside(paths: Iterable[Path], folder: Path, where: str) -> None:
    """Raise an InputError for a path that leaves its project: what is outside, users allow."""
    for path in paths:
        if not is_inside(folder / path, folder):
            raise InputError(
                f"agents.python_paths: {str(path)!r} is outside of the project",
                where=where,
                advice="allow a module from elsewhere yourself: --allow-agent MODULE",
            )


def is_configured(folder: Path) -> bool:
    """Return whether a folder has its own configuration."""
    return _read(folder.absolute()) is not None


def _read(folder: Path) -> tuple[Path, MappingNode] | None:
    own, project = folder / FILE, folder / "pyproject.toml"
    table: Node | None = read_toml_tree(project) if project.exists() else None
    for key in ("tool", "assay"):
        table = table.get(key) if isinstance(table, MappingNode) else None
    if not own.exists():
        return (project, table) if isinstance(table, MappingNode) else None
    if isinstance(table, MappingNode):
        raise InputError(
            "both assay.toml and [tool.assay] in pyproject.toml configure Assay",
            where=str(folder),
            advice="keep one of them",
        )
    return own, read_toml_tree(own)


def _to_model(path: Path, table: MappingNode, model: type[_Model]) -> _Model:
    found, mistakes = read_model(model, table, find_places(table, path))
    if found is None:
        raise mistakes[0].error()
    return found


def _anchor(config: Config, folder: Path) -> Config:
    """Return the configuration with its paths relative to the current directory."""

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
