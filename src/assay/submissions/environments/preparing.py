"""Prepares a submission for a checkpoint: copied once, set up once, then run any number of times.

Set-up commands come from the environment, but may run code of the submission: they run in the
sandbox, in the copy, with network access unless it is turned off, and never with secrets. Python
and uv are available beside the programs of the system.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from assay.errors import InfrastructureError, InputError
from assay.model import (
    compute_fingerprint,
)
from assay.sandbox import (
    GIB,
    KIB,
    MIB,
    Base,
    Bind,
    Limits,
    ProgramResult,
    Programs,
    TooDeepError,
    choose,
    find_uv,
    hand_over,
    new_base,
)
from assay.submissions.adapters import find_adapter
from assay.submissions.assets import bind_assets
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig
from assay.submissions.environments.file import (
    EnvironmentFile,
    find_environment,
    is_secret,
    program_variables,
    setup_variables,
)
from assay.submissions.environments.hosts import ProgramHost, ProgramRunner, SandboxHost
from assay.submissions.folders import copy_submission
from assay.submissions.protocols import CaseRunner, SetUpFailedError

DEFAULT_TIMEOUT = 60.0
"""Seconds a case may take if neither it, its group, its checkpoint nor its problem says."""

# How long a case may take is said for every case, so that CPU time needs no bound of its own.
LIMITS = Limits(cpu_time=24 * 3600, processes=256, open_files=1024, output=16 * MIB, work_size=GIB)
SETUP_LIMITS = Limits(
    wall_time=900, cpu_time=3600, memory=4 * GIB, processes=512, open_files=4096,
    file_size=2 * GIB, output=256 * KIB, work_size=8 * GIB,
)  # fmt: skip
_LONGEST_OUTPUT = 4000

Progress = Callable[[str], None]


@dataclass(frozen=True)
class PreparedSubmission:
    """A submission prepared for the cases of one checkpoint."""

    problem: ProblemConfig
    checkpoint: CheckpointConfig
    environment: EnvironmentFile
    base: Base
    host: ProgramHost
    assets: dict[str, str]
    """The path of every static asset, as a program sees it."""
    start: tuple[str, ...]
    """The command and the entry file, before any argument."""
    digest: str
    """Of the submission and of how it is set up and started."""
    missing: str | None
    """What to say if the file is not there that the submission is started with."""
    programs: ProgramRunner = field(compare=False)
    """Where isolated cases run, shared by all groups."""
    tools: Tools | None = None
    """Programs beside those of the system; a container has its image's."""
    default_timeout: float = DEFAULT_TIMEOUT
    own_variables: Mapping[str, str] = field(default_factory=dict)
    """Variables that come before all others."""

    @property
    def resplits(self) -> bool:
        """Whether arguments are quoted for a shell, as loaders of existing problems do."""
        return self.problem.is_programmed

    def variables(self, group: GroupConfig) -> dict[str, str]:
        """Return the environment variables of a group's programs."""
        own = find_environment(self.environment.type).variables(self.environment)
        layers = self.problem.env, self.checkpoint.env, group.env
        found = own | program_variables(self.environment, os.environ, *layers)
        if self.tools is None:
            return {**self.own_variables, **found}
        return {**self.tools.variables, **found, "PATH": self.tools.path(found.get("PATH"))}

    def runner(self, group: GroupConfig) -> AbstractAsyncContextManager[CaseRunner]:
        """Return the runner for the cases of a group; closed at the end of the block."""
        return find_adapter(self.problem.adapter.type).open_runner(self, group)

    def seconds(self, group: GroupConfig, case_limit: float | None) -> float:
        """Return the time limit of a case: the most specific one wins."""
        return case_limit or group.timeout or self.checkpoint.timeout or self.default_timeout


@asynccontextmanager
async def prepare(
    submission: Path,
    environment: EnvironmentFile,
    problem: ProblemConfig,
    checkpoint: CheckpointConfig,
    *,
    isolation: str = "auto",
    limits: Limits = LIMITS,
    progress: Progress | None = None,
) -> AsyncIterator[PreparedSubmission]:
    """Copy a submission and run its set-up; everything is removed after the block.

    Raises SetUpFailedError if a set-up command fails, InfrastructureError if there is no sandbox or
    no engine of containers.
    """
    type_ = find_environment(environment.type)
    type_.check(environment)
    if type_.is_container:
        from assay.submissions.environments.containers import prepare_in_containers

        asked = submission, environment, problem, checkpoint
        async with prepare_in_containers(*asked, limits=limits, progress=progress) as prepared:
            yield prepared
        return
    level = choose(isolation)
    with new_base(level) as base:
        snapshot = environment.snapshot
        content = copy_to_base(submission, base, snapshot.ignore_globs, snapshot.keep_globs)
        assets = bind_assets(problem, base, level)
        tools = find_tools(base, level)
        binds = (*tools.binds, *_own_binds(environment), *assets.values())
        if commands := type_.setup_commands(environment, base.path):
            about = environment, problem, checkpoint
            await _set_up(commands, *about, base, level, tools, progress)
        start = type_.start_command(environment, problem.entry_file, base.path)
        _check_command(start[0], environment, base, tools)
        missing = type_.missing_entry(environment, problem.entry_file, base.path)
        host = SandboxHost(base, level, limits, binds)
        async with host.open_programs() as programs:
            yield PreparedSubmission(
                problem, checkpoint, environment, base, host,
                assets={name: bind.inside for name, bind in assets.items()},
                start=tuple(start),
                digest=compute_fingerprint(content, describe_environment(environment)),
                missing=missing,
                programs=programs,
                tools=tools,
            )  # fmt: skip


def _check_command(command: str, environment: EnvironmentFile, base: Base, tools: Tools) -> None:
    """Raise an InputError if the command of the environment does not exist."""
    # The tools as this side sees them; inside they have another path.
    own = base.path.parent / Path(tools.folder).name
    path = f"{own}:{tools.path(environment.environment.env.get('PATH'))}"
    if (base.path / command).exists() or shutil.which(command, path=path):
        return
    raise InputError(
        f"the command {command!r} of the environment {environment.name!r} is not found",
        advice="install it, or name another under `commands: command:`",
    )


def copy_to_base(submission: Path, base: Base, ignore: list[str], keep: list[str]) -> str:
    try:
        digest = copy_submission(submission, base.path, ignore=ignore, keep=keep)
        hand_over(base, is_private=True)
    except TooDeepError as error:
        raise InputError(
            f"the submission {error}",
            where=str(submission),
            advice="this is the submission's own doing; leave the folder out with "
            "`snapshot: {ignore_globs: […]}` of the environment if it is not needed",
        ) from None
    except OSError as error:
        raise InfrastructureError(f"the submission could not be copied: {error}") from None
    return digest


def describe_environment(environment: EnvironmentFile) -> dict[str, object]:
    """Return an environment without the values of its secrets."""
    about = environment.model_dump(mode="json")
    for name in ("docker", "podman"):
        if about[name] is None:
            del about[name]
    if environment.options:
        about["options"] = environment.options
    variables = about["environment"]["env"]
    about["environment"]["env"] = {
        name: None if value is None or is_secret(name, value) else value
        for name, value in variables.items()
    }
    return about


def _own_binds(environment: EnvironmentFile) -> list[Bind]:
    paths = find_environment(environment.type).binds(environment)
    return [Bind(path, path) for path in paths]


async def _set_up(
    commands: list[str],
    environment: EnvironmentFile,
    problem: ProblemConfig,
    checkpoint: CheckpointConfig,
    base: Base,
    level: str,
    tools: Tools,
    progress: Progress | None,
) -> None:
    variables = {
        **tools.setup_variables,
        **find_environment(environment.type).variables(environment),
        **setup_variables(environment, os.environ, problem.env, checkpoint.env),
    }
    variables["PATH"] = tools.path(variables.get("PATH"))
    if not environment.setup_network:
        variables["UV_OFFLINE"] = "1"
    shell = environment.local.shell or "/bin/sh"
    programs = Programs(
        isolation=level,
        limits=SETUP_LIMITS,
        binds=(*tools.binds, *_own_binds(environment), *tools.setup_binds),
        network=environment.setup_network,
        base=base,
        work="base",
    )
    async with programs:
        for command in commands:
            if progress:
                progress(f"set-up: {command}")
            result = await programs.run([shell, "-c", command], environment=variables)
            if result.exit_status != 0 or result.limit:
                raise SetUpFailedError(describe_failure(environment, checkpoint, command, result))
    try:
        hand_over(base, is_private=True)
    except TooDeepError as error:
        what = f"set-up of {checkpoint.name} in environment {environment.name!r} failed"
        raise SetUpFailedError(f"{what}: what it made {error}") from None


def describe_failure(
    environment: EnvironmentFile, checkpoint: CheckpointConfig, command: str, result: ProgramResult
) -> str:
    how = f"exceeded its limit {result.limit}" if result.limit else f"exit {result.exit_status}"
    head = f"set-up of {checkpoint.name} in environment {environment.name!r} failed: "
    output = (result.stdout + result.stderr).decode("utf-8", "replace").strip()
    cut = f"…{output[-_LONGEST_OUTPUT:]}" if len(output) > _LONGEST_OUTPUT else output
    return f"{head}`{command}` ({how})\n{cut}".rstrip()


_SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
_SYSTEM_FOLDERS = ("/usr/", "/bin/", "/lib/", "/lib64/")
_QUIET = {
    "UV_PYTHON_DOWNLOADS": "never",
    "UV_LINK_MODE": "copy",
    "UV_NO_PROGRESS": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
}


@dataclass(frozen=True)
class Tools:
    """Binds, and the variables with which programs find them."""

    folder: str
    """Where `python` and `uv` are, as a program sees it."""
    binds: tuple[Bind, ...]
    setup_binds: tuple[Bind, ...]
    cache: str
    uv_cache: str
    more_path: tuple[str, ...] = ()

    def path(self, own: str | None) -> str:
        """Return the PATH of a program: these tools, the environment's own, then the system's."""
        asked = own.split(":") if own else []
        return ":".join(dict.fromkeys([self.folder, *asked, *self.more_path, *_SYSTEM_PATH]))

    @property
    def variables(self) -> dict[str, str]:
        """For cases, which have no network: what set-up has made is what there is."""
        own = {"UV_CACHE_DIR": self.uv_cache, "UV_OFFLINE": "1", "UV_NO_SYNC": "1"}
        return _QUIET | own

    @property
    def setup_variables(self) -> dict[str, str]:
        """For set-up commands, which may download: a cache that outlives a single command."""
        names = {"XDG_CACHE_HOME": "", "UV_CACHE_DIR": "/uv", "PIP_CACHE_DIR": "/pip"}
        return _QUIET | {name: f"{self.cache}{end}" for name, end in names.items()}


def find_tools(base: Base, level: str) -> Tools:
    """Place the tools beside the base."""
    holder = base.path.parent
    folder, cache = holder / "tools", holder / "cache"
    for path in (folder, cache):
        path.mkdir(mode=0o755)
    if base.user is not None:
        os.chown(cache, base.user, base.user)
    python = _python(others=level == "landlock" and base.user is not None)
    for name in ("python", "python3"):
        (folder / name).symlink_to(python)
    uv = _put_uv(folder, copied=level == "landlock" and base.user is not None)
    has_namespaces = level == "namespaces"
    seen = "/tools" if has_namespaces else str(folder)
    seen_cache = "/cache" if has_namespaces else str(cache)
    binds = [Bind(str(folder), seen), *uv]
    more = _prefix(python)
    if more is not None:
        binds.append(Bind(str(more), str(more)))
    return Tools(
        folder=seen,
        binds=tuple(binds),
        setup_binds=(Bind(str(cache), seen_cache, True),),
        cache=seen_cache,
        uv_cache="/tmp/uv" if has_namespaces else ".uv-cache",  # noqa: S108 - a program's own
        more_path=() if more is None else (str(more / "bin"),),
    )


def _python(*, others: bool) -> Path:
    """Return the Python that Assay runs on, or the system's if other users cannot reach it."""
    own = Path(getattr(sys, "_base_executable", None) or sys.executable).resolve()
    if not others or _is_public(own):
        return own
    found = shutil.which("python3", path=":".join(_SYSTEM_PATH))
    if found is None:
        raise InfrastructureError(
            f"programs cannot reach the Python {own} without namespaces",
            advice="install a Python for the system, or make that one readable for all users",
        )
    return Path(found).resolve()


def _is_public(path: Path) -> bool:
    """Return whether every user can reach and run a file."""
    return all(one.stat().st_mode & stat.S_IXOTH for one in (path, *path.parents))


def _prefix(python: Path) -> Path | None:
    """Return the folder that contains a Python, unless programs see it anyway."""
    return None if str(python).startswith(_SYSTEM_FOLDERS) else python.parent.parent


def _put_uv(folder: Path, *, copied: bool) -> list[Bind]:
    """Add uv to the tools, if available."""
    try:
        uv = Path(find_uv()).resolve()
    except InfrastructureError:
        return []
    if copied and not _is_public(uv):
        shutil.copy(uv, folder / "uv")
        return []
    (folder / "uv").symlink_to(uv)
    return [] if str(uv).startswith(_SYSTEM_FOLDERS) else [Bind(str(uv), str(uv))]
