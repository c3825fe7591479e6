"""What mutations of questions are made of: prose apart from code, options in another order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import TypeAlias

from assay.questions.model import Question
from assay.questions.verdict.compounds import read_compounds

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
    """The question with other options; None if they are the same."""
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
