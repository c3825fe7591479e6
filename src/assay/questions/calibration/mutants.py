"""Mutants: a sound question with one defect planted in it, and what must be said of it.

Pure: the same question and seed give the same mutants. A defect is planted only where it is certain
that it is one, so that whoever does not find it has missed something.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random

from assay.questions.calibration.mutations import in_code, shuffle_options
from assay.questions.calibration.wording import drifted, either, reworded
from assay.questions.model import Question
from assay.questions.verdict.compounds import CompoundKind, read_compounds
from assay.questions.verdict.stems import classify
from assay.questions.verdict.verdict import Verdict

_NONE = "None of the above"


class Defect(StrEnum):
    """What is wrong with a mutant."""

    KEY_SWAPPED = "key-swapped"
    ANSWER_REMOVED = "answer-removed"
    ANSWER_DOUBLED = "answer-doubled"
    DISTRACTOR_TRUE = "distractor-true"
    NAME_DRIFTED = "name-drifted"
    QUESTION_BLURRED = "question-blurred"


# What each defect must be called.
EXPECTED = {
    Defect.KEY_SWAPPED: Verdict.INCORRECT,
    Defect.ANSWER_REMOVED: Verdict.INCORRECT,
    Defect.ANSWER_DOUBLED: Verdict.AMBIGUOUS,
    Defect.DISTRACTOR_TRUE: Verdict.AMBIGUOUS,
    Defect.NAME_DRIFTED: Verdict.INCORRECT,
    Defect.QUESTION_BLURRED: Verdict.AMBIGUOUS,
}


@dataclass(frozen=True)
class Mutant:
    """A mutated question with its key, and what is known of it; without a defect it is sound.

    `answers` are the options that are right by now, or None where nobody can say. The question
    keeps its id, so that its prover cannot tell a mutant from the original.
    """

    name: str
    defect: Defect | None
    question: Question
    key: str
    change: str
    answers: frozenset[str] | None


def sound_variants(question: Question, key: str, seed: int = 0) -> Iterator[Mutant]:
    """The question itself, and the same with its options in another order."""
    yield Mutant("sound", None, question, key, "nothing is changed", frozenset({key}))
    shuffled = shuffle_options(question, key, _chance(question, "sound", seed))
    if shuffled is not None:
        change = "the options stand in another order"
        yield Mutant("sound-shuffled", None, *shuffled, change, frozenset({shuffled[1]}))


def mutants(
    question: Question,
    key: str,
    seed: int = 0,
    count: int = 1,
    *,
    shadowed: Collection[str] = (),
) -> Iterator[Mutant]:
    """At most so many mutants of each kind.

    `shadowed` are options that fail only because the right one fits better, as a broader exception
    does: without the right one they would be right.
    """
    sound = _Sound.of(question, key, bool(shadowed))
    for defect, plant in _PLANTERS.items():
        chance = _chance(question, defect, seed)
        made = list(plant(sound))
        for mutant in chance.sample(made, min(count, len(made))):
            assert mutant.defect is defect
            yield mutant


def _chance(question: Question, name: str, seed: int) -> Random:
    return Random(f"{seed} {question.id} {name}")  # noqa: S311 - to repeat, not to hide


@dataclass(frozen=True)
class _Sound:
    """A question with what planting a defect has to know of it."""

    question: Question
    key: str
    distractors: tuple[str, ...]
    parts: frozenset[str]
    none: str | None
    is_simple: bool
    is_negated: bool
    has_heir: bool

    @classmethod
    def of(cls, question: Question, key: str, is_shadowing: bool) -> _Sound:
        compounds, stem = read_compounds(question), classify(question.text)
        nones = [one for one, found in compounds.items() if found.kind is CompoundKind.NONE]
        ordinary = [one for one in question.options if one not in compounds]
        return cls(
            question=question,
            key=key,
            distractors=tuple(one for one in ordinary if one != key),
            parts=frozenset(compounds[key].parts if key in compounds else ()),
            none=nones[0] if nones else None,
            # Where options speak of each other, changing one changes what others say.
            is_simple=key in ordinary and len(compounds) == len(nones) <= 1,
            is_negated=stem.negated,
            # Without the best one the second best is the best.
            has_heir=is_shadowing or not stem.strict,
        )

    @property
    def answer(self) -> str:
        return self.question.options[self.key]

    def mutant(
        self,
        defect: Defect,
        suffix: str,
        change: str,
        answers: frozenset[str] | None,
        **fields: object,
    ) -> Mutant:
        key = str(fields.pop("key", self.key))
        question = replace(self.question, **fields)  # type: ignore[arg-type] # fields of a question
        return Mutant(f"{defect}-{suffix}", defect, question, key, change, answers)

    def with_option(self, letter: str, text: str) -> dict[str, str]:
        return {**self.question.options, letter: text}


def swap_key(sound: _Sound) -> Iterator[Mutant]:
    """Another option is keyed as right."""
    for letter in sound.distractors:
        change = f"the key is {letter} and not {sound.key}"
        answers = frozenset({sound.key}) | sound.parts
        yield sound.mutant(Defect.KEY_SWAPPED, letter, change, answers, key=letter)


def remove_answer(sound: _Sound) -> Iterator[Mutant]:
    """The right option is gone, "None of the above" is there, and a distractor is the key."""
    if not sound.is_simple or sound.has_heir or len(sound.distractors) < 2:
        return
    texts = [text for letter, text in sound.question.options.items() if letter != sound.key]
    if sound.none is None:
        texts.append(_NONE)
    letters = list(sound.question.options)
    options = dict(zip(letters[: len(texts)], texts, strict=True))
    said = _NONE if sound.none is None else sound.question.options[sound.none]
    none = next(letter for letter, text in options.items() if text == said)
    for letter in options:
        if letter != none:
            change = f"the right option is gone, the key is {letter}, and {none} says none is right"
            yield sound.mutant(
                Defect.ANSWER_REMOVED,
                letter,
                change,
                frozenset({none}),
                options=options,
                key=letter,
            )


def double_answer(sound: _Sound) -> Iterator[Mutant]:
    """A distractor says what the right option says, in other words."""
    if not sound.is_simple:
        return
    text = reworded(sound.answer)
    for letter in sound.distractors:
        yield sound.mutant(
            Defect.ANSWER_DOUBLED,
            letter,
            f"{letter} says the same as {sound.key}: {text}",
            frozenset({sound.key, letter}),
            options=sound.with_option(letter, text),
        )


def make_distractor_true(sound: _Sound) -> Iterator[Mutant]:
    """A distractor answers the question too, but says something else than the right option."""
    if not sound.is_simple:
        return
    for letter in sound.distractors:
        given = sound.question.options[letter]
        # Where what does not exist is asked for, a name that does not exist is an answer.
        text = drifted(given) if sound.is_negated else either(given, sound.answer)
        if text is not None:
            yield sound.mutant(
                Defect.DISTRACTOR_TRUE,
                letter,
                f"{letter} is true by now: {text}",
                frozenset({sound.key, letter}),
                options=sound.with_option(letter, text),
            )


def drift_name(sound: _Sound) -> Iterator[Mutant]:
    """The right option calls something by a name that it does not have."""
    text = drifted(sound.answer)
    if not sound.is_simple or sound.has_heir or sound.is_negated or text is None:
        return
    yield sound.mutant(
        Defect.NAME_DRIFTED,
        sound.key,
        f"the key says {text}",
        frozenset({sound.none} if sound.none else ()),
        options=sound.with_option(sound.key, text),
    )


def blur_question(sound: _Sound) -> Iterator[Mutant]:
    """The stem no longer says what it is about."""
    text = in_code(sound.question.text, lambda code: "something" if code[:3] != "```" else "")
    if text == sound.question.text and sound.question.snippet is None:
        return
    change = f"the question does not say what it is about: {' '.join(text.split())}"
    yield sound.mutant(Defect.QUESTION_BLURRED, "stem", change, None, text=text, snippet=None)


_PLANTERS: dict[Defect, Callable[[_Sound], Iterator[Mutant]]] = {
    Defect.KEY_SWAPPED: swap_key,
    Defect.ANSWER_REMOVED: remove_answer,
    Defect.ANSWER_DOUBLED: double_answer,
    Defect.DISTRACTOR_TRUE: make_distractor_true,
    Defect.NAME_DRIFTED: drift_name,
    Defect.QUESTION_BLURRED: blur_question,
}
