"""The sections of an environment file, with the keys of existing files and those of Assay."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from assay.errors import nearest


def _text(value: Any) -> Any:
    """YAML reads `PORT: 8000` as a number; a variable is text."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


Text = Annotated[str, BeforeValidator(_text)]
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?b)?", re.IGNORECASE)
_NOT_WORK = ("/dev", "/proc", "/sys", "/tmp", "/static")  # noqa: S108 - of a container
RUN_OPTIONS = frozenset(
    {
        "add-host", "annotation", "cpu-shares", "cpuset-cpus", "cpuset-mems", "device", "dns",
        "dns-search", "gpus", "group-add", "platform", "sysctl", "tz",
    }
)  # fmt: skip
"""Options of the engines' `run` that an environment file may set."""


def _size(value: Any) -> Any:
    """Return bytes: `512m` and `2 GiB` as engines and people write them."""
    if not isinstance(value, str):
        return value
    found = _SIZE.fullmatch(value.strip())
    if found is None:
        raise ValueError(f"{value!r} is not a size: write 512m or 2g")
    return int(float(found[1]) * 1024 ** " kmgt".index(found[2].lower() or " "))


_Size = Annotated[int, BeforeValidator(_size)]


class Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Variables(Part):
    """Environment variables; one without a value is taken from whoever runs Assay."""

    env: dict[str, Text | None] = Field(default_factory=dict)
    include_os_env: bool = False


class SetUp(Part):
    """Commands that run once per checkpoint, through a shell, in the copy of the submission."""

    commands: list[str] = Field(default_factory=list)
    eval_commands: list[str] = Field(default_factory=list)


class StartCommand(Part):
    """How the program is started: a command, and how its entry file is written after it."""

    command: str = "python"
    entry_file: str = "{entry_file}"


class Snapshot(Part):
    """Which files of a submission count."""

    keep_globs: list[str] = Field(default_factory=list)
    ignore_globs: list[str] = Field(default_factory=lambda: ["*.pyc", "venv/*", ".venv/*"])


class Local(Part):
    """What is special about this machine."""

    shell: str | None = None
    binds: list[str] = Field(default_factory=list)
    """Folders of this machine that programs may read beside its system folders."""


class ContainerLimits(Part):
    """What the programs of a container may use; what is not said is as in the sandbox."""

    cpus: float | None = Field(default=None, gt=0)
    memory: _Size | None = Field(default=None, gt=0)
    pids: int | None = Field(default=None, gt=0)
    disk: _Size | None = Field(default=None, gt=0)
    """Of the work folder, of /tmp and of /dev/shm each."""
    time: float | None = Field(default=None, gt=0)
    """Seconds of a case that says nothing itself."""


class ContainerOptions(Part):
    """The image of an environment in containers, and how containers are run."""

    image: str | None = None
    archive: str | None = None
    """An image on disk, as `podman save` or `docker save` write it."""
    containerfile: str | None = None
    dockerfile: str | None = None
    """Another name of `containerfile`."""
    context: str = "."
    engine: Literal["auto", "podman", "docker"] = "auto"
    workdir: str = "/workspace"
    user: Text | None = None
    setup_user: Text | None = None
    network: str | None = None
    setup_network: str | None = None
    """The network of set-up, where it has one and the engine's own does not do."""
    mounts: dict[str, str] = Field(default_factory=dict)
    """Folders of this machine, and where programs see them, read-only."""
    extra_mounts: dict[str, str] = Field(default_factory=dict)
    """Another name of `mounts`."""
    reuse: bool = True
    """Whether the cases of a group share a container, one after the other."""
    limits: ContainerLimits = Field(default_factory=ContainerLimits)
    options: dict[str, Text | list[Text]] = Field(default_factory=dict)
    """Further options of `run`, by their names."""

    @field_validator("workdir")
    @classmethod
    def _check_workdir(cls, value: str) -> str:
        path = PurePosixPath(value)
        if not path.is_absolute() or ".." in path.parts or len(path.parts) < 2 or ":" in value:
            raise ValueError("write the absolute path of a folder")
        if any(path.is_relative_to(one) for one in _NOT_WORK):
            raise ValueError(f"a work folder cannot be in {', '.join(_NOT_WORK)}")
        return str(path)

    @field_validator("options")
    @classmethod
    def _check_options(cls, value: dict[str, Any]) -> dict[str, Any]:
        for name in value:
            if name not in RUN_OPTIONS:
                raise ValueError(f"{name!r} is not allowed: {nearest(name, RUN_OPTIONS)}")
        return value

    @model_validator(mode="after")
    def _has_one_image(self) -> ContainerOptions:
        given = self.image, self.archive, self.containerfile, self.dockerfile
        if sum(one is not None for one in given) != 1:
            raise ValueError("give one of `image`, `archive` and `containerfile`")
        return self
