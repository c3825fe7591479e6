"""`assay questions`: is the question right? Lint, prove, show, verify and drift."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from assay.cli.common import (
    RunOptions,
    conclude,
    executing,
    in_colour,
    run_options,
    start_run,
    use_baseline,
)
from assay.cli.formats import register_formats
from assay.config import load_config
from assay.errors import InputError
from assay.runs import Manifest, Run

_FILE = click.Path(path_type=Path)
_TARGET = click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="TARGET",
    help="Prove against this: a requirement, `current` or a folder; may be given several times.",
)
_PROOFS = click.option(
    "--proofs", type=_FILE, help="Keep proofs in this folder, not beside the suite."
)
_ISOLATION = click.option(
    "--isolation",
    type=click.Choice(["auto", "namespaces", "landlock", "none"]),
    default="auto",
    show_default=True,
    help="How proofs are kept apart from this machine.",
)
_CASE = click.option(
    "--case", "cases", multiple=True, metavar="GLOB", help="Only questions with such an id."
)
_TYPE = click.option(
    "--type",
    "types",
    multiple=True,
    type=click.Choice(["multiple_choice", "api_understanding", "fix_error"]),
    help="Only questions of this type.",
)


@click.group()
def questions() -> None:
    """Prove every option of benchmark questions against the real library.

    SUITE is a YAML or JSON file, a folder or a glob; one question is FILE::CASE.
    """


@questions.command()
@click.argument("suites", metavar="SUITE…", nargs=-1, required=True)
@click.option("--out", type=_FILE, help="Keep the run in this folder.")
@_TARGET
@_PROOFS
@_CASE
@_TYPE
@click.option(
    "--exception-match",
    type=click.Choice(["closest", "isinstance", "exact"]),
    help="Which of several fitting exception classes is right; overrides the suite's.",
)
@click.option(
    "--fail-on", type=click.Choice(["unproven"]), help="Fail also if a question stays unproven."
)
@_ISOLATION
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
    """Say of every question whether it is Valid, Ambiguous, Incorrect or Unproven.

    Stored proofs are run again; what has none is left to the provers that need no model.
    """
    from assay.questions.selection import Selection

    register_formats()
    config, options = load_config(), RunOptions.of(shared)
    selection = Selection(
        suites=tuple(str(Path(one).absolute()) for one in suites),
        folder=str(Path.cwd()),
        targets=targets,
        proofs=str(proofs.absolute()) if proofs else None,
        cases=cases,
        types=types,
        exception_match=exception_match,
    )
    asked: dict[str, Any] = {
        **asdict(selection),
        "isolation": isolation,
        "jobs": options.jobs or config.jobs_or_default(),
    }
    prepared = _prepared(asked, options)
    manifest = Manifest(
        subject="questions",
        title=", ".join(suites),
        asked=json.loads(json.dumps(asked)),
        unverified_fails=fail_on == "unproven",
    )
    folder = start_run(out, manifest, options, config)
    ctx.exit(_carry_out(prepared, folder, asked, options))


def resume(folder: Path, asked: dict[str, Any], options: RunOptions) -> int:
    """Continue a run of `assay questions verify`; `assay runs resume` calls it."""
    register_formats()
    with Run(folder) as run:
        if run.is_being_written():
            raise InputError("another process is writing this run", where=str(folder))
    if options.jobs is not None:
        asked = {**asked, "jobs": options.jobs}
    prepared = _prepared(asked, options)
    use_baseline(folder, options.baseline)
    return _carry_out(prepared, folder, asked, options)


def _prepared(asked: dict[str, Any], options: RunOptions) -> tuple[Any, Any]:
    """The questions and the laboratories; a target that cannot be built ends it here."""
    from assay.questions.laboratories import Laboratories
    from assay.questions.provers import installed_provers
    from assay.questions.selection import Selection, build_environments, samples, select

    names = Selection.__dataclass_fields__
    try:
        fields = {name: asked[name] for name in names}
        isolation, jobs = asked["isolation"], asked["jobs"]
    except KeyError:
        raise InputError("run.json does not say what was asked", advice="start a new run") from None
    lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    work = select(Selection(**{**fields, **lists}))
    say = None if options.quiet else _say
    laboratories = Laboratories(
        build_environments(work, say),
        provers=installed_provers(),
        samples=samples(work),
        jobs=jobs,
        isolation=isolation,
    )
    return work, laboratories


def _say(text: str) -> None:
    click.echo(f"assay: {text}", err=True)


def _carry_out(
    prepared: tuple[Any, Any], folder: Path, asked: dict[str, Any], options: RunOptions
) -> int:
    from assay.questions.quality_report import summary_lines, write_quality_report
    from assay.questions.verifying import verify as verify_questions

    work, laboratories = prepared
    with executing(folder, options, len(work)) as progress:
        verify_questions(folder, work, laboratories, jobs=asked["jobs"], progress=progress)
    with Run(folder) as run:
        written = write_quality_report(run)
        told = summary_lines(run)
    code = conclude(folder, options)
    if not options.as_json and not options.quiet:
        click.echo("\n".join([*told, f"written: {written}"]))
    return code


@questions.command()
@click.argument("address", metavar="FILE::CASE")
@click.option("--option", required=True, metavar="LETTER", help="The option that is proven.")
@click.option("--file", "file", required=True, type=_FILE, help="The pytest file.")
@click.option(
    "--relation",
    type=click.Choice(["necessary", "sufficient", "equivalent"]),
    default="equivalent",
    show_default=True,
    help="What the truth of the claim means for the option.",
)
@click.option("--add", "beside", is_flag=True, help="Keep the proofs the option has already.")
@_TARGET
@_PROOFS
@_ISOLATION
def prove(
    address: str,
    option: str,
    file: Path,
    relation: str,
    beside: bool,
    targets: tuple[str, ...],
    proofs: Path | None,
    isolation: str,
) -> None:
    """Take in a proof written by hand, after lint, control and twin."""
    from assay.questions.claims import Relation
    from assay.questions.intake import check_proof, take_in
    from assay.questions.model import Question

    work, laboratories = _one(address, targets, proofs, isolation)
    question = work.entry.question
    if not isinstance(question, Question):
        raise InputError("only multiple-choice questions have options", where=address)
    proof = check_proof(question, option, file, Relation(relation))

    async def run() -> Any:
        async with laboratories:
            laboratory = laboratories.of(work.target)
            return await take_in(question, proof, laboratory, work.store, beside=beside)

    trial = asyncio.run(run())
    click.echo(f"option {option}: the claim is {trial.settled.truth.value} ({relation})")
    click.echo(f"kept in {work.store.folder(question)}")


@questions.command()
@click.argument("address", metavar="FILE::CASE")
@click.option("--no-proofs", is_flag=True, help="Leave the sources of the proofs out.")
@_TARGET
@_PROOFS
@_ISOLATION
def show(
    address: str,
    no_proofs: bool,
    targets: tuple[str, ...],
    proofs: Path | None,
    isolation: str,
) -> None:
    """Show a question, each option with its finding, and the proofs with their output.

    The proofs are run for it; nothing is written.
    """
    from assay.questions.showing import question_lines
    from assay.questions.verifying import verify_one
    from assay.reports.plain import Paint

    work, laboratories = _one(address, targets, proofs, isolation)

    async def run() -> Any:
        async with laboratories:
            return await verify_one(work, laboratories, writes=False)

    record = asyncio.run(run())
    lines = question_lines(record, Paint(in_colour()), proofs=not no_proofs)
    click.echo("\n".join(lines))


@questions.command()
@click.argument("address", metavar="FILE::CASE")
@_TARGET
@_ISOLATION
def explain(address: str, targets: tuple[str, ...], isolation: str) -> None:
    """Say what the prover understood of a question, what it tried, and why options stay open.

    Proofs are written anew and run; stored ones are not looked at, and nothing is kept.
    """
    from assay.questions.model import Question
    from assay.questions.provers.introspection.explaining import explain as explain_question

    work, laboratories = _one(address, targets, None, isolation)
    question = work.entry.question
    if not isinstance(question, Question):
        raise InputError("only multiple-choice questions have options", where=address)

    async def run() -> list[str]:
        async with laboratories:
            bench = laboratories.of(work.target).bench(work.exception_match)
            return await explain_question(question, bench)

    click.echo("\n".join(asyncio.run(run())))


def _one(
    address: str, targets: tuple[str, ...], proofs: Path | None, isolation: str
) -> tuple[Any, Any]:
    """One question and its laboratory."""
    from assay.questions.addresses import find_in_suite
    from assay.questions.laboratories import Laboratories
    from assay.questions.provers import installed_provers
    from assay.questions.selection import Selection, build_environments, work_of

    suite, entry = find_in_suite(address)
    selection = Selection(
        (str(suite.path),), str(Path.cwd()), targets, str(proofs) if proofs else None
    )
    work = replace(work_of(suite, entry, selection), identifier=address)
    environments = build_environments([work], _say)
    return work, Laboratories(
        environments, provers=installed_provers(), jobs=2, isolation=isolation
    )


@questions.command()
@click.argument("suites", metavar="SUITE…", nargs=-1, required=True)
@click.option("--ignore", multiple=True, metavar="CODE", help="Leave these findings out.")
@click.option(
    "--format",
    "name",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="How findings are printed.",
)
@click.option("--out", type=_FILE, help="Write to this file.")
@click.pass_context
def lint(
    ctx: click.Context,
    /,
    suites: tuple[str, ...],
    ignore: tuple[str, ...],
    name: str,
    out: Path | None,
) -> None:
    """Find defects that need no execution: each with a code, a place and advice."""
    from assay.questions.lint import StaticResolver, findings_text
    from assay.questions.lint import lint as lint_suites
    from assay.questions.suites import read_suites

    ignored = [*load_config().questions.ignore, *ignore]
    findings = lint_suites(read_suites(suites), ignored=ignored, resolve=StaticResolver())
    text = findings_text(findings, name)
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")
    ctx.exit(1 if findings else 0)


@questions.command()
def schema() -> None:
    """Print the JSON Schema of a suite file."""
    from assay.questions.schema import schema_text

    click.echo(schema_text(), nl=False)
