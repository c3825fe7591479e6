"""`assay submissions`: is the submission right? Run cases, verify, lint, audit."""

from __future__ import annotations

import click

from assay.cli.lazy import LazyGroup

COMMANDS = {
    "verify": (
        "assay.cli.submissions.verify:verify",
        "Run a submission on the cases of a problem and say whether it is right.",
    ),
    "run-case": (
        "assay.cli.submissions.run_case:run_case",
        "Run cases of one checkpoint and print their reports as a JSON array.",
    ),
    "lint": (
        "assay.cli.submissions.problems:lint",
        "Find what is wrong with problems: config, cases, signatures.",
    ),
    "audit": (
        "assay.cli.submissions.audit:audit",
        "Grade the grader: try a problem's verifier on right, empty and wrong results.",
    ),
    "new": (
        "assay.cli.submissions.problems:new",
        "Write a small working problem, with a solution and a broken one.",
    ),
    "test": (
        "assay.cli.submissions.own_tests:test",
        "Run a problem's own test_*.py by pytest, with the reference's names.",
    ),
    "alias": (
        "assay.cli.submissions.own_tests:alias",
        "Make `import slop_code` work in this Python, for a problem's tests.",
    ),
    "schema": (
        "assay.cli.submissions.problems:schema",
        "Print the JSON Schema of problem files, of all kinds or of one.",
    ),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def submissions() -> None:
    """Run a program on the cases of a problem and verify what it produced.

    PROBLEM is a folder, or the name of one under --problem-path.
    """
