"""The prover of what a person claims, and the trial of single claims."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from assay.questions.claims import Library, kinds, write_proof
from assay.questions.lexical import LexicalProver
from assay.questions.lexical.parsed_question import parse_question
from assay.questions.lexical.prover import why_open
from assay.questions.lexical.reader import choose, read_claims
from assay.questions.model import Question
from assay.questions.proof_runners import Attempt, TargetRunner
from assay.questions.proofs.binding import find_misfit
from assay.questions.proofs.claims import PERSON, Proof, proof_name
from assay.questions.proofs.proving import try_proof
from assay.questions.verdict.compounds import read_compounds

Claims = Mapping[str, Sequence[kinds.TypedClaim]]


@dataclass(frozen=True)
class PersonProver:
    """Proves the claims of a person about one question; like every prover it sees no key."""

    claims: Claims
    name: ClassVar[str] = PERSON

    async def prove(
        self, question: Question, options: Sequence[str], runner: TargetRunner
    ) -> Attempt:
        """Return a proof for each claim, or the reason why it has none."""
        claimed = [option for option in options if self.claims.get(option)]
        if not claimed:
            return Attempt()
        library = await find_library(question, runner)
        if isinstance(library, str):
            return Attempt(reasons=dict.fromkeys(claimed, library))
        proofs: list[Proof] = []
        reasons: dict[str, str] = {}
        for option in claimed:
            for number, claim in enumerate(self.claims[option], 1):
                proof = write_claim(question, option, claim, library, number)
                if isinstance(proof, str):
                    reasons.setdefault(option, proof)
                else:
                    proofs.append(proof)
        return Attempt(tuple(proofs), reasons)


async def find_library(question: Question, runner: TargetRunner) -> Library | str:
    """Return the target's names, from the prover that has looked them up if there is one."""
    provers = (one for one in runner.provers if isinstance(one, LexicalProver))
    return await next(provers, LexicalProver()).library(question, runner)


def write_claim(
    question: Question,
    option: str,
    claim: kinds.TypedClaim,
    library: Library,
    number: int = 1,
    author: str = PERSON,
) -> Proof | str:
    """Return the proof of somebody's claim, or why there is none."""
    for missing in find_missing(claim, library):
        return missing
    proof = write_proof(option, claim, library, author)
    stem = f"{option}_claim" if author == PERSON else option
    head = replace(proof.claim, by_person=author == PERSON)
    proof = replace(proof, claim=head, file=proof_name(stem, number))
    return find_misfit(question, proof) or proof


# --- What a claim takes for granted ------------------------------------------------------------

# What there may be no such thing of without the claim being wrong about its subject.
_FREE = (kinds.PathExists, kinds.HasOption)


def find_missing(claim: kinds.TypedClaim, library: Library) -> Iterator[str]:
    """Yield what a claim takes for granted and the target does not have, with the nearest names."""
    subject = getattr(claim, "subject", None)
    if subject is not None and not isinstance(claim, _FREE):
        found = library.index.resolve(subject)
        if found is None:
            yield _describe_missing(subject, library)
            return
        part = getattr(claim, "parameter", None) or getattr(claim, "member", None)
        if part is not None and part not in library.names_of(found):
            yield _describe_missing(f"{subject}.{part}", library)
    is_class = isinstance(claim, kinds.InheritsFrom) or (
        isinstance(claim, kinds.Raises | kinds.Warns) and not claim.imports
    )
    value = getattr(claim, "value", None) if is_class else None
    if value is not None and not _is_class(value, library):
        yield _describe_missing(value, library)


def _is_class(path: str, library: Library) -> bool:
    return (
        isinstance(getattr(builtins, path, None), type)
        or library.index.is_foreign(path)
        or library.index.resolve(path) is not None
    )


def _describe_missing(path: str, library: Library) -> str:
    close = " or ".join(f"`{one}`" for one in library.index.nearest(path, 2))
    return f"the target has no `{path}`" + (f"; did you mean {close}?" if close else "")


# --- Trying claims -----------------------------------------------------------------------------


@dataclass(frozen=True)
class ClaimTrial:
    """A claim about an option and what its proof shows; without a claim the reason why."""

    option: str
    claim: kinds.TypedClaim | None
    author: str
    truth: str = "open"
    reason: str = ""
    proof: str = ""

    def values(self) -> dict[str, Any]:
        """Return it as JSON."""
        claim = self.claim
        return {
            "option": self.option,
            "author": self.author,
            "claim": None if claim is None else claim.model_dump(mode="json"),
            "statement": None if claim is None else claim.statement,
            "truth": None if claim is None else self.truth,
            "reason": self.reason,
            "proof": self.proof,
        }


async def try_claims(
    question: Question, claims: Claims, runner: TargetRunner, option: str | None = None
) -> list[ClaimTrial]:
    """Try the claims about each option, or one: those of a person, else what the program reads."""
    library = await find_library(question, runner)
    compounds = read_compounds(question)
    tried: list[ClaimTrial] = []
    for letter in [option] if option else question.options:
        if letter in compounds:
            tried.append(ClaimTrial(letter, None, "", reason="it is derived from other options"))
        elif isinstance(library, str):
            tried.append(ClaimTrial(letter, None, "", reason=library))
        elif claims.get(letter):
            for claim in claims[letter]:
                proof = write_claim(question, letter, claim, library)
                tried.append(await _try(question, letter, claim, proof, runner))
        else:
            read = _read(question, letter, library)
            if isinstance(read, str):
                tried.append(ClaimTrial(letter, None, "", reason=read))
                continue
            proof = write_proof(letter, read, library, LexicalProver.name)
            tried.append(await _try(question, letter, read, proof, runner))
    return tried


def _read(question: Question, option: str, library: Library) -> kinds.TypedClaim | str:
    """Return what the words of an option claim, or why they claim nothing."""
    options = [one for one in question.options if one not in read_compounds(question)]
    parsed = parse_question(question, options, library)
    reading = choose(read_claims(parsed)[option])
    return why_open(option, parsed) if reading is None else reading.claim


async def _try(
    question: Question,
    option: str,
    claim: kinds.TypedClaim,
    proof: Proof | str,
    runner: TargetRunner,
) -> ClaimTrial:
    if isinstance(proof, str):
        return ClaimTrial(option, claim, PERSON, reason=proof)
    trial = await try_proof(proof, runner.proof_runner, modules=runner.modules, question=question)
    settled = trial.settled
    return ClaimTrial(
        option, claim, proof.prover, settled.truth.value, settled.reason, proof.source
    )


def claim_lines(
    question: Question, tried: Sequence[ClaimTrial], *, proofs: bool = False
) -> Iterator[str]:
    """Yield the lines of `assay questions claim`."""
    last = None
    for one in tried:
        if one.option != last:
            yield from ([] if last is None else [""])
            yield f"{one.option}: {' '.join(question.options[one.option].split())}"
            last = one.option
        if one.claim is None:
            yield f"  no claim: {one.reason}"
            continue
        claim = one.claim
        yield f"  {one.truth.upper()}: {claim.statement}"
        yield f"    {one.author}, {claim.kind}, {claim.relation.value}"
        if one.reason:
            yield f"    {one.reason}"
        if proofs and one.proof:
            yield ""
            yield from (f"    {line}".rstrip() for line in one.proof.splitlines())
            yield ""
