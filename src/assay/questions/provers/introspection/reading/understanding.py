"""A question as it was understood: what it asks, what its options offer, whose names those are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assay.questions.index import Symbol
from assay.questions.model import Question
from assay.questions.provers.introspection.library import CLASSES, Library
from assay.questions.provers.introspection.reading.asked import Asked, Noun, Tie, read_asked
from assay.questions.provers.introspection.reading.mentions import Form, Mention
from assay.questions.provers.introspection.reading.offers import Offer, read_offer
from assay.questions.provers.introspection.reading.turned import (
    asks_for_failure,
    speaks_of_elsewhere,
)
from assay.questions.verdict.compounds import read_compounds


@dataclass(frozen=True)
class Reading:
    """All that the kinds of claims are given; there is no key in it.

    `owner` is what `asked.owner` leads to. `given` are names that the question itself brings in:
    they are nobody's to have. `types` are the classes it says that some of them are of.
    """

    question: Question
    asked: Asked
    offers: dict[str, Offer]
    library: Library
    owner: Symbol | None = None
    given: frozenset[str] = frozenset()
    types: Mapping[str, Symbol] = field(default_factory=dict)

    @property
    def asks_for_failure(self) -> bool:
        """Whether something is asked for that does not work, and not what then happens."""
        by_program = self.asked.noun in (Noun.EXCEPTION, Noun.OUTCOME)
        return not by_program and asks_for_failure(self.question.text)

    @property
    def is_elsewhere(self) -> bool:
        """Whether the question is about another version, platform or time than the target's."""
        versions = self.library.index.versions
        return speaks_of_elsewhere(self.question.text, versions.keys(), versions.values())

    @property
    def code(self) -> str:
        """The code the question is about: its snippet, or the last block in its text."""
        if self.question.snippet is not None:
            return "\n".join([*self.question.snippet.imports, self.question.snippet.code])
        return self.asked.blocks[-1] if self.asked.blocks else ""


def read_question(question: Question, options: Sequence[str], library: Library) -> Reading:
    """Understand a question; options that are derived from others are left out."""
    asked = read_asked(question.text)
    compounds = read_compounds(question)
    offers = {
        option: read_offer(option, question.options[option])
        for option in question.options
        if option not in compounds
    }
    owner = resolve_owner(asked.owner, library) if asked.owner else None
    owner = owner or _only_class(asked, library)
    return Reading(
        question=question,
        asked=asked,
        offers={option: one for option, one in offers.items() if option in options},
        library=library,
        owner=owner,
        given=_given(question, asked),
        types=dict(_types(asked, library)),
    )


def resolve_owner(mention: Mention, library: Library) -> Symbol | None:
    """What a name in the question leads to: also through a variable named after its class."""
    if mention.form is Form.COMMAND:
        words = [word for word in mention.code.split() if not word.startswith("-")]
        return library.owner(" ".join(words), ("command",))
    if not mention.name:
        return None
    found = library.owner(mention.name)
    if found is not None or not mention.head:
        return found
    return resolve_member(mention, library)


def resolve_member(mention: Mention, library: Library) -> Symbol | None:
    """The member that `runner.run_async` is, where `runner` is named after a class."""
    holder = library.receiver(mention.head)
    return None if holder is None else library.members(holder).get(mention.last)


def _only_class(asked: Asked, library: Library) -> Symbol | None:
    """Where the words do not tie it, the only class the question names."""
    if asked.tie is not Tie.NONE:
        return None
    found = {
        symbol.path: symbol
        for one in asked.mentions
        if one.form in (Form.NAME, Form.CALL)
        and (symbol := library.owner(one.name, CLASSES)) is not None
    }
    return next(iter(found.values())) if len(found) == 1 else None


_IS_A = re.compile(
    r"`(\w+)` is (?:an?|the) (?:instance of )?(?:an? |the )?(?:\w+ ){0,2}?(?:`(\w+)`|(\w+))"
    r"(?=[.,;?]| with| that| whose| and)"
)


def _types(asked: Asked, library: Library) -> Iterator[tuple[str, Symbol]]:
    """What the question says a name of its own is: "`user` is an instance of a model"."""
    for name, quoted, noun in _IS_A.findall(asked.prose):
        found = library.owner(quoted, CLASSES) if quoted else library.base_of(noun)
        if found is not None and library.owner(name, CLASSES) is None:
            yield name, found


def _given(question: Question, asked: Asked) -> frozenset[str]:
    codes = [*asked.blocks, question.snippet.code if question.snippet else ""]
    names = {part for one in asked.mentions for part in re.findall(r"\w+", one.code)}
    return frozenset(names | {name for code in codes for name in _defined(code)})


def _defined(code: str) -> set[str]:
    """Every word of a piece of code: whatever it uses, it is the question that says it."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set(re.findall(r"[^\W\d]\w*", code[:20_000]))
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
    return found
