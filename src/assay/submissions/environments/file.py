"""Environments: how a submission is started and with which variables, read from a file (`-e`).

The format is that of existing environment files; keys that mean nothing here are tolerated, but
not those that are almost one that does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
)

from assay import documents
from assay.documents import DocumentError, Node, places, read_document, typed
from assay.errors import InputError
from assay.findings import Finding
from assay.submissions.environments.types import find_environment
from assay.submissions.misspelling import near_miss
from assay.submissions.problems.fields import repeated_keys

_SECRET_NAMES = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|PASSWD|CREDENTIAL|AUTH|COOKIE|SESSION|PRIVATE|SIGNATURE"
    r"|DSN$|_PAT$|^PAT$|CONNECTION_STRING|(?:DATABASE|REDIS|MONGO\w*|AMQP|BROKER)_UR[IL]$",
    re.IGNORECASE,
)
_ADDRESS_WITH_PASSWORD = re.compile(r"://[^/\s@]*:[^/\s@]+@")
# What belongs to this process's own place on the machine and would be wrong in any other.
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


def _text(value: Any) -> Any:
    """YAML reads `PORT: 8000` as a number; a variable is text."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


_Text = Annotated[str, BeforeValidator(_text)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Variables(_Part):
    """Environment variables; one without a value is taken from whoever runs Assay."""

    env: dict[str, _Text | None] = Field(default_factory=dict)
    include_os_env: bool = False


class SetUp(_Part):
    """Commands that run once per checkpoint, through a shell, in the copy of the submission."""

    commands: list[str] = Field(default_factory=list)
    eval_commands: list[str] = Field(default_factory=list)


class StartCommand(_Part):
    """How the program is started: a command, and how its entry file is written after it."""

    command: str = "python"
    entry_file: str = "{entry_file}"


class Snapshot(_Part):
    """Which files of a submission count."""

    keep_globs: list[str] = Field(default_factory=list)
    ignore_globs: list[str] = Field(default_factory=lambda: ["*.pyc", "venv/*", ".venv/*"])


class Local(_Part):
    """What is special about this machine."""

    shell: str | None = None
    binds: list[str] = Field(default_factory=list)
    """Folders of this machine that programs may read beside its system folders."""


class EnvironmentFile(_Part):
    """An environment file, read."""

    type: str = "local"
    name: str = "default"
    environment: Variables = Field(default_factory=Variables)
    setup: SetUp = Field(default_factory=SetUp)
    setup_network: bool = True
    commands: StartCommand = Field(default_factory=StartCommand)
    snapshot: Snapshot = Field(default_factory=Snapshot)
    local: Local = Field(default_factory=Local)
    is_default: bool = Field(default=False, exclude=True)
    _options: dict[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def options(self) -> dict[str, Any]:
        """What a type of a plugin's is told: the mapping under its name."""
        return self._options


DEFAULT = EnvironmentFile(is_default=True)


def load_environment(
    path: Path | None, on_warning: Callable[[Finding], None] | None = None
) -> EnvironmentFile:
    """The environment of a file, or the default one.

    Of a key that stands twice the last is used, and `on_warning` is given a finding.
    """
    if path is None:
        return DEFAULT
    try:
        document = read_document(path)
    except DocumentError as error:
        where = f"{path}:{error.line}"
        raise InputError(error.what, where=where, advice=error.advice or None) from None
    if on_warning is not None:
        for finding in repeated_keys(document, path, "warning"):
            on_warning(finding)
    content = typed(document)
    if not isinstance(content, dict):
        raise InputError("is not an environment", where=str(path), advice="write keys and values")
    content.pop("is_default", None)
    _refuse_misspelt(EnvironmentFile, document, path)
    known = places(document, path)
    try:
        # An empty section, `env:` say, is one that was left out.
        environment = EnvironmentFile.model_validate(_without_nulls(content))
    except ValidationError as error:
        first = error.errors()[0]
        keys = [str(part) for part in first["loc"]]
        while keys and ".".join(keys) not in known:
            keys.pop()
        raise InputError(
            f"{'.'.join(map(str, first['loc']))}: {first['msg']}", where=str(known[".".join(keys)])
        ) from None
    try:
        find_environment(environment.type)
    except InputError as error:
        where = str(known.get("type", path))
        raise InputError(f"type: {error.what}", where=where, advice=error.advice) from None
    own = content.get(environment.type)
    if environment.type not in EnvironmentFile.model_fields and isinstance(own, dict):
        environment._options = own
    return environment


def _refuse_misspelt(model: type[BaseModel], node: Node, path: Path) -> None:
    for pair in node.pairs if isinstance(node, documents.Mapping) else ():
        known = model.model_fields.get(pair.key)
        near = None if known else near_miss(pair.key, model.model_fields)
        if near is not None:
            what, where = f"there is no key `{pair.key}` here", f"{path}:{pair.line}"
            raise InputError(what, where=where, advice=f"did you mean {near!r}?")
        inner = known.annotation if known else None
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            _refuse_misspelt(inner, pair.value, path)


def _without_nulls(content: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _without_nulls(value) if isinstance(value, dict) and key != "env" else value
        for key, value in content.items()
        if value is not None
    }


def is_secret(name: str, value: str = "") -> bool:
    """Whether a variable looks like one that must not reach a stranger's program."""
    return bool(_SECRET_NAMES.search(name) or _ADDRESS_WITH_PASSWORD.search(value))


def program_variables(
    environment: EnvironmentFile, system: Mapping[str, str], *layers: Mapping[str, str]
) -> dict[str, str]:
    """The variables of a program: the system's if asked for, the environment's, then the layers'.

    A secret of the system comes along only if the environment names it.
    """
    found = _included(system) if environment.environment.include_os_env else {}
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
    """Those of the set-up commands: the same without any secret, and what the network needs."""
    network = {name: value for name, value in system.items() if _OF_THE_NETWORK.fullmatch(name)}
    found = {**network, **program_variables(environment, system, *layers)}
    return {name: value for name, value in found.items() if not is_secret(name, value)}


def _included(system: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in system.items()
        if name not in _OF_THE_PLACE and not is_secret(name, value)
    }
