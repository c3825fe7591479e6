"""Types of environments: what each does to prepare a submission and to start its program."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from assay import plugins
from assay.errors import InfrastructureError, InputError, nearest

if TYPE_CHECKING:
    from assay.submissions.environments.file import EnvironmentFile


class EnvironmentType:
    """The type `local`: what an environment file says, and nothing more.

    Other types derive from it. Their methods are code of Assay's; the commands that they return run
    in the sandbox. `folder` is the copy of the submission.
    """

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
        # Not `format`, which would stumble over {address} and {port}.
        entry = environment.commands.entry_file.replace("{entry_file}", shlex.quote(name))
        try:
            return shlex.split(f"{environment.commands.command} {entry}")
        except ValueError as error:
            raise InputError(f"the command of environment {environment.name!r}: {error}") from None

    def missing_entry(
        self, environment: EnvironmentFile, entry_file: str, folder: Path
    ) -> str | None:
        """Return what to say if a submission does not have the file that it is started with."""
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


class DockerEnvironment(EnvironmentType):
    """The type `docker`, which is read and cannot be run."""

    def check(self, environment: EnvironmentFile) -> None:
        raise InfrastructureError(
            f"the environment {environment.name!r} is of type docker, which Assay cannot run yet",
            advice="use an environment of type local: its programs are isolated by the sandbox",
        )


ENVIRONMENTS = {"local": EnvironmentType(), "docker": DockerEnvironment()}


def find_environment(name: str) -> EnvironmentType:
    """Return a type of environment: one of Assay's own, or one that an installed package adds."""
    return plugins.get("environments", name, ENVIRONMENTS, EnvironmentType)
