"""Mutations of questions: those that leave the meaning as it is, and those that may change it.

Pure: a mutation takes a question, the letter of its key and a source of chance, and gives both
anew, or None where it has nothing to change. Whoever reads a mutant of the first sort would give
the same answer as to the question itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from assay.questions.model import Question
from assay.questions.mutants import (
    Mutated,
    in_prose,
    shuffle_options,
    with_options,
)
from assay.questions.verdict.compounds import read_compounds

Mutation = Callable[[Question, str, Random], Mutated | None]

_FENCE = re.compile(r"```(?:python)?\n(.*?)```", re.DOTALL)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Mutant:
    """A mutated question, how it was made, and whether it still means the same."""

    question: Question
    key: str
    mutation: str
    keeps_meaning: bool


def _stem(question: Question, text: str, key: str) -> Mutated | None:
    return None if text == question.text else (replace(question, text=text), key)


# --- The meaning stays -------------------------------------------------------------------------


def rename_letters(question: Question, key: str, chance: Random) -> Mutated | None:
    """Small letters or numbers in place of capital letters."""
    if any(compound.named for compound in read_compounds(question).values()):
        return None
    names: Sequence[str] = chance.choice([_LETTERS.lower(), [str(n) for n in range(1, 27)]])
    renamed = dict(zip(question.options, names, strict=False))
    options = {renamed[letter]: text for letter, text in question.options.items()}
    return with_options(question, options, renamed[key])


def remove_backticks(question: Question, key: str, chance: Random) -> Mutated | None:
    """No marks around code in the stem and the options; fences stay."""
    text = re.sub(r"(?<!`)`([^`\n]+)`(?!`)", r"\1", question.text)
    options = {letter: one.replace("`", "") for letter, one in question.options.items()}
    if text == question.text and options == question.options:
        return None
    return replace(question, text=text, options=options), key


def add_backticks(question: Question, key: str, chance: Random) -> Mutated | None:
    """Marks around options that are one word of code."""
    options = {
        letter: f"`{text}`" if re.fullmatch(r"[\w.()=]+", text) else text
        for letter, text in question.options.items()
    }
    return with_options(question, options, key)


def number_options(question: Question, key: str, chance: Random) -> Mutated | None:
    """The letter once more inside each option, as exports of other tools have it."""
    sign = chance.choice([")", "."])
    options = {letter: f"{letter}{sign} {text}" for letter, text in question.options.items()}
    return with_options(question, options, key)


def pad_options(question: Question, key: str, chance: Random) -> Mutated | None:
    """White space around the options, some of it unusual."""
    space = chance.choice(["  ", "\u00a0", "\t", "\u2003"])
    options = {letter: f"{space}{text}{space}" for letter, text in question.options.items()}
    return with_options(question, options, key)


def typographic(question: Question, key: str, chance: Random) -> Mutated | None:
    """Curly quotes, hyphens and spaces that do not break, as word processors make them."""

    def change(prose: str) -> str:
        prose = re.sub(r'"([^"\n]*)"', "“\\1”", prose).replace("'", "’").replace("-", "\u2011")
        return re.sub(r"(?<=\w) (?=\w)", lambda found: chance.choice([" ", "\u00a0"]), prose)

    return _stem(question, in_prose(question.text, change), key)


def loud_prose(question: Question, key: str, chance: Random) -> Mutated | None:
    """Plain words of the stem in capitals."""

    def change(prose: str) -> str:
        return re.sub(r"(?<![\w.(])[a-z]+(?![\w.(])", lambda word: word.group().upper(), prose)

    return _stem(question, in_prose(question.text, change), key)


def quiet_opening(question: Question, key: str, chance: Random) -> Mutated | None:
    """A small first letter."""
    first = question.text[:1]
    return _stem(question, first.lower() + question.text[1:], key)


def announce(question: Question, key: str, chance: Random) -> Mutated | None:
    """A number or a title before the stem, or a plain request after it."""
    before, after = chance.choice(
        [("17. ", ""), ("Question: ", ""), ("**Question 4.** ", ""), ("", "\n\nChoose one option.")]
    )
    return _stem(question, f"{before}{question.text}{after}", key)


def lengthen(question: Question, key: str, chance: Random) -> Mutated | None:
    """Very much that is beside the point, before the stem."""
    filler = "The team writes down how its tools are used. " * chance.choice([20, 400, 3_000])
    return _stem(question, f"{filler}\n\n{question.text}", key)


def rewrap(question: Question, key: str, chance: Random) -> Mutated | None:
    """Doubled spaces and line breaks between the words of the stem."""

    def change(prose: str) -> str:
        return re.sub(r"(?<=\w) (?=\w)", lambda found: chance.choice([" ", "  ", "\n"]), prose)

    return _stem(question, in_prose(question.text, change), key)


def refence(question: Question, key: str, chance: Random) -> Mutated | None:
    """Other fences around the code of the stem, or none of a language."""
    fence = chance.choice(["~~~python\n{}~~~", "```\n{}```", "```py\n{}```"])
    text = _FENCE.sub(lambda found: fence.format(found.group(1)), question.text)
    return _stem(question, text, key)


KEEPING: Mapping[str, Mutation] = {
    one.__name__: one
    for one in (
        shuffle_options,
        rename_letters,
        remove_backticks,
        add_backticks,
        number_options,
        pad_options,
        typographic,
        loud_prose,
        quiet_opening,
        announce,
        lengthen,
        rewrap,
        refence,
    )
}


def mutants(
    questions: Sequence[tuple[Question, str]],
    changing: Mapping[str, Mutation],
    count: int,
    seed: int = 0,
) -> Iterator[Mutant]:
    """So many mutants, the questions in turn, half of each sort; the same for the same seed."""
    chance = Random(seed)
    made = turn = 0
    while made < count:
        question, key = questions[turn % len(questions)]
        keeps = (turn // len(questions)) % 2 == 0
        turn += 1
        names = sorted(KEEPING if keeps else changing)
        table = KEEPING if keeps else changing
        picked = chance.sample(names, chance.choice([1, 1, 2]))
        mutated, applied = _applied(question, key, picked, table, chance)
        if not applied:
            continue
        name = "+".join(applied)
        made += 1
        identified = replace(mutated[0], id=f"{question.id}~{made}-{name}")
        yield Mutant(identified, mutated[1], name, keeps)


def _applied(
    question: Question,
    key: str,
    names: Sequence[str],
    table: Mapping[str, Mutation],
    chance: Random,
) -> tuple[Mutated, list[str]]:
    mutated: Mutated = (question, key)
    applied = []
    for name in names:
        found = table[name](*mutated, chance)
        if found is not None:
            mutated = found
            applied.append(name)
    return mutated, applied
