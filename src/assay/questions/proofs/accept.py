"""Accepts a proof that somebody wrote: reads, runs, controls and twins it before storing it."""

from __future__ import annotations

import re
from pathlib import Path

from assay.documents import LARGEST_SOURCE, read_text
from assay.errors import InputError
from assay.questions.examination import to_stored
from assay.questions.model import Question
from assay.questions.proof_runners import TargetRunner
from assay.questions.proofs.claims import Claim, Proof, Relation, proof_name
from assay.questions.proofs.proof_file import ProofFile, UnfitProofError, read_proof
from assay.questions.proofs.proving import Trial, try_proof
from assay.questions.proofs.store import ProofStore
from assay.questions.verdict.compounds import read_compounds
from assay.questions.verdict.option_findings import Truth
from assay.sandbox import inspect_proof

_NAMED = re.compile(r"test_option_([A-Za-z0-9]+)_")


def check_proof(
    question: Question, option: str, path: Path, relation: Relation, *, fresh: bool = False
) -> Proof:
    """Return the proof in a file, if it passes all checks that need no execution."""
    check_option(question, option)
    try:
        source = read_text(path, LARGEST_SOURCE, keep_mark=True)
    except OSError as error:
        raise InputError(f"cannot be read: {error}", where=str(path)) from None
    claim = Claim(option, statement_of(source, str(path)), relation, fresh=fresh)
    return check_source(Proof(claim, path.name, source), where=str(path))


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


def check_source(proof: Proof, *, where: str | None = None) -> Proof:
    """Return the same proof, whoever wrote it, if it can be believed before it is run."""
    where = where or proof.file
    named = _NAMED.match(_read(proof.source, where).holds)
    option = proof.claim.option
    if named is not None and named[1] != option:
        raise _refusal(
            f"its tests name option {named[1]}, and option {option} is to be proven", where
        )
    objection = next(iter(inspect_proof(proof.source).objections), None)
    if objection is not None:
        raise _refusal(str(objection), where)
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
    number = 1 + sum(kept.proof.claim.option == proof.claim.option for kept in store.load(question))
    name = proof_name(proof.claim.option, number if beside else 1)
    named = Proof(proof.claim, name, proof.source, proof.prover)
    store.save(
        question,
        [to_stored(Trial(named, trial.settled))],
        runner.lock,
        beside=beside,
    )
    return trial


def _refusal(reason: str, where: str) -> InputError:
    return InputError(
        f"the proof is refused: {reason}",
        where=where,
        advice="docs/questions.md says what a proof must show",
    )
