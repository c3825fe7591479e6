"""`assay submissions`: is the submission right? Run cases, verify, lint, audit."""

from __future__ import annotations

import click

from assay.cli.submissions.audit import audit
from assay.cli.submissions.own_tests import test
from assay.cli.submissions.problems import lint, new, schema
from assay.cli.submissions.run_case import run_case
from assay.cli.submissions.verify import verify


@click.group()
def submissions() -> None:
    """Run a program on the cases of a problem and verify what it produced.

    PROBLEM is a folder, or the name of one under --problem-path.
    """


for _command in (verify, run_case, lint, audit, new, test, schema):
    submissions.add_command(_command)
