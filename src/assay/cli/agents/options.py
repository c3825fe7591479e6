"""What the commands that talk to agents share: their options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from assay.cli.common import run_options_with
from assay.cli.model_options import JUDGE_VOTES, model_options

Command = TypeVar("Command", bound=Callable[..., Any])

FILE = click.Path(path_type=Path)
ALLOW_AGENT = click.option(
    "--allow-agent",
    "allow_agents",
    multiple=True,
    metavar="MODULE",
    help="Let files name `python` agents of this module, wherever it is; may be repeated.",
)
TRUST = click.option(
    "--trust", is_flag=True, help="Let files name any code at all; only for files that you know."
)
_OPTIONS = [
    click.option(
        "--connection",
        multiple=True,
        metavar="NAME",
        help="Talk over this one, whatever the files say; may be given several times.",
    ),
    click.option("--host", help="The host of the agent's server."),
    click.option("--port", type=click.IntRange(1, 65535), help="The port of the agent's server."),
    click.option("--url", help="The address of the agent's server, whole; not for http and https."),
    click.option("--command", help="The program to talk to, for the connection `command`."),
    ALLOW_AGENT,
    TRUST,
    click.option("--ca-file", type=FILE, help="Trust the certificates of this file."),
    click.option(
        "--no-verify",
        "check_certificate",
        flag_value=False,
        default=True,
        help="Do not check the server's certificate.",
    ),
    click.option("--strict", is_flag=True, help="Run nothing if any of the files cannot be used."),
    click.option("--ratio", metavar="N/M", help="So many of so many samples, whatever files say."),
    click.option(
        "--max-connections",
        type=click.IntRange(min=1),
        default=32,
        show_default=True,
        help="How many conversations of all tests are held with one server at a time.",
    ),
    click.option(
        "--retries",
        type=click.IntRange(min=0),
        help="How often a sample that met an outage is tried again; default: 2.",
    ),
    JUDGE_VOTES,
]


agent_run_options = run_options_with(
    "How many samples of one test are taken at a time; default: all that it may need."
)


def agent_options(command: Command) -> Command:
    """Add the options that say how agents are reached and sampled, and who judges."""
    command = model_options(command)
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
