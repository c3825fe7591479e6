"""`assay agents`: is the agent right, often enough? Verify, assess, lint."""

from __future__ import annotations

import click

from assay.cli.lazy import LazyGroup

COMMANDS = {
    "verify": (
        "assay.cli.agents.verify:verify",
        "Hold the conversations of test files and say whether the agent is right often enough.",
    ),
    "assess": (
        "assay.cli.agents.assess:assess",
        "Take all samples of test files and group their failures into modes.",
    ),
    "lint": (
        "assay.cli.agents.lint:lint",
        "Find what is wrong with test files, without an agent.",
    ),
    "schema": ("assay.cli.agents.lint:schema", "Print the JSON Schema of a test file."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def agents() -> None:
    """Hold the conversations of test files with a live agent, as often as they ask.

    FILE is a HOCON, JSON or YAML file with `interactions`, a folder or a glob.
    """
