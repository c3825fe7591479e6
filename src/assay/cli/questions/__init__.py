"""`assay questions`: is the question right? Lint, prove, show, explain, verify, drift and
calibrate."""

from __future__ import annotations

import click

from assay.cli.questions.calibrate import calibrate
from assay.cli.questions.drift import drift
from assay.cli.questions.lint import lint, schema
from assay.cli.questions.proofs import explain, prove, show
from assay.cli.questions.verify import verify


@click.group()
def questions() -> None:
    """Prove every option of benchmark questions against the real library.

    SUITE is a YAML or JSON file, a folder or a glob; one question is FILE::CASE.
    """


for _command in (verify, lint, show, explain, prove, drift, calibrate, schema):
    questions.add_command(_command)
