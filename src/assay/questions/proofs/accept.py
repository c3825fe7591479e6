"""Accepts a proof that somebody wrote or edited: reads, runs, controls and twins it first."""

from __future__ import annotations

import asyncio
import difflib
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from assay.documents import LARGEST_SOURCE, read_text
from assay.errors import InputError
from assay.questions.examination import find_other_outcome, to_stored
from assay.questions.model import Question
from assay.questions.proof_runners import TargetRunner
from assay.questions.proofs.binding import find_misfit
from assay.questions.proofs.claims import WRITTEN, Claim, Proof, Relation, proof_name
from assay.questions.proofs.proof_file import ProofFile, UnfitProofError, read_proof
from assay.questions.proofs.proving import Trial, try_proof
from assay.questions.proofs.store import MANIFEST, ProofStore, StoredProof
from assay.questions.verdict.compounds import read_compounds
from assay.questions.verdict.option_findings import Truth
from assay.reports import one_line
from assay.sandbox import inspect_proof

_DIFF_LINES = 20
_GIT_SECONDS = 10
_NAMED = re.compile(r"test_option_([A-Za-z0-9]+)_")


def check_proof(
    question: Question, option: str, path: Path, relation: Relation, *, fresh: bool = False
) -> Proof:
    """Return the proof in a file, if it passes all checks that need no execution."""
    try:
        source = read_text(path, LARGEST_SOURCE, keep_mark=True)
    except OSError as error:
        raise InputError(f"cannot be read: {error}", where=str(path)) from None
    claim = Claim(option, statement_of(source, str(path)), relation, fresh=fresh)
    return check_source(question, Proof(claim, path.name, source), where=str(path))


def check_option(question: Question, option: str) -> None:
    """Refuse a proof for an invalid option, or one derived from others."""
    if option not in question.options:
        raise InputError(
            f"the question has no option {option!r}",
            advice=f"its options are {', '.join(question.options)}",
        )
    if option in read_compounds(question):
        raise InputError(
            f"option {option} is derived from the others and needs no proof",
            advice="prove the options it speaks of",
        )


def statement_of(source: str, where: str) -> str:
    """Return what a proof claims, in the words of its docstring."""
    statement = _read(source, where).statement
    if not statement:
        raise _refusal("it does not say what it claims: begin it with a docstring", where)
    return (statement.partition(": ")[2] or statement).rstrip(".")


def check_source(question: Question, proof: Proof, *, where: str | None = None) -> Proof:
    """Return the same proof, whoever wrote it, if it can be believed before it is run."""
    where = where or proof.file
    check_option(question, proof.claim.option)
    named = _NAMED.match(_read(proof.source, where).holds)
    option = proof.claim.option
    if named is not None and named[1] != option:
        raise _refusal(
            f"its tests name option {named[1]}, and option {option} is to be proven", where
        )
    objection = next(iter(inspect_proof(proof.source).objections), None)
    if objection is not None:
        raise _refusal(str(objection), where)
    if (misfit := find_misfit(question, proof)) is not None:
        raise _refusal(misfit, where)
    return proof


def _read(source: str, where: str) -> ProofFile:
    try:
        return read_proof(source)
    except UnfitProofError as error:
        raise _refusal(str(error), where) from None


async def take_in(
    question: Question, proof: Proof, runner: TargetRunner, store: ProofStore, *, beside: bool
) -> Trial:
    """Run a proof and store it if it settles its claim; raise InputError otherwise."""
    trial = await try_proof(proof, runner.proof_runner, modules=runner.modules, question=question)
    if trial.settled.truth not in (Truth.TRUE, Truth.FALSE):
        raise _refusal(trial.settled.reason, proof.file)
    before = [one.proof.claim.option for one in store.inspect(question)]
    number = 1 + before.count(proof.claim.option)
    name = proof_name(proof.claim.option, number if beside else 1)
    named = Proof(proof.claim, name, proof.source, proof.prover)
    store.save(
        question,
        [to_stored(Trial(named, trial.settled))],
        runner.lock,
        beside=beside,
    )
    return trial


async def accept_edits(
    question: Question,
    runner: TargetRunner,
    store: ProofStore,
    say: Callable[[str], None],
    option: str | None = None,
) -> list[InputError]:
    """Take in the stored proofs that are not as they were, after a run; return the refusals.

    What changed is said of each. A proof that is as it was is left alone.
    """
    found = [one for one in store.inspect(question) if option in (None, one.proof.claim.option)]
    if option is not None and not found:
        raise InputError(f"option {option} has no stored proof", where=str(store.folder(question)))

    async def accept(one: StoredProof) -> InputError | None:
        lines: list[str] = []
        try:
            await _accept(question, one, runner, store, lines.append)
        except InputError as error:
            return error
        finally:
            # Several are run at a time; what is said of one stays together.
            for line in lines:
                say(line)
        return None

    refused = await asyncio.gather(*map(accept, found))
    return [error for error in refused if error is not None]


async def _accept(
    question: Question,
    stored: StoredProof,
    runner: TargetRunner,
    store: ProofStore,
    say: Callable[[str], None],
) -> None:
    proof = _revise(stored)
    reason = stored.change
    if reason is None and not stored.is_current:
        if stored.proof.prover != WRITTEN:
            return  # the prover writes it anew
        reason = "the question or the option reads otherwise than when the proof was taken in"
    if reason is not None:
        say(f"{stored.path}: {one_line(reason)}")
        for line in list_differences(stored):
            say(f"  {one_line(line)}")
        check_source(question, proof, where=str(stored.path))
    trial = await try_proof(proof, runner.proof_runner, modules=runner.modules, question=question)
    if reason is None:
        reason = find_other_outcome(stored, trial, runner)
        if reason is None:
            return
        say(f"{stored.path}: {one_line(reason)}")
    if trial.settled.truth is Truth.OPEN:
        raise _refusal(trial.settled.reason, str(stored.path))
    new = to_stored(Trial(proof, trial.settled))
    for name, status in new.outcomes().items():
        if stored.expected.get(name) != status:
            say(f"  {name}: {stored.expected.get(name, 'not expected')} → {status}")
    store.save(question, [new], runner.lock, beside=True)
    claim, truth = proof.claim, trial.settled.truth
    what = "both sides pass" if truth is Truth.BOTH else f"the claim is {truth.value}"
    say(f"  option {claim.option}: {what} ({claim.relation.value})")


def _revise(stored: StoredProof) -> Proof:
    """Return a proof as it is to be taken in: what a person edited is a person's."""
    proof = stored.proof
    if "source" in stored.changes and "claim" not in stored.changes:
        statement = statement_of(proof.source, str(stored.path))
        proof = replace(proof, claim=replace(proof.claim, statement=statement))
    if {"source", "claim"}.isdisjoint(stored.changes):
        return proof
    return replace(proof, prover=WRITTEN)


def list_differences(stored: StoredProof) -> Iterator[str]:
    """Yield what differs from the committed proof: lines of the source, and fields of the claim."""
    source = _read_committed(stored.path)
    if source is None:
        yield f"{stored.path.name} is not committed: what it was before is not known"
    else:
        new = stored.proof.source.splitlines()
        lines = list(difflib.unified_diff(source.splitlines(), new, n=0, lineterm=""))[2:]
        yield from lines[:_DIFF_LINES]
        if len(lines) > _DIFF_LINES:
            yield f"… and {len(lines) - _DIFF_LINES} more lines"
    before = _read_claim(_read_committed(stored.path.with_name(MANIFEST)), stored.path.name)
    now = {**asdict(stored.proof.claim), "prover": stored.proof.prover, "expected": stored.expected}
    for name, value in now.items():
        if name in before and before[name] != value:
            yield f"{name}: {_show(before[name])} → {_show(value)}"


def _read_claim(manifest: str | None, file: str) -> dict[str, Any]:
    """Return the claim of a file in a text of proof.json; empty if there is none."""
    try:
        claims = json.loads(manifest or "{}").get("claims", ())
        return next((one for one in claims if one.get("file") == file), {})
    except (ValueError, AttributeError, TypeError):
        return {}


def _show(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _read_committed(path: Path) -> str | None:
    """Return the text of a file in the newest commit, if it is in one."""
    try:
        shown = subprocess.run(  # noqa: S603 - the words are ours
            ["git", "show", f"HEAD:./{path.name}"],  # noqa: S607 - the user's own git
            cwd=path.parent,
            capture_output=True,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return shown.stdout.decode(errors="replace") if shown.returncode == 0 else None


def _refusal(reason: str, where: str) -> InputError:
    return InputError(
        f"the proof is refused: {reason}",
        where=where,
        advice="docs/questions.md says what a proof must show",
    )
