"""`assay questions`: is the question right? Verify, lint, drift and calibrate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.common import (
    JSON,
    Command,
    RunOptions,
    model_options,
    print_new,
    print_run,
    run_options,
    start_plan,
    take_choice,
    use_colour,
    write_reports,
)
from assay.cli.lint import LintOptions, lint_options, print_findings
from assay.cli.main import LazyGroup
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.models import ModelChoice
    from assay.runs import Ended


COMMANDS = {
    "verify": (
        "assay.cli.questions:verify",
        "Decide for every question whether it is Valid, Ambiguous, Incorrect or Unproven.",
    ),
    "lint": (
        "assay.cli.questions:lint",
        "Find defects that need no execution: each with a code, a place and advice.",
    ),
    "show": (
        "assay.cli.proofs:show",
        "Show the verdict on a question, each option with its finding, and the proofs.",
    ),
    "explain": (
        "assay.cli.proofs:explain",
        "Show what the prover understood of a question, what it tried, and what stayed open.",
    ),
    "claim": (
        "assay.cli.proofs:claim",
        "Show what is claimed about each option and what its proof says, or try another claim.",
    ),
    "prove": (
        "assay.cli.proofs:prove",
        "Take in a proof written by hand, after lint, control and twin.",
    ),
    "drift": (
        "assay.cli.questions:drift",
        "Replay the proofs on several releases and name the one that changed a finding.",
    ),
    "calibrate": (
        "assay.cli.questions:calibrate",
        "Plant defects in the Valid questions of a suite and count how many are found.",
    ),
    "new": (
        "assay.cli.questions:new",
        "Write a first suite of questions, with a snippet and claims, that are Valid.",
    ),
    "schema": (
        "assay.cli.questions:schema",
        "Print the JSON Schema of a suite file, or of the claims beside it.",
    ),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def questions() -> None:
    """Prove every option of benchmark questions against the real library.

    SUITE is a YAML or JSON file, a folder or a glob; one question is FILE::CASE.
    """


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


_FIX = click.option(
    "--fix", is_flag=True, help="Let the model correct what is Incorrect or Ambiguous: a patch."
)


_APPLY = click.option(
    "--apply", "applies", is_flag=True, help="With --fix: edit the suite in place."
)


_COMMIT = click.option(
    "--commit", "commits", is_flag=True, help="With --fix: one commit per corrected question."
)


def fix_options(command: Command) -> Command:
    """Add --fix, --apply and --commit to a command."""
    for option in (_COMMIT, _APPLY, _FIX):
        command = option(command)
    return command


def take_model(given: dict[str, Any]) -> tuple[ModelChoice | None, str | None]:
    """Take the model and what becomes of its corrections out of what click collected.

    A model is asked only where one is named or a fix is wanted, whatever is configured.
    """
    choice = take_choice(given)
    fix, applies, commits = (given.pop(name, False) for name in ("fix", "applies", "commits"))
    if applies and commits:
        raise InputError("--apply and --commit exclude each other", advice="give one of them")
    if (applies or commits) and not fix:
        raise InputError("--apply and --commit need --fix", advice="add --fix")
    named = choice.model not in (None, "none") or choice.url is not None
    limited = choice.max_cost is not None or choice.max_tokens is not None
    if limited and not (named or fix):
        raise InputError("no model is asked, so nothing can be limited", advice="add --model")
    if not (named or fix):
        return None, None
    fixing = "commit" if commits else "apply" if applies else "patch" if fix else None
    return choice, fixing


@click.command()
@click.argument("suites", metavar="SUITE…", nargs=-1, required=True)
@click.option("--out", type=FILE, help="Keep the run in this folder.")
@TARGET
@PROOFS
@CASE
@TYPE
@click.option(
    "--exception-match",
    type=click.Choice(["closest", "isinstance", "exact"]),
    help="Which of several fitting exception classes is right; overrides the suite's.",
)
@click.option(
    "--fail-on", type=click.Choice(["unproven"]), help="Fail also if a question stays unproven."
)
@ISOLATION
@model_options
@fix_options
@run_options
@click.pass_context
def verify(
    ctx: click.Context,
    /,
    suites: tuple[str, ...],
    out: Path | None,
    targets: tuple[str, ...],
    proofs: Path | None,
    cases: tuple[str, ...],
    types: tuple[str, ...],
    exception_match: str | None,
    fail_on: str | None,
    isolation: str,
    **shared: Any,
) -> None:
    """Decide for every question whether it is Valid, Ambiguous, Incorrect or Unproven.

    Stored proofs are run again; what has none is left to the provers that need no model, and with
    --model what they leave open to a model.
    """
    from assay.questions import QuestionsPlan, make_request

    model, fixing = take_model(shared)
    options = RunOptions.of(shared)
    asked = make_request(
        suites,
        targets=targets,
        proofs=proofs,
        cases=cases,
        types=types,
        exception_match=exception_match,
        isolation=isolation,
        jobs=options.jobs,
        model=model,
        fixing=fixing,
    )
    plan = QuestionsPlan(
        asked,
        be_silent if options.quiet else say,
        fail_on_unproven=fail_on == "unproven",
        title=", ".join(suites),
    )
    ctx.exit(print_run(start_plan(plan, out, options), options))


@click.command()
@click.argument("suites", metavar="SUITE…", nargs=-1, required=True)
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="TARGET",
    help="Look imports of snippets up in this; else in the suite's target, if it is built.",
)
@lint_options
@click.pass_context
def lint(
    ctx: click.Context, /, suites: tuple[str, ...], targets: tuple[str, ...], **given: Any
) -> None:
    """Find defects that need no execution: each with a code, a place and advice."""
    from assay import questions

    options = LintOptions(**given)
    print_findings(ctx, questions.lint(*suites, ignore=options.ignore, target=targets), options)


@click.command()
@click.argument("kind", type=click.Choice(["suite", "claims"]), default="suite")
def schema(kind: str) -> None:
    """Print the JSON Schema of a suite file, or of the claims beside it."""
    from assay.questions import claims_schema_text, schema_text

    click.echo(schema_text() if kind == "suite" else claims_schema_text(), nl=False)


@click.command()
@click.argument("name")
@JSON
def new(name: str, as_json: bool) -> None:
    """Write a first suite of questions that are Valid, into the folder NAME."""
    from assay.questions import write_suite

    folder = Path(name)
    command = f"assay questions verify {folder}/suite.yaml"
    print_new(write_suite(folder), command, as_json=as_json)


@click.command()
@click.argument("suites", metavar="SUITE…", nargs=-1, required=True)
@click.option(
    "--releases",
    "--versions",
    "releases",
    required=True,
    metavar="V,V,…|RANGE|all",
    help="Versions with commas, a range such as '>=1.16,<2', or all of the suite's requirement.",
)
@click.option("--package", help="The package they are releases of; else the one the suite names.")
@click.option(
    "--no-search", is_flag=True, help="Do not look for the release between two that differ."
)
@click.option("--out", type=FILE, help="Keep the run in this folder.")
@TARGET
@PROOFS
@CASE
@ISOLATION
@run_options
@click.pass_context
def drift(
    ctx: click.Context,
    /,
    suites: tuple[str, ...],
    releases: str,
    package: str | None,
    no_search: bool,
    out: Path | None,
    targets: tuple[str, ...],
    proofs: Path | None,
    cases: tuple[str, ...],
    isolation: str,
    **shared: Any,
) -> None:
    """Replay the proofs on several releases and name the one that changed a finding.

    In a range only both ends are looked at, and as few releases between them as needed. Exit code
    1 if a verdict or a finding differs, 3 if a version that was named cannot be installed.
    """
    from assay.questions import DriftPlan, make_request

    options = RunOptions.of(shared)
    asked = make_request(
        suites,
        targets=targets,
        proofs=proofs,
        cases=cases,
        isolation=isolation,
        jobs=options.jobs,
    )
    plan = DriftPlan.of(
        asked,
        releases,
        be_silent if options.quiet else say,
        package=package,
        search=not no_search,
        title=", ".join(suites),
    )
    ctx.exit(print_run(start_plan(plan, out, options), options))


@click.command()
@click.argument("suites", metavar="SUITE…", nargs=-1, required=True)
@click.option("--out", type=FILE, help="Keep the run in this folder.")
@TARGET
@PROOFS
@CASE
@click.option(
    "--mutants",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="At most this many mutants per question and kind of defect.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Chooses the mutants.")
@click.option(
    "--labels",
    type=FILE,
    help="What is true of questions: they are verified as they are, defects among them.",
)
@ISOLATION
@model_options
@run_options
@click.pass_context
def calibrate(
    ctx: click.Context,
    /,
    suites: tuple[str, ...],
    out: Path | None,
    targets: tuple[str, ...],
    proofs: Path | None,
    cases: tuple[str, ...],
    mutants: int,
    seed: int,
    labels: Path | None,
    isolation: str,
    **shared: Any,
) -> None:
    """Plant defects in the Valid questions of a suite and say how many of them are found.

    Exit code 1 if a defect is called Valid or anything is accused wrongly.
    """
    from assay.questions import CalibratePlan, make_planting, make_request

    model, _ = take_model(shared)
    options = RunOptions.of(shared)
    asked = make_request(
        suites,
        targets=targets,
        proofs=proofs,
        cases=cases,
        types=("multiple_choice",),
        isolation=isolation,
        jobs=options.jobs,
        model=model,
    )
    progress = be_silent if options.quiet else say
    planting = make_planting(suites, mutants, seed, labels)
    plan = CalibratePlan(asked, planting, progress, title=", ".join(suites))
    ctx.exit(print_calibration(start_plan(plan, out, options), options))


def print_calibration(ended: Ended, options: RunOptions) -> int:
    """Print how many defects were found and return the exit code of the run."""
    from assay.questions import calibration_lines, calibration_of, calibration_values
    from assay.reports import Paint

    code, folder = write_reports(ended.run, options), ended.run.path
    found = calibration_of(ended.run)
    if options.as_json:
        click.echo(json.dumps(calibration_values(found), indent=2, ensure_ascii=False))
    elif options.quiet:
        click.echo(
            f"recall {found.all.recall}, of the whole suite {found.all.suite_recall}, precision "
            f"{found.all.precision}"
        )
    else:
        lines = [*calibration_lines(found, Paint(use_colour())), *ended.notes]
        click.echo("\n".join(lines))
        click.echo(f"kept in {folder}; one question: assay runs show {folder} CASE")
    return code
