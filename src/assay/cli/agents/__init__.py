"""`assay agents`: is the agent right, often enough? Verify, assess, lint."""

from __future__ import annotations

import click

from assay.cli.agents.assess import assess
from assay.cli.agents.lint import lint, schema
from assay.cli.agents.verify import verify


@click.group()
def agents() -> None:
    """Hold the conversations of test files with a live agent, as often as they ask.

    FILE is a HOCON, JSON or YAML file with `interactions`, a folder or a glob.
    """


for _command in (verify, assess, lint, schema):
    agents.add_command(_command)
