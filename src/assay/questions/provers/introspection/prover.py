"""The prover: it finds the target's index, reads a question and hands out proofs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from assay.errors import InputError
from assay.questions.index import build_index
from assay.questions.model import Question
from assay.questions.proof_runners import Attempt, TargetRunner
from assay.questions.provers.introspection.choosing import PROVER, consider, proofs_of
from assay.questions.provers.introspection.guessing import (
    guessed_distributions,
    named_distributions,
)
from assay.questions.provers.introspection.library import Library
from assay.questions.provers.introspection.reading import Noun, Reading, read_question
from assay.questions.provers.introspection.reading.programs import read_program
from assay.sandbox import Environment

# What people write is shorter; longer texts would be read for minutes and understood by nobody.
_LONGEST_STEM = 8_000
_LONGEST_OPTION = 3_000


class IntrospectionProver:
    """Settles by execution what needs no model; it is never given a key."""

    name = PROVER

    def __init__(self) -> None:
        self._libraries: dict[tuple[str, tuple[str, ...], bool], Library] = {}
        self._building = asyncio.Lock()

    async def prove(
        self, question: Question, options: Sequence[str], runner: TargetRunner
    ) -> Attempt:
        """Proofs for those of the options it understands, and why it has none for the others."""
        longest = max(map(len, question.options.values()), default=0)
        if len(question.text) > _LONGEST_STEM or longest > _LONGEST_OPTION:
            return Attempt(reasons=dict.fromkeys(options, "it is too long to be read"))
        library = await self.library(question, runner)
        if isinstance(library, str):
            return Attempt(reasons=dict.fromkeys(options, library))
        reading = read_question(question, options, library)
        proofs = proofs_of(consider(reading))
        proven = {proof.claim.option for proof in proofs}
        reasons = {
            option: why_open(option, reading) for option in reading.offers if option not in proven
        }
        return Attempt(proofs, reasons)

    async def library(self, question: Question, runner: TargetRunner) -> Library | str:
        """The target's names; where there are none, the reason."""
        environment = runner.environment
        if environment is None:
            return "there is no environment whose names could be looked at"
        named = environment.distributions or named_distributions(question)
        wanted = named or guessed_distributions(question)
        if not wanted:
            return "the question names no package that is installed here"
        key = environment.key, tuple(wanted), not named
        async with self._building:
            if key not in self._libraries:
                try:
                    self._libraries[key] = await asyncio.to_thread(
                        _library, environment, tuple(wanted), runner.modules, not named
                    )
                except InputError as error:
                    return f"the names of the target could not be listed: {error}"
        return self._libraries[key]


def _library(
    environment: Environment,
    distributions: tuple[str, ...],
    modules: tuple[str, ...],
    is_guessed: bool,
) -> Library:
    index = build_index(environment, distributions=distributions)
    return Library(index, modules, is_guessed=is_guessed)


def why_open(option: str, reading: Reading) -> str:
    """One sentence on why there is no claim about an option."""
    offer = reading.offers[option]
    if reading.is_elsewhere:
        return "the question is about another version, platform or time than the target's"
    if reading.asks_for_failure:
        return "the question asks for what does not work; that a name exists says too little"
    if reading.asked.noun in (Noun.EXCEPTION, Noun.OUTCOME):
        program = read_program(reading)
        if isinstance(program, str):
            return program
    if offer.whole is None and not offer.mentions:
        return "it is prose that names nothing of the target: it takes judgement, not execution"
    if offer.is_negated and offer.whole is None:
        return (
            "its words may deny what it names or leave a choice, so nothing follows from the names"
        )
    names = ", ".join(f"`{one.code[:60]}`" for one in offer.named[:3])
    return f"of {names} nothing can be proven that would settle it"
