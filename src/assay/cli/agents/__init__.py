"""`assay agents`: is the agent right, often enough? Lint and the schema of test files."""

from __future__ import annotations

import click

from assay.cli.agents.lint import lint, schema


@click.group()
def agents() -> None:
    """Hold the conversations of test files with a live agent, as often as they ask.

    FILE is a HOCON, JSON or YAML file with `interactions`, a folder or a glob.
    """


for _command in (lint, schema):
    agents.add_command(_command)
