"""Makes a submission ready for a checkpoint: copied once, set up once, then run as often as asked.

Set-up commands are the environment's, the code they run may be the submission's: they run in the
sandbox, in the copy, with the network unless that is turned off, and never with a secret.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from assay.errors import InfrastructureError, InputError
from assay.model import compute_fingerprint
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
    hand_over,
    new_base,
)
from assay.submissions.adapters.assets import bind_assets
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig
from assay.submissions.copying import copy_submission
from assay.submissions.environments import (
    Environment,
    is_secret,
    missing_entry,
    setup_variables_of,
    start_of,
    variables_of,
)
from assay.submissions.seams import Runner, SetUpFailedError
from assay.submissions.tools import Tools, find_tools

DEFAULT_TIMEOUT = 60.0
"""Seconds a case may take if neither it, its group, its checkpoint nor its problem says."""

# How long a case may take is said for every case, so that CPU time needs no bound of its own.
LIMITS = Limits(cpu_time=24 * 3600, processes=256, open_files=1024, output=16 * MIB, work_size=GIB)
_SETUP_LIMITS = Limits(
    wall_time=900, cpu_time=3600, memory=4 * GIB, processes=512, open_files=4096,
    file_size=2 * GIB, output=256 * KIB, work_size=8 * GIB,
)  # fmt: skip
_SHOWN = 4000

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Prepared:
    """A submission, ready for the cases of one checkpoint."""

    problem: ProblemConfig
    checkpoint: CheckpointConfig
    environment: Environment
    base: Base
    level: str
    limits: Limits
    binds: tuple[Bind, ...]
    assets: dict[str, str]
    """The path of every static asset, as a program sees it."""
    start: tuple[str, ...]
    """The command and the entry file, before any argument."""
    digest: str
    """Of the submission and of how it is set up and started."""
    missing: str | None
    """What to say if the file is not there that the submission is started with."""
    programs: Programs = field(compare=False)
    """Where isolated cases run, shared by all groups."""
    tools: Tools

    @property
    def resplits(self) -> bool:
        """Whether arguments were quoted for a shell, as loaders of existing problems do."""
        return self.problem.is_programmed

    def variables(self, group: GroupConfig) -> dict[str, str]:
        """The environment variables of a group's programs."""
        found = variables_of(
            self.environment, os.environ, self.problem.env, self.checkpoint.env, group.env
        )
        return {**self.tools.variables, **found, "PATH": self.tools.path(found.get("PATH"))}

    def runner(self, group: GroupConfig) -> AbstractAsyncContextManager[Runner]:
        """What runs the cases of a group; it ends with the block."""
        from assay.submissions.adapters import runner

        return runner(self, group)

    def seconds(self, group: GroupConfig, case_limit: float | None) -> float:
        """How long a case may take: the nearest limit wins."""
        return case_limit or group.timeout or self.checkpoint.timeout or DEFAULT_TIMEOUT


@asynccontextmanager
async def prepare(
    submission: Path,
    environment: Environment,
    problem: ProblemConfig,
    checkpoint: CheckpointConfig,
    *,
    isolation: str = "auto",
    limits: Limits = LIMITS,
    progress: Progress | None = None,
) -> AsyncIterator[Prepared]:
    """Copy a submission and run its set-up; nothing of it is left after the block.

    Raises SetUpFailedError if a set-up command fails, InfrastructureError for a docker environment.
    """
    environment.check_runnable()
    level = choose(isolation)
    with new_base(level) as base:
        snapshot = environment.snapshot
        content = _copied(submission, base, snapshot.ignore_globs, snapshot.keep_globs)
        assets = bind_assets(problem, base, level)
        tools = find_tools(base, level)
        binds = (*tools.binds, *_own_binds(environment), *assets.values())
        if environment.setup_commands:
            await _set_up(environment, problem, checkpoint, base, level, tools, progress)
        start = start_of(environment, problem.entry_file, base.path)
        _check_command(start[0], environment, base, tools)
        missing = missing_entry(environment, problem.entry_file, base.path)
        async with Programs(isolation=level, limits=limits, binds=binds, base=base) as programs:
            yield Prepared(
                problem, checkpoint, environment, base, level, limits, binds,
                assets={name: bind.inside for name, bind in assets.items()},
                start=tuple(start),
                digest=compute_fingerprint(content, _described(environment)),
                missing=missing,
                programs=programs,
                tools=tools,
            )  # fmt: skip


def _check_command(command: str, environment: Environment, base: Base, tools: Tools) -> None:
    """A command that does not exist is a mistake in the environment, not in the submission."""
    # The tools as this side sees them; inside they have another path.
    own = base.path.parent / Path(tools.folder).name
    path = f"{own}:{tools.path(environment.environment.env.get('PATH'))}"
    if (base.path / command).exists() or shutil.which(command, path=path):
        return
    raise InputError(
        f"the command {command!r} of the environment {environment.name!r} is not found",
        advice="install it, or name another under `commands: command:`",
    )


def _copied(submission: Path, base: Base, ignore: list[str], keep: list[str]) -> str:
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


def _described(environment: Environment) -> dict[str, object]:
    """An environment without the values of its secrets."""
    about = environment.model_dump(mode="json")
    variables = about["environment"]["env"]
    about["environment"]["env"] = {
        name: None if value is None or is_secret(name, value) else value
        for name, value in variables.items()
    }
    return about


def _own_binds(environment: Environment) -> list[Bind]:
    return [Bind(path, path) for path in environment.local.binds]


async def _set_up(
    environment: Environment,
    problem: ProblemConfig,
    checkpoint: CheckpointConfig,
    base: Base,
    level: str,
    tools: Tools,
    progress: Progress | None,
) -> None:
    variables = {
        **tools.setup_variables,
        **setup_variables_of(environment, os.environ, problem.env, checkpoint.env),
    }
    variables["PATH"] = tools.path(variables.get("PATH"))
    if not environment.setup_network:
        variables["UV_OFFLINE"] = "1"
    shell = environment.local.shell or "/bin/sh"
    programs = Programs(
        isolation=level,
        limits=_SETUP_LIMITS,
        binds=(*tools.binds, *_own_binds(environment), *tools.setup_binds),
        network=environment.setup_network,
        base=base,
        work="base",
    )
    async with programs:
        for command in environment.setup_commands:
            if progress:
                progress(f"set-up: {command}")
            result = await programs.run([shell, "-c", command], environment=variables)
            if result.exit_status != 0 or result.limit:
                raise SetUpFailedError(_failure(environment, checkpoint, command, result))
    try:
        hand_over(base, is_private=True)
    except TooDeepError as error:
        what = f"set-up of {checkpoint.name} in environment {environment.name!r} failed"
        raise SetUpFailedError(f"{what}: what it made {error}") from None


def _failure(
    environment: Environment, checkpoint: CheckpointConfig, command: str, result: ProgramResult
) -> str:
    how = f"exceeded its limit {result.limit}" if result.limit else f"exit {result.exit_status}"
    head = f"set-up of {checkpoint.name} in environment {environment.name!r} failed: "
    output = (result.stdout + result.stderr).decode("utf-8", "replace").strip()
    cut = f"…{output[-_SHOWN:]}" if len(output) > _SHOWN else output
    return f"{head}`{command}` ({how})\n{cut}".rstrip()
