"""The configuration of a problem: checkpoints, groups, adapter, assets, limits.

These objects are passed to loaders and verifiers. Unknown keys are kept, because existing problems
define their own keys and their code may read them.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SerializeAsAny
from pydantic_core import PydanticCustomError

from assay.errors import InputError
from assay.model import GroupType

_FUNCTIONALITY: Any = GroupType.FUNCTIONALITY.value


class _Config(BaseModel):
    model_config = ConfigDict(extra="allow", use_enum_values=True)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, known or not."""
        return getattr(self, name, default)


class AdapterConfig(_Config):
    """What a problem says about its adapter; each type of adapter has keys of its own."""

    type: str = "cli"
    tracked_files: list[str] = Field(default_factory=list)

    @classmethod
    def choose_model(cls, type_: str | None) -> Any:
        """Return the model of an adapter type, or Any: validation reports an unknown type."""
        if cls is not AdapterConfig:
            return cls
        with contextlib.suppress(InputError):
            return find_adapter_config(type_ or "cli")
        return Any


class CliAdapter(AdapterConfig):
    """The program is a command: one process for every case."""

    type: Literal["cli"] = "cli"


class ApiAdapter(AdapterConfig):
    """The program is a server: one for every group."""

    type: Literal["api"]
    address: str = "127.0.0.1"
    port: int = Field(default=8000, ge=1, le=65535)
    health_path: str = "/"
    startup_timeout_s: float = Field(default=10.0, gt=0)
    max_startup_attempts: int = Field(default=5, ge=1)
    delay_startup_attempts: float = Field(default=5.0, ge=0)
    response_is_json: bool = True
    arguments: list[str] = Field(default_factory=list)


def find_adapter_config(name: str) -> type[AdapterConfig]:
    """Return the model for the keys of an adapter type."""
    from assay.submissions.adapters import find_adapter

    return find_adapter(name).config


def _read_adapter(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    name = str(value.get("type", "cli"))
    try:
        model = find_adapter_config(name)
    except InputError as error:
        about = {"what": error.what, "advice": error.advice or ""}
        raise PydanticCustomError("unknown_type", "{what}: {advice}", about) from None
    return model.model_validate(value)


Adapter = Annotated[SerializeAsAny[AdapterConfig], BeforeValidator(_read_adapter)]


class StaticAsset(_Config):
    """A file or folder of the problem that its cases can name as `{{static:<name>}}`."""

    path: str
    save_path: str | None = None


class GroupConfig(_Config):
    """A group of cases that share a kind, limits, and, unless `isolated`, their work folder."""

    name: str
    type: GroupType = _FUNCTIONALITY
    group_files: list[str] = Field(default_factory=list)
    original_checkpoint: str | None = None
    original_group: str | None = None
    original_type: GroupType | None = None
    """Of a regression: what its cases were when they were new, which is what they still mean."""
    case_order: list[str] = Field(default_factory=list)
    timeout: float | None = Field(default=None, gt=0)
    case_defaults: dict[str, Any] = Field(default_factory=dict)
    isolated: bool = True
    reuse: bool = True
    """Whether its isolated cases may share a container, where an environment has containers."""
    env: dict[str, str] = Field(default_factory=dict)

    def get_real_name(self) -> str:
        """Return the group that its cases were written for; for a regression, the original."""
        return self.original_group or self.name


class CheckpointConfig(_Config):
    """A stage of the problem, with everything inherited from the problem already merged in."""

    name: str
    version: int | str = 1
    order: int = 1
    path: Path
    """The folder of the checkpoint, absolute."""
    groups: dict[str, GroupConfig] = Field(default_factory=dict)
    constant_files: list[str] = Field(default_factory=list)
    specification: str = "spec.md"
    state: str | None = None
    env: dict[str, str] = Field(default_factory=dict)
    timeout: float | None = Field(default=None, gt=0)


class ProblemConfig(_Config):
    """A problem folder, read."""

    name: str
    version: int | str = 1
    description: str = ""
    tags: list[str] = Field(default_factory=list)
    entry_file: str
    adapter: Adapter
    checkpoints: dict[str, CheckpointConfig]
    """In their order."""
    path: Path
    """The folder of the problem, absolute."""
    author: str | None = None
    category: str | None = None
    difficulty: str | None = None
    static_assets: dict[str, StaticAsset] = Field(default_factory=dict)
    environments: list[str] = Field(default_factory=list)
    """Types or names of the environments it can be run in; none named: all."""
    loader_script: str = "loader.py"
    loader_entrypoint: str = "Loader"
    env: dict[str, str] = Field(default_factory=dict)
    timeout: float | None = Field(default=None, gt=0)
    allows_outside: bool = False
    """Whether the user lets files be read that are outside of the folder; no config can."""

    @property
    def is_programmed(self) -> bool:
        """Whether it has its own loader; otherwise its cases are in the declarative format."""
        return (self.path / self.loader_script).is_file()

    def check_inside(self, path: Path) -> None:
        """Raise an InputError for a path that leads out of the folder, also through links.

        A problem without code is data and must not select files of its user. One with code could
        read them anyway.
        """
        if not (self.is_programmed or self.allows_outside):
            check_inside(self.path, path)


def check_inside(folder: Path, path: Path) -> None:
    """Raise an InputError for a path that leads out of a folder, through links too."""
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise InputError(
            "is outside of the problem's folder",
            where=str(path),
            advice="copy it into the problem; or, if you trust the problem, pass --allow-outside",
        )
