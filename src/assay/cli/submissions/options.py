"""What the commands of submissions share: their options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

FILE = click.Path(path_type=Path)
PROBLEM = click.option(
    "--problem", "-p", required=True, help="The problem: a folder, or a name in --problem-path."
)
PROBLEM_PATH = click.option(
    "--problem-path",
    type=FILE,
    default=Path("problems"),
    show_default=True,
    help="Where problems are looked up by name.",
)
SNAPSHOT = click.option(
    "--snapshot", "-s", type=FILE, required=True, help="The submission's folder."
)
ALLOW_OUTSIDE = click.option(
    "--allow-outside",
    is_flag=True,
    help="Let a problem name files outside of its folder; only for problems that you know.",
)
_OPTIONS = [
    PROBLEM,
    PROBLEM_PATH,
    ALLOW_OUTSIDE,
    click.option("--environment", "-e", type=FILE, help="How programs are set up and started."),
    click.option("--group", "-g", metavar="GLOB", help="Only groups with such a name."),
    click.option("--case", metavar="GLOB", help="Only cases with such an id."),
    click.option(
        "--isolation",
        type=click.Choice(["auto", "namespaces", "landlock", "none"]),
        default="auto",
        show_default=True,
        help="How the submission is kept apart from this machine.",
    ),
]


def submission_options(command: Command) -> Command:
    """Add the options that say what is run, how and which part of it."""
    return SNAPSHOT(problem_options(command))


def problem_options(command: Command) -> Command:
    """The same without the submission, for commands that know which one."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def say(text: str) -> None:
    click.echo(f"assay: {text}", err=True)
