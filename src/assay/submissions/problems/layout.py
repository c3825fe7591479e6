"""The keys of `config.yaml`, as they are written; `assay.submissions.config` is what they mean."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from assay.model import GroupType
from assay.submissions.config import Adapter, CliAdapter, StaticAsset

_FUNCTIONALITY: Any = GroupType.FUNCTIONALITY.value


class _Written(BaseModel):
    # Keys of others are kept: existing problems have their own, and their code may ask for them.
    model_config = ConfigDict(extra="allow", use_enum_values=True)


class RegressionRule(_Written):
    """Which groups of earlier checkpoints are run again, and under which names."""

    checkpoint: str | None = None
    checkpoints: list[str] | Literal["*"] | None = None
    groups: list[str] = Field(default_factory=list)
    type_filter: GroupType | list[GroupType] | None = None
    exclude: list[str] = Field(default_factory=list)
    name_template: str = "{checkpoint}_{group}"

    @model_validator(mode="after")
    def _names_checkpoints_once(self) -> RegressionRule:
        if (self.checkpoint is None) == (self.checkpoints is None):
            raise ValueError('give either `checkpoint` or `checkpoints` (a list, or "*" for all)')
        return self


class WrittenGroup(_Written):
    """A group of cases."""

    name: str | None = None
    type: GroupType = _FUNCTIONALITY
    group_files: list[str] = Field(default_factory=list)
    original_checkpoint: str | None = None
    original_group: str | None = None
    case_order: list[str] = Field(default_factory=list)
    timeout: float | None = Field(default=None, gt=0)
    case_defaults: dict[str, Any] = Field(default_factory=dict)
    isolated: bool = True
    env: dict[str, str] = Field(default_factory=dict)


class WrittenCheckpoint(_Written):
    """A stage of a problem: under its name in the problem's config, or in a config of its own."""

    name: str | None = None
    version: int | str = 1
    order: int | None = None
    path: str | None = None
    groups: dict[str, WrittenGroup] = Field(default_factory=dict)
    constant_files: list[str] = Field(default_factory=list)
    specification: str = "spec.md"
    state: str | None = None
    regressions: list[RegressionRule] = Field(default_factory=list)
    env: dict[str, str] = Field(default_factory=dict)
    timeout: float | None = Field(default=None, gt=0)


class WrittenProblem(_Written):
    """The config of a problem, but for its checkpoints, which are read one by one."""

    name: str | None = None
    version: int | str = 1
    description: str = ""
    tags: list[str] = Field(default_factory=list)
    entry_file: str = Field(min_length=1)
    adapter: Adapter = Field(default_factory=CliAdapter)
    checkpoints: Any
    author: str | None = None
    category: str | None = None
    difficulty: str | None = None
    static_assets: dict[str, StaticAsset] = Field(default_factory=dict)
    loader_script: str = "loader.py"
    loader_entrypoint: str = "Loader"
    env: dict[str, str] = Field(default_factory=dict)
    timeout: float | None = Field(default=None, gt=0)
