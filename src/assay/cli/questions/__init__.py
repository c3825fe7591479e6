"""`assay questions`: is the question right? Lint, prove, show, explain, verify, drift and
calibrate."""

from __future__ import annotations

import click

from assay.cli.lazy import LazyGroup

COMMANDS = {
    "verify": (
        "assay.cli.questions.verify:verify",
        "Say of every question whether it is Valid, Ambiguous, Incorrect or Unproven.",
    ),
    "lint": (
        "assay.cli.questions.lint:lint",
        "Find defects that need no execution: each with a code, a place and advice.",
    ),
    "show": (
        "assay.cli.questions.proofs:show",
        "Show a question, each option with its finding, and the proofs.",
    ),
    "explain": (
        "assay.cli.questions.proofs:explain",
        "Say what the prover understood of a question, what it tried, and what stayed open.",
    ),
    "prove": (
        "assay.cli.questions.proofs:prove",
        "Take in a proof written by hand, after lint, control and twin.",
    ),
    "drift": (
        "assay.cli.questions.drift:drift",
        "Replay the stored proofs on several versions and name the release of a change.",
    ),
    "calibrate": (
        "assay.cli.questions.calibrate:calibrate",
        "Plant defects in the Valid questions of a suite and say how many are found.",
    ),
    "schema": ("assay.cli.questions.lint:schema", "Print the JSON Schema of a suite file."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def questions() -> None:
    """Prove every option of benchmark questions against the real library.

    SUITE is a YAML or JSON file, a folder or a glob; one question is FILE::CASE.
    """
