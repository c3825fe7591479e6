"""Environment files (`-e`): how a submission is started and with which variables.

The format is that of existing environment files. Keys that Assay does not use are accepted, unless
they look like a misspelling of one it does. The differences between types of environments are in
`EnvironmentType`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field, PrivateAttr

from assay import plugins
from assay.documents import (
    DocumentError,
    MappingNode,
    ScalarNode,
    find_places,
    is_nothing,
    list_unknown_keys,
    read_document,
    read_model,
    to_values,
)
from assay.errors import InputError, nearest
from assay.findings import Finding
from assay.submissions.environments.sections import (
    ContainerOptions,
    Local,
    Part,
    SetUp,
    Snapshot,
    StartCommand,
    Variables,
)
from assay.submissions.misspelling import near_miss
from assay.submissions.problems.fields import find_repeated_keys

_SECRET_NAMES = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|PASSWD|CREDENTIAL|AUTH|COOKIE|SESSION|PRIVATE|SIGNATURE"
    r"|DSN$|_PAT$|^PAT$|CONNECTION_STRING|(?:DATABASE|REDIS|MONGO\w*|AMQP|BROKER)_UR[IL]$",
    re.IGNORECASE,
)
_ADDRESS_WITH_PASSWORD = re.compile(r"://[^/\s@]*:[^/\s@]+@")
# Variables specific to this process, which would be wrong in any other.
_OF_THE_PLACE = frozenset(
    {"HOME", "PATH", "PWD", "OLDPWD", "SHLVL", "TMPDIR", "TMP", "TEMP", "_", "VIRTUAL_ENV"}
)
# What a set-up command needs to find the network this machine has.
_OF_THE_NETWORK = re.compile(
    r"(?:https?|all|no)_proxy|ssl_cert_(?:file|dir)|requests_ca_bundle|curl_ca_bundle"
    r"|pip_(?:index_url|extra_index_url|cert|trusted_host)"
    r"|uv_(?:index_url|extra_index_url|default_index|index|native_tls)",
    re.IGNORECASE,
)


class EnvironmentFile(Part):
    """An environment file, read."""

    type: str = "local"
    name: str = "default"
    environment: Variables = Field(default_factory=Variables)
    setup: SetUp = Field(default_factory=SetUp)
    setup_network: bool = True
    commands: StartCommand = Field(default_factory=StartCommand)
    snapshot: Snapshot = Field(default_factory=Snapshot)
    local: Local = Field(default_factory=Local)
    docker: ContainerOptions | None = None
    podman: ContainerOptions | None = None
    path: str = Field(default="", exclude=True)
    """The file; what it names beside it is found from there."""
    is_default: bool = Field(default=False, exclude=True)
    _options: dict[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where the file is."""
        return Path(self.path).parent

    @property
    def container(self) -> ContainerOptions:
        """The section of its type, `docker` or `podman`."""
        found = self.podman if self.type == "podman" else self.docker
        if found is None:
            raise InputError(
                f"the environment {self.name!r} has no section `{self.type}`",
                where=self.path or None,
                advice=f"name an image: `{self.type}: {{image: …}}`",
            )
        return found

    @property
    def options(self) -> dict[str, Any]:
        """What a type of a plugin's is told: the mapping under its name."""
        return self._options


_CONTAINERS = ("docker", "podman")
DEFAULT = EnvironmentFile(is_default=True)


def load_environment(
    path: Path | None, on_warning: Callable[[Finding], None] | None = None
) -> EnvironmentFile:
    """Return the environment of a file, or the default one.

    If a key is repeated, the last one is used and `on_warning` gets a finding.
    """
    if path is None:
        return DEFAULT
    try:
        document = read_document(path)
    except DocumentError as error:
        where = f"{path}:{error.line}"
        raise InputError(error.what, where=where, advice=error.advice or None) from None
    if on_warning is not None:
        for finding in find_repeated_keys(document, path, "warning"):
            on_warning(finding)
    if not isinstance(document, MappingNode):
        raise InputError("is not an environment", where=str(path), advice="write keys and values")
    for _, pair, known in list_unknown_keys(EnvironmentFile, document):
        if (near := near_miss(pair.key, known)) is not None:
            what, where = f"there is no key `{pair.key}` here", f"{path}:{pair.line}"
            raise InputError(what, where=where, advice=f"did you mean {near!r}?")
    places = find_places(document, path)
    written = _without_others(_without_nulls(document))
    found, mistakes = read_model(EnvironmentFile, written, places, allows_unknown=True)
    if found is None:
        raise mistakes[0].error()
    if found.type in _CONTAINERS:
        found = found.model_copy(update={"path": str(path.absolute())})
        assert found.container
    try:
        find_environment(found.type)
    except InputError as error:
        where = str(places.get("type", path))
        raise InputError(f"`type`: {error.what}", where=where, advice=error.advice) from None
    options = written.get(found.type)
    if found.type not in EnvironmentFile.model_fields and options is not None:
        found._options = to_values(options)
    return found


def _without_others(node: MappingNode) -> MappingNode:
    """Return the mapping without the sections of types of containers that it does not name."""
    type_ = node.get("type")
    own = type_.text if isinstance(type_, ScalarNode) else None
    others = {one for one in _CONTAINERS if one != own}
    return replace(node, pairs=tuple(pair for pair in node.pairs if pair.key not in others))


def _without_nulls(node: MappingNode) -> MappingNode:
    """Return the mapping without empty sections such as `env:`."""
    pairs = (
        replace(pair, value=_without_nulls(pair.value))
        if isinstance(pair.value, MappingNode) and pair.key != "env"
        else pair
        for pair in node.pairs
        if not is_nothing(pair.value) and pair.key not in ("is_default", "path")
    )
    return replace(node, pairs=tuple(pairs))


def is_secret(name: str, value: str = "") -> bool:
    """Return whether a variable looks like a secret that untrusted programs must not see."""
    return bool(_SECRET_NAMES.search(name) or _ADDRESS_WITH_PASSWORD.search(value))


def program_variables(
    environment: EnvironmentFile, system: Mapping[str, str], *layers: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables of a program: the system's if included, the file's, then the layers'.

    A secret of the system is passed only if the environment names it.
    """
    found = _include_system(system) if environment.environment.include_os_env else {}
    for name, value in environment.environment.env.items():
        if value is not None:
            found[name] = value
        elif name in system:
            found[name] = system[name]
    for layer in layers:
        found |= layer
    return found


def setup_variables(
    environment: EnvironmentFile, system: Mapping[str, str], *layers: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables of set-up commands: no secrets, but network settings."""
    network = {name: value for name, value in system.items() if _OF_THE_NETWORK.fullmatch(name)}
    found = {**network, **program_variables(environment, system, *layers)}
    return {name: value for name, value in found.items() if not is_secret(name, value)}


def _include_system(system: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in system.items()
        if name not in _OF_THE_PLACE and not is_secret(name, value)
    }


class EnvironmentType:
    """The type `local`: the environment file as it is.

    Other types derive from it. Their methods are trusted code; the commands that they return run in
    the sandbox. `folder` is the copy of the submission.
    """

    is_container = False
    """Whether programs run in containers; else they run in the sandbox."""

    def check(self, environment: EnvironmentFile) -> None:
        """Raise an InfrastructureError if the environment cannot be run on this machine."""

    def setup_commands(self, environment: EnvironmentFile, folder: Path) -> list[str]:
        """Return the commands that run once per checkpoint, through a shell."""
        return [*environment.setup.commands, *environment.setup.eval_commands]

    def variables(self, environment: EnvironmentFile) -> dict[str, str]:
        """Return environment variables of programs and set-up; those of the file go before them."""
        return {}

    def binds(self, environment: EnvironmentFile) -> list[str]:
        """Return folders of this machine that programs may read beside its system folders."""
        return environment.local.binds

    def start_command(
        self, environment: EnvironmentFile, entry_file: str, folder: Path
    ) -> list[str]:
        """Return the command and its entry file, before any argument.

        Without an environment file `name` stands for `name.py` where only that exists.
        """
        fallback = f"{entry_file}.py"
        is_other = environment.is_default and not (folder / entry_file).exists()
        name = fallback if is_other and (folder / fallback).is_file() else entry_file
        # Not `format`, which would fail on {address} and {port}.
        entry = environment.commands.entry_file.replace("{entry_file}", shlex.quote(name))
        try:
            return shlex.split(f"{environment.commands.command} {entry}")
        except ValueError as error:
            raise InputError(f"the command of environment {environment.name!r}: {error}") from None

    def missing_entry(
        self, environment: EnvironmentFile, entry_file: str, folder: Path
    ) -> str | None:
        """Return the message for a submission without its entry file."""
        written = environment.commands.entry_file
        if "{entry_file}" not in written or " " in written or written.startswith("-"):
            # An entry that is no file: a module, an option, a command of its own.
            return None
        names = [written.replace("{entry_file}", entry_file)]
        if environment.is_default:
            names.append(f"{entry_file}.py")
        if any((folder / name).exists() for name in names):
            return None
        there = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
        near = nearest(names[-1], there) if there else "the folder is empty"
        return f"the submission has no file {' or '.join(names)}, which it is started with: {near}"


class ContainerEnvironment(EnvironmentType):
    """The types `docker` and `podman`: programs run in containers of an image."""

    is_container = True

    def check(self, environment: EnvironmentFile) -> None:
        from assay.submissions.environments.containers import check_environment

        check_environment(environment)


ENVIRONMENTS = {
    "local": EnvironmentType(),
    "docker": ContainerEnvironment(),
    "podman": ContainerEnvironment(),
}


def find_environment(name: str) -> EnvironmentType:
    """Return an environment type: built in, or from an installed package."""
    return plugins.get("environments", name, ENVIRONMENTS, EnvironmentType)
