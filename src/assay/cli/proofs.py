"""`assay questions prove`, `claim`, `show` and `explain`: one question and its proofs."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import click

from assay.cli.common import JSON, print_json, use_colour
from assay.cli.questions import FILE, ISOLATION, PROOFS, TARGET, say
from assay.config import load_config
from assay.errors import InputError, nearest


@click.command()
@click.argument("address", metavar="FILE::CASE")
@click.option("--option", metavar="LETTER", help="The option that is proven.")
@click.option("--file", "file", type=FILE, help="The pytest file.")
@click.option("--remove", is_flag=True, help="Take the proofs of the option out again.")
@click.option(
    "--accept",
    is_flag=True,
    help="Take in stored proofs as they are now: edited ones, and those that are not bound.",
)
@click.option(
    "--relation",
    type=click.Choice(["necessary", "sufficient", "equivalent"]),
    default="equivalent",
    show_default=True,
    help="What the truth of the claim means for the option.",
)
@click.option("--fresh", is_flag=True, help="Run it in a new interpreter, as imports need it.")
@click.option("--add", "beside", is_flag=True, help="Keep the proofs the option has already.")
@JSON
@TARGET
@PROOFS
@ISOLATION
def prove(
    address: str,
    option: str | None,
    file: Path | None,
    remove: bool,
    accept: bool,
    relation: str,
    fresh: bool,
    beside: bool,
    as_json: bool,
    targets: tuple[str, ...],
    proofs: Path | None,
    isolation: str,
) -> None:
    """Take in a proof written by hand, after lint, control and twin.

    With --accept, the stored proofs of a question, of one option or of a whole FILE are taken in as
    they are now: what changed is shown, each is run, and it is bound to its option again.
    """
    from assay.questions import Question, Relation, check_proof, open_question, take_in

    if accept:
        _accept(address, option, targets, proofs, isolation, as_json=as_json)
        return
    if option is None:
        raise click.UsageError("Missing option '--option'.")
    work, runners = open_question(address, targets, proofs, isolation=isolation, say=say)
    question = work.entry.question
    if not isinstance(question, Question):
        raise InputError("only multiple-choice questions have options", where=address)
    if remove:
        removed = work.store.remove(question, option)
        if as_json:
            print_json({"option": option, "removed": removed})
        else:
            click.echo(f"option {option}: {removed} of its proofs removed")
        return
    if file is None:
        raise InputError("no proof is given", advice="name it with --file, or use --remove")
    had = [kept for kept in work.store.inspect(question) if kept.proof.claim.option == option]
    proof = check_proof(question, option, file, Relation(relation), fresh=fresh)

    async def run() -> Any:
        async with runners:
            runner = runners.of(work.target)
            return await take_in(question, proof, runner, work.store, beside=beside)

    truth, folder = asyncio.run(run()).settled.truth.value, work.store.folder(question)
    replaced = 0 if beside else len(had)
    if as_json:
        told = {"option": option, "truth": truth, "relation": relation}
        print_json({**told, "folder": str(folder), "replaced": replaced})
        return
    click.echo(f"option {option}: the claim is {truth} ({relation})")
    click.echo(f"kept in {folder}" + (f", in place of {replaced} before" if replaced else ""))


def _accept(
    address: str,
    option: str | None,
    targets: tuple[str, ...],
    proofs: Path | None,
    isolation: str,
    *,
    as_json: bool,
) -> None:
    from assay.questions import Question, accept_edits, open_questions

    lines: list[str] = []
    tell = lines.append if as_json else click.echo
    found, runners = open_questions(address, targets, proofs, isolation=isolation, say=say)

    async def run() -> list[InputError]:
        refused = []
        async with runners:
            for work in found:
                question = work.entry.question
                if isinstance(question, Question):
                    runner = runners.of(work.target)
                    refused += await accept_edits(question, runner, work.store, tell, option)
        return refused

    refused = asyncio.run(run())
    if as_json:
        print_json({"accepted": lines, "refused": [str(error) for error in refused]})
    for error in refused:
        click.echo(f"error: {error}", err=True)
    if refused:
        raise click.exceptions.Exit(2)


@click.command()
@click.argument("address", metavar="FILE::CASE")
@click.option("--option", metavar="LETTER", help="Only this option.")
@click.option(
    "--claim",
    "tried",
    metavar="YAML",
    help="Try this claim about the option, without writing it down: '{kind: default, …}'.",
)
@click.option("--proof", "proofs", is_flag=True, help="Print the source of every proof.")
@JSON
@TARGET
@ISOLATION
def claim(
    address: str,
    option: str | None,
    tried: str | None,
    proofs: bool,
    as_json: bool,
    targets: tuple[str, ...],
    isolation: str,
) -> None:
    """Show what is claimed about each option and what its proof says, or try another claim.

    The claims are those of a person, in the question or in the file of claims beside the suite;
    else what the program reads from the words. Stored proofs are not looked at, nothing is kept.
    """
    from assay.questions import Question, claim_lines, open_question, try_claims

    if tried is not None and option is None:
        raise InputError("--claim needs --option", advice="name the option it is about")
    given = None if tried is None or option is None else _read_claim(tried, option)
    work, runners = open_question(address, targets, isolation=isolation, say=say)
    question = work.entry.question
    if not isinstance(question, Question):
        raise InputError("only multiple-choice questions have options", where=address)
    if option is not None and option not in question.options:
        raise InputError(
            f"there is no option {option!r}",
            where=address,
            advice=nearest(option, question.options),
        )

    async def run() -> list[Any]:
        async with runners:
            runner = runners.of(work.target)
            return await try_claims(question, given or work.claims, runner, option)

    found = asyncio.run(run())
    if as_json:
        print_json({"case": address, "claims": [one.values() for one in found]})
    else:
        click.echo("\n".join(claim_lines(question, found, proofs=proofs)))


def _read_claim(text: str, option: str) -> Any:
    from assay.documents import DocumentError, parse_document
    from assay.questions import parse_claim

    try:
        node = parse_document(text)
    except DocumentError as error:
        raise InputError(error.what, where="--claim", advice=error.advice or None) from None
    return parse_claim(node, option, "--claim")


@click.command()
@click.argument("address", metavar="FILE::CASE")
@click.option("--no-proofs", is_flag=True, help="Leave the sources of the proofs out.")
@click.option(
    "--transcript", is_flag=True, help="What a model was asked and answered, in the newest run."
)
@JSON
@TARGET
@PROOFS
@ISOLATION
def show(
    address: str,
    no_proofs: bool,
    transcript: bool,
    as_json: bool,
    targets: tuple[str, ...],
    proofs: Path | None,
    isolation: str,
) -> None:
    """Show the verdict on a question, each option with its finding, and the proofs.

    The proofs are run for it; nothing is written. With --transcript nothing is run.
    """
    if transcript:
        _show_transcript(address, as_json=as_json)
        return
    from assay.questions import Question, open_question, question_lines, verify_one
    from assay.reports import Paint, full_record

    work, runners = open_question(address, targets, proofs, isolation=isolation, say=say)

    async def run() -> Any:
        async with runners:
            return await verify_one(work, runners, writes=False)

    record = asyncio.run(run())
    if as_json:
        print_json(full_record(record.pack()))
        return
    question = work.entry.question
    folder = work.store.folder(question) if isinstance(question, Question) else None
    lines = question_lines(record, Paint(use_colour()), proofs=not no_proofs, folder=folder)
    click.echo("\n".join(lines))


def _show_transcript(address: str, *, as_json: bool) -> None:
    from assay.questions import find_in_suite, latest_transcript, transcript_lines

    suite, entry = find_in_suite(address)
    name = Path(os.path.relpath(suite.path)).as_posix()
    path = latest_transcript(load_config().runs, f"{name}::{entry.id}")
    lines = transcript_lines(path)
    if as_json:
        print_json({"case": address, "file": str(path), "lines": list(lines)})
        return
    for line in lines:
        click.echo(line)


@click.command()
@click.argument("address", metavar="FILE::CASE")
@JSON
@TARGET
@ISOLATION
def explain(address: str, targets: tuple[str, ...], isolation: str, as_json: bool) -> None:
    """Show what the prover understood of a question, what it tried, and why options stay open.

    Proofs are written anew and run; stored ones are not looked at, and nothing is kept.
    """
    from assay.questions import Question, open_question
    from assay.questions import explain as explain_question

    work, runners = open_question(address, targets, isolation=isolation, say=say)
    question = work.entry.question
    if not isinstance(question, Question):
        raise InputError("only multiple-choice questions have options", where=address)

    async def run() -> list[str]:
        async with runners:
            runner = runners.of(work.target)
            return await explain_question(question, runner, work.exception_match)

    lines = asyncio.run(run())
    if as_json:
        print_json({"case": address, "explanation": lines})
    else:
        click.echo("\n".join(lines))
