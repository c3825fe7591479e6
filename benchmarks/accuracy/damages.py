"""Mutations that may change what a question means: what is lost, garbled, or absurdly large."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from random import Random

from assay.questions.model import Question
from assay.questions.mutants import Mutated
from benchmarks.accuracy.mutations import Mutation

_ALIKE = str.maketrans("aceopxyHTP", "асеорхуНТР")
_JUNK = (
    "\x00",
    "\u202e",
    "\u200b",
    "🙂",
    "\ufffd",
    "`",
    "```",
    "\\",
    "{{",
    '"""',
    "%s",
    "\r",
    "\x1b[31m",
)
_HUGE = 50_000


def drop_words(question: Question, key: str, chance: Random) -> Mutated | None:
    """One to three words of the stem are gone."""
    words = question.text.split(" ")
    for _ in range(min(chance.randint(1, 3), len(words) - 1)):
        words.pop(chance.randrange(len(words)))
    return replace(question, text=" ".join(words)), key


def cut_stem(question: Question, key: str, chance: Random) -> Mutated | None:
    """The stem ends somewhere, in the middle of code too."""
    if not question.text:
        return None
    return replace(question, text=question.text[: chance.randrange(len(question.text))]), key


def cut_snippet(question: Question, key: str, chance: Random) -> Mutated | None:
    """The snippet ends somewhere, or the code in the stem does."""
    if question.snippet is None:
        start = question.text.find("```")
        if start < 0:
            return None
        end = chance.randrange(start, len(question.text))
        return replace(question, text=question.text[:end]), key
    code = question.snippet.code or " "
    cut = replace(question.snippet, code=code[: chance.randrange(len(code))])
    return replace(question, snippet=cut), key


def cut_options(question: Question, key: str, chance: Random) -> Mutated | None:
    """Each option ends somewhere."""
    options = {
        letter: text[: chance.randint(0, len(text))] for letter, text in question.options.items()
    }
    return replace(question, options=options), key


def drop_option(question: Question, key: str, chance: Random) -> Mutated | None:
    """An option is gone, perhaps the key."""
    if len(question.options) < 2:
        return None
    gone = chance.choice(list(question.options))
    options = {letter: text for letter, text in question.options.items() if letter != gone}
    return replace(question, options=options), key


def double_option(question: Question, key: str, chance: Random) -> Mutated | None:
    """An option says what another says."""
    if len(question.options) < 2:
        return None
    one, other = chance.sample(list(question.options), 2)
    return replace(question, options={**question.options, one: question.options[other]}), key


def lookalikes(question: Question, key: str, chance: Random) -> Mutated | None:
    """Letters of another alphabet that look the same, in the stem or the options."""
    if chance.random() < 0.5:
        return replace(question, text=question.text.translate(_ALIKE)), key
    options = {letter: text.translate(_ALIKE) for letter, text in question.options.items()}
    return replace(question, options=options), key


def turn_case(question: Question, key: str, chance: Random) -> Mutated | None:
    """Capitals for small letters and the other way round, code too."""
    options = {letter: text.swapcase() for letter, text in question.options.items()}
    return replace(question, text=question.text.swapcase(), options=options), key


def sprinkle_junk(question: Question, key: str, chance: Random) -> Mutated | None:
    """Signs that nobody expects, anywhere."""

    def junk(text: str) -> str:
        for _ in range(chance.randint(1, 4)):
            place = chance.randint(0, len(text))
            text = text[:place] + chance.choice(_JUNK) + text[place:]
        return text

    options = {letter: junk(text) for letter, text in question.options.items()}
    return replace(question, text=junk(question.text), options=options), key


def empty_out(question: Question, key: str, chance: Random) -> Mutated | None:
    """No stem, no options, or empty ones."""
    emptied = chance.choice(
        [
            replace(question, text=""),
            replace(question, options=dict.fromkeys(question.options, "")),
            replace(question, options={key: question.options.get(key, "")}),
            replace(question, text="?", options=dict.fromkeys(question.options, "?")),
        ]
    )
    return emptied, key


def blow_up(question: Question, key: str, chance: Random) -> Mutated | None:
    """Something absurdly long or deep, of the sort that stops careless regular expressions."""
    bait = chance.choice(
        [
            "(" * _HUGE,
            "a." * _HUGE,
            "`" * _HUGE,
            "x" * _HUGE,
            "import " * (_HUGE // 10),
            "f(" * 500 + ")" * 500,
            "1) a, 2) b, " * (_HUGE // 20),
            "\n" * _HUGE,
            " " * _HUGE + "a",
            "[" * 200 + "]" * 200,
        ]
    )
    if chance.random() < 0.5:
        return replace(question, text=f"{question.text} {bait}"), key
    letter = chance.choice(list(question.options))
    options = {**question.options, letter: f"{question.options[letter]} {bait}"}
    return replace(question, options=options), key


def negate(question: Question, key: str, chance: Random) -> Mutated | None:
    """The opposite is asked."""
    text = re.sub(r"\b(is|are|does)\b", r"\1 not", question.text, count=1)
    return None if text == question.text else (replace(question, text=text), key)


CHANGING: Mapping[str, Mutation] = {
    one.__name__: one
    for one in (
        drop_words,
        cut_stem,
        cut_snippet,
        cut_options,
        drop_option,
        double_option,
        lookalikes,
        turn_case,
        sprinkle_junk,
        empty_out,
        blow_up,
        negate,
    )
}
