"""Takes in a proof that a person wrote: read, run, controlled, twinned, and only then stored."""

from __future__ import annotations

import re
from pathlib import Path

from assay.errors import InputError
from assay.questions.examining import shown
from assay.questions.judging.compounds import read_compounds
from assay.questions.judging.findings import Truth
from assay.questions.laboratories import Laboratory
from assay.questions.model import Question
from assay.questions.proofs.claims import Claim, Proof, Relation
from assay.questions.proofs.proof_file import UnfitProofError, read_proof
from assay.questions.proofs.proving import Trial, try_proof
from assay.questions.proofs.store import ProofStore, proof_name
from assay.sandbox import inspect_proof

_NAMED = re.compile(r"test_option_([A-Za-z0-9]+)_")


def check_proof(
    question: Question, option: str, path: Path, relation: Relation, *, fresh: bool = False
) -> Proof:
    """The proof in a file, if what it says can be believed before it is run."""
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
    try:
        source = path.read_bytes().decode()
        file = read_proof(source)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", where=str(path)) from None
    except UnfitProofError as error:
        raise _refusal(str(error), path) from None
    named = _NAMED.match(file.holds)
    if named is not None and named[1] != option:
        raise _refusal(
            f"its tests name option {named[1]}, and option {option} is to be proven", path
        )
    objection = next(iter(inspect_proof(source).objections), None)
    if objection is not None:
        raise _refusal(str(objection), path)
    if not file.statement:
        raise _refusal("it does not say what it claims: begin it with a docstring", path)
    statement = file.statement.partition(": ")[2] or file.statement
    claim = Claim(option, statement.rstrip("."), relation, fresh=fresh)
    return Proof(claim, path.name, source)


async def take_in(
    question: Question, proof: Proof, laboratory: Laboratory, store: ProofStore, *, beside: bool
) -> Trial:
    """Run a proof and keep it if it settles its claim; an InputError says why not."""
    trial = await try_proof(proof, laboratory.runner, modules=laboratory.modules)
    if trial.settled.truth not in (Truth.TRUE, Truth.FALSE):
        raise _refusal(trial.settled.reason, Path(proof.file))
    number = 1 + sum(kept.proof.claim.option == proof.claim.option for kept in store.load(question))
    name = proof_name(proof.claim.option, number if beside else 1)
    named = Proof(proof.claim, name, proof.source, proof.prover)
    store.save(
        question,
        [shown(Trial(named, trial.settled))],
        laboratory.environment.lock,
        beside=beside,
    )
    return trial


def _refusal(reason: str, path: Path) -> InputError:
    return InputError(
        f"the proof is refused: {reason}",
        where=str(path),
        advice="docs/questions.md says what a proof must show",
    )
