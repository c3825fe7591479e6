"""What the commands of questions share: their options, one question with its runner."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

FILE = click.Path(path_type=Path)
TARGET = click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="TARGET",
    help="Prove against this: a requirement, `current` or a folder; may be given several times.",
)
PROOFS = click.option(
    "--proofs", type=FILE, help="Keep proofs in this folder, not beside the suite."
)
ISOLATION = click.option(
    "--isolation",
    type=click.Choice(["auto", "namespaces", "landlock", "none"]),
    default="auto",
    show_default=True,
    help="How proofs are kept apart from this machine.",
)
CASE = click.option(
    "--case", "cases", multiple=True, metavar="GLOB", help="Only questions with such an id."
)
TYPE = click.option(
    "--type",
    "types",
    multiple=True,
    type=click.Choice(["multiple_choice", "api_understanding", "fix_error"]),
    help="Only questions of this type.",
)


def say(text: str) -> None:
    click.echo(f"assay: {text}", err=True)


def be_silent(text: str) -> None:
    pass


def one_question(
    address: str, targets: tuple[str, ...], proofs: Path | None, isolation: str
) -> tuple[Any, Any]:
    """One question and its runner."""
    from assay.questions.proof_runners import ProofRunners
    from assay.questions.provers import load_provers
    from assay.questions.selection import Selection, build_environments, work_of
    from assay.questions.suite.suite import find_in_suite

    suite, entry = find_in_suite(address)
    selection = Selection(
        (str(suite.path),), str(Path.cwd()), targets, str(proofs) if proofs else None
    )
    work = replace(work_of(suite, entry, selection), identifier=address)
    environments = build_environments([work], say)
    return work, ProofRunners(environments, provers=load_provers(), jobs=2, isolation=isolation)
