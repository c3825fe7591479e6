"""Mutants: a sound question with one planted defect, and the verdicts expected for it.

Pure functions: the same question and seed give the same mutants. A defect is planted only where it
is certain to be one, so a verifier that does not find it has missed something.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random
from typing import TypeAlias

from assay.questions.model import Question
from assay.questions.verdict.compounds import CompoundKind, read_compounds
from assay.questions.verdict.stems import classify
from assay.questions.verdict.verdict import Verdict

# A question and the letter of its key.
Mutated: TypeAlias = tuple[Question, str]

_CODE = re.compile(r"(```.*?```|~~~.*?~~~|`[^`]*`|^ {4}[^\n]*$)", re.DOTALL | re.MULTILINE)


def in_prose(text: str, change: Callable[[str], str]) -> str:
    """Change the words of a stem and leave its code alone."""
    return _split(text, change, lambda code: code)


def in_code(text: str, change: Callable[[str], str]) -> str:
    """Change the code of a stem, with the marks around it, and leave its words alone."""
    return _split(text, lambda prose: prose, change)


def _split(text: str, prose: Callable[[str], str], code: Callable[[str], str]) -> str:
    parts = _CODE.split(text)
    return "".join(code(part) if place % 2 else prose(part) for place, part in enumerate(parts))


def with_options(question: Question, options: Mapping[str, str], key: str) -> Mutated | None:
    """Return the question with other options; None if they are the same."""
    changed = list(options.items()) != list(question.options.items())
    return (replace(question, options=dict(options)), key) if changed else None


def shuffle_options(question: Question, key: str, chance: Random) -> Mutated | None:
    """Other letters for the same options; "None of the above" stays where it is."""
    compounds = read_compounds(question)
    if any(compound.named for compound in compounds.values()):
        return None
    letters = [letter for letter in question.options if letter not in compounds]
    moved = dict(zip(letters, chance.sample(letters, len(letters)), strict=True))
    places = {moved.get(letter, letter): text for letter, text in question.options.items()}
    options = {letter: places[letter] for letter in question.options}
    return with_options(question, options, moved.get(key, key))


_WHOLE_CODE = re.compile(r"`([^`]+)`[.]?")
_INLINE_CODE = re.compile(r"`([^`]+)`")
_IMPORT = re.compile(r"from [\w.]+ import (\w+)")
_QUOTED = re.compile(r"'([^'\"\\]*)'")
_WORD = re.compile(r"[A-Za-z_]\w*")
_TEXT = re.compile(r"'[^']*'|\"[^\"]*\"")


def reword(text: str) -> str:
    """Return the same in other words, whatever it says."""
    whole = _WHOLE_CODE.fullmatch(text.strip())
    code = whole[1] if whole else text.strip()
    mark = "`" if whole else ""
    if imported := _IMPORT.fullmatch(code):
        return f"{mark}{code} as {imported[1]}{mark}"
    if quoted := _QUOTED.fullmatch(code):
        return f'{mark}"{quoted[1]}"{mark}'
    if _WORD.fullmatch(code):
        return f"The one called {mark}{code}{mark}"
    if whole:
        return f"This one: {text.strip()}"
    return f"It is true that {_lower_first(text.strip())}"


def either(text: str, other: str) -> str:
    """Return the statement that one or the other is correct."""
    first, second = (one.strip().rstrip(".") for one in (text, other))
    return f"Either this: {first}; or this: {second}"


def rename_last(text: str) -> str | None:
    """Return the text with a nonexistent name in it; None if it names nothing."""
    names = [
        found
        for place in (_INLINE_CODE.finditer(text) if "`" in text else _bare(text))
        for found in _names(
            text, place.start(place.lastindex or 0), place.end(place.lastindex or 0)
        )
    ]
    if not names:
        return None
    # The last name of a path is the one that a release renames.
    start, end = names[-1]
    return text[:start] + _rename(text[start:end]) + text[end:]


def list_names(text: str) -> list[str]:
    """Return the names in the code of an option that are not Python's own."""
    places = _INLINE_CODE.finditer(text) if "`" in text else _bare(text)
    return [
        text[start:end]
        for place in places
        for start, end in _names(
            text, place.start(place.lastindex or 0), place.end(place.lastindex or 0)
        )
    ]


def _bare(text: str) -> list[re.Match[str]]:
    """Return an option that is only a name, a path or a call, without quotes."""
    found = re.fullmatch(r"\s*([\w.]+(?:\(.*\))?)\s*", text)
    return [found] if found and re.search(r"[_.(]|[a-z][A-Z]", text) else []


def _names(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the names in a piece of code that are not Python's own; of a call, those before it."""
    code = text[start:end].partition("(")[0]
    blank = _TEXT.sub(lambda found: " " * len(found[0]), code)
    known = {*dir(builtins), *keyword.kwlist, "self"}
    return [
        (start + found.start(), start + found.end())
        for found in _WORD.finditer(blank)
        if found[0] not in known
    ]


def _rename(name: str) -> str:
    if name[:1].isupper():
        return f"Legacy{name}"
    return f"legacy_{name.lstrip('_')}"


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


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
class QuestionMutant:
    """A mutated question with its key, and the facts about it; without a defect it is sound.

    `answers` are the options that are now correct, or None if unknown. The question keeps its id,
    so that its prover cannot tell a mutant from the original.
    """

    name: str
    defect: Defect | None
    question: Question
    key: str
    change: str
    answers: frozenset[str] | None

    @property
    def distractors(self) -> list[str]:
        """The texts of the options that are not the key and are not derived from others."""
        compounds = read_compounds(self.question)
        options = self.question.options.items()
        return [text for one, text in options if one != self.key and one not in compounds]


def sound_variants(question: Question, key: str, seed: int = 0) -> Iterator[QuestionMutant]:
    """Yield the question itself, and the same with its options in another order."""
    yield QuestionMutant("sound", None, question, key, "nothing is changed", frozenset({key}))
    shuffled = shuffle_options(question, key, _chance(question, "sound", seed))
    if shuffled is not None:
        change = "the options are in another order"
        yield QuestionMutant("sound-shuffled", None, *shuffled, change, frozenset({shuffled[1]}))


def mutants(
    question: Question,
    key: str,
    seed: int = 0,
    count: int = 1,
    *,
    shadowed: Collection[str] = (),
) -> Iterator[QuestionMutant]:
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
    """A question with the facts needed to plant a defect."""

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
    ) -> QuestionMutant:
        key = str(fields.pop("key", self.key))
        question = replace(self.question, **fields)  # type: ignore[arg-type] # fields of a question
        return QuestionMutant(f"{defect}-{suffix}", defect, question, key, change, answers)

    def with_option(self, letter: str, text: str) -> dict[str, str]:
        return {**self.question.options, letter: text}


def swap_key(sound: _Sound) -> Iterator[QuestionMutant]:
    """Key another option as right."""
    for letter in sound.distractors:
        change = f"the key is {letter} and not {sound.key}"
        answers = frozenset({sound.key}) | sound.parts
        yield sound.mutant(Defect.KEY_SWAPPED, letter, change, answers, key=letter)


def remove_answer(sound: _Sound) -> Iterator[QuestionMutant]:
    """Remove the right option, add "None of the above", and key a distractor."""
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


def double_answer(sound: _Sound) -> Iterator[QuestionMutant]:
    """Let a distractor say what the right option says, in other words."""
    if not sound.is_simple:
        return
    text = reword(sound.answer)
    for letter in sound.distractors:
        yield sound.mutant(
            Defect.ANSWER_DOUBLED,
            letter,
            f"{letter} says the same as {sound.key}: {text}",
            frozenset({sound.key, letter}),
            options=sound.with_option(letter, text),
        )


def make_distractor_true(sound: _Sound) -> Iterator[QuestionMutant]:
    """Let a distractor answer the question too, in something else than the right option says."""
    if not sound.is_simple:
        return
    for letter in sound.distractors:
        given = sound.question.options[letter]
        # Where what does not exist is asked for, a name that does not exist is an answer.
        text = rename_last(given) if sound.is_negated else either(given, sound.answer)
        if text is not None:
            yield sound.mutant(
                Defect.DISTRACTOR_TRUE,
                letter,
                f"{letter} is true by now: {text}",
                frozenset({sound.key, letter}),
                options=sound.with_option(letter, text),
            )


def drift_name(sound: _Sound) -> Iterator[QuestionMutant]:
    """Let the right option call something by a name that it does not have."""
    text = rename_last(sound.answer)
    if not sound.is_simple or sound.has_heir or sound.is_negated or text is None:
        return
    yield sound.mutant(
        Defect.NAME_DRIFTED,
        sound.key,
        f"the key says {text}",
        frozenset({sound.none} if sound.none else ()),
        options=sound.with_option(sound.key, text),
    )


def blur_question(sound: _Sound) -> Iterator[QuestionMutant]:
    """Let the stem no longer say what it is about."""
    text = in_code(sound.question.text, lambda code: "something" if code[:3] != "```" else "")
    if text == sound.question.text and sound.question.snippet is None:
        return
    change = f"the question does not say what it is about: {' '.join(text.split())}"
    yield sound.mutant(Defect.QUESTION_BLURRED, "stem", change, None, text=text, snippet=None)


_PLANTERS: dict[Defect, Callable[[_Sound], Iterator[QuestionMutant]]] = {
    Defect.KEY_SWAPPED: swap_key,
    Defect.ANSWER_REMOVED: remove_answer,
    Defect.ANSWER_DOUBLED: double_answer,
    Defect.DISTRACTOR_TRUE: make_distractor_true,
    Defect.NAME_DRIFTED: drift_name,
    Defect.QUESTION_BLURRED: blur_question,
}
