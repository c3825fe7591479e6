"""What the commands that talk to agents share: their options, and what they amount to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.common import run_options_with
from assay.cli.model_options import JUDGE_VOTES, model_options

if TYPE_CHECKING:
    from assay.agents.plan import ConnectionOptions, Sampling
    from assay.agents.trust import Trust
    from assay.config import Config

Command = TypeVar("Command", bound=Callable[..., Any])

FILE = click.Path(path_type=Path)
ALLOW_AGENT = click.option(
    "--allow-agent",
    "allowed_modules",
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
        "connections",
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
    click.option("--no-verify", is_flag=True, help="Do not check the server's certificate."),
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


def take_reach(given: dict[str, Any]) -> ConnectionOptions:
    """Take how agents are reached out of what click collected."""
    from assay.agents.plan import ConnectionOptions

    ca_file = given.pop("ca_file")
    return ConnectionOptions(
        connections=given.pop("connections"),
        host=given.pop("host"),
        port=given.pop("port"),
        url=given.pop("url"),
        command=given.pop("command"),
        ca_file=str(ca_file.absolute()) if ca_file else None,
        verify=not given.pop("no_verify"),
    )


def take_trust(given: dict[str, Any], config: Config) -> Trust:
    """Take which code files may run out of what click collected."""
    from assay.agents.trust import make_trust

    return make_trust(
        config.agents.python_paths, given.pop("allowed_modules"), is_complete=given.pop("trust")
    )


def take_sampling(given: dict[str, Any], config: Config, *, takes_all: bool) -> Sampling:
    """Take how samples are taken out of what click collected."""
    from assay.agents.plan import Sampling

    retries = given.pop("retries")
    return Sampling(
        jobs=given["jobs"] or config.jobs,
        retries=config.agents.retries if retries is None else retries,
        max_connections=given.pop("max_connections"),
        ratio=given.pop("ratio"),
        takes_all=takes_all,
        strict=given.pop("strict"),
    )
