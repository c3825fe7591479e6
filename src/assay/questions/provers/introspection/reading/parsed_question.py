"""A parsed question: what it asks, what its options offer, and who owns the names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assay.questions.index import Symbol
from assay.questions.model import Question
from assay.questions.provers.introspection.library import CLASSES, Library
from assay.questions.provers.introspection.reading.mentions import (
    CodeForm,
    Mention,
    mentions,
    read_mention,
)
from assay.questions.provers.introspection.reading.stem_focus import (
    Noun,
    StemFocus,
    Tie,
    asks_for_failure,
    is_outside_target,
    parse_focus,
)
from assay.questions.verdict.compounds import read_compounds

_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nothing|without|instead|rather|unless|deprecated|removed|avoid|cannot"
    r"|neither|nor|longer|only if|\w+n['’]t)\b",
    re.IGNORECASE,
)
# Of two names only one need exist.
_CHOICE = re.compile(r"\b(?:either|or|alternatively)\b", re.IGNORECASE)
_OWN = re.compile(
    r"\b(?:custom|your|your own|own|my|a new|an? user-defined|some|any)\s*$", re.IGNORECASE
)


@dataclass(frozen=True)
class ParsedOption:
    """What an option puts forward as the answer; `letter` is the key it is listed under.

    `whole` is the piece of code that the option is, where it is one and nothing else. `is_negated`
    says that its words may turn what it mentions round, or leave a choice of it, so that nothing
    can be concluded from a name in it.
    """

    letter: str
    text: str
    mentions: tuple[Mention, ...] = ()
    whole: Mention | None = None
    is_negated: bool = False

    @property
    def named(self) -> tuple[Mention, ...]:
        """What it says exists: what it is, or what its words mention."""
        if self.whole is not None:
            return (self.whole,)
        return () if self.is_negated else self.mentions


def parse_option(letter: str, text: str) -> ParsedOption:
    plain = text.strip()
    whole = _whole(plain)
    if whole is not None:
        return ParsedOption(letter, plain, (whole,), whole)
    found = tuple(one for one in mentions(plain) if not _OWN.search(plain[: one.start]))
    prose = _without(plain, found)
    is_negated = _NEGATION.search(prose) or (len(found) > 1 and _CHOICE.search(prose))
    return ParsedOption(letter, plain, found, is_negated=bool(is_negated))


def _whole(text: str) -> Mention | None:
    """Return the one piece of code the option is, with or without backticks and a full stop."""
    block = re.fullmatch(r"```\w*\n(.*?)\n?```", text, re.DOTALL)
    if block:
        return read_mention(block[1])
    bare = text.rstrip(".;") if not text.endswith("...") else text
    fenced = re.fullmatch(r"(?:(?:the|an?)\s+)?`+([^`]+)`+(?:\(\))?", bare, re.IGNORECASE)
    if fenced:
        return read_mention(fenced[1])
    if "`" in text:
        return None
    found = read_mention(bare)
    return found if _is_plainly_code(found, bare) else None


def _is_plainly_code(found: Mention, text: str) -> bool:
    if found.form in (CodeForm.CODE, CodeForm.COMMAND):
        return False
    # `Agent name` does not parse; `Nothing` does, and so does any single word of prose.
    return found.form is not CodeForm.NAME or " " not in text


def _without(text: str, found: tuple[Mention, ...]) -> str:
    """Return the words alone."""
    for one in reversed(found):
        text = f"{text[: one.start]} {text[one.end :]}"
    return text


@dataclass(frozen=True)
class ParsedQuestion:
    """All that the kinds of claims are given; there is no key in it.

    `owner` is what `focus.owner` leads to. `given` are names that the question itself brings in:
    they are nobody's to have. `types` are the classes it says that some of them are of.
    """

    question: Question
    focus: StemFocus
    options: dict[str, ParsedOption]
    library: Library
    owner: Symbol | None = None
    given: frozenset[str] = frozenset()
    types: Mapping[str, Symbol] = field(default_factory=dict)

    @property
    def asks_for_failure(self) -> bool:
        """Whether something is asked for that does not work, and not what then happens."""
        by_program = self.focus.noun in (Noun.EXCEPTION, Noun.OUTCOME)
        return not by_program and asks_for_failure(self.question.text)

    @property
    def is_outside_target(self) -> bool:
        """Whether the question is about another version, platform or time than the target's."""
        versions = self.library.index.versions
        return is_outside_target(self.question.text, versions.keys(), versions.values())

    @property
    def code(self) -> str:
        """The code the question is about: its snippet, or the last block in its text."""
        if self.question.snippet is not None:
            return "\n".join([*self.question.snippet.imports, self.question.snippet.code])
        return self.focus.blocks[-1] if self.focus.blocks else ""


def parse_question(question: Question, letters: Sequence[str], library: Library) -> ParsedQuestion:
    """Parse a question and these of its options; those derived from others are left out."""
    focus = parse_focus(question.text)
    compounds = read_compounds(question)
    owner = resolve_owner(focus.owner, library) if focus.owner else None
    owner = owner or _only_class(focus, library)
    return ParsedQuestion(
        question=question,
        focus=focus,
        options={
            letter: parse_option(letter, text)
            for letter, text in question.options.items()
            if letter in letters and letter not in compounds
        },
        library=library,
        owner=owner,
        given=_find_given_names(question, focus),
        types=dict(_types(focus, library)),
    )


def resolve_owner(mention: Mention, library: Library) -> Symbol | None:
    """Return what a name in the question leads to, also by a variable named after a class."""
    if mention.form is CodeForm.COMMAND:
        words = [word for word in mention.code.split() if not word.startswith("-")]
        return library.owner(" ".join(words), ("command",))
    if not mention.name:
        return None
    found = library.owner(mention.name)
    if found is not None or not mention.head:
        return found
    # `runner.run_async` is a member where `runner` is named after a class.
    holder = library.receiver(mention.head)
    return None if holder is None else library.members(holder).get(mention.last)


def _only_class(focus: StemFocus, library: Library) -> Symbol | None:
    """Return the only class the question names, where its words tie none."""
    if focus.tie is not Tie.NONE:
        return None
    found = {
        symbol.path: symbol
        for one in focus.mentions
        if one.form in (CodeForm.NAME, CodeForm.CALL)
        and (symbol := library.owner(one.name, CLASSES)) is not None
    }
    return next(iter(found.values())) if len(found) == 1 else None


_IS_A = re.compile(
    r"`(\w+)` is (?:an?|the) (?:instance of )?(?:an? |the )?(?:\w+ ){0,2}?(?:`(\w+)`|(\w+))"
    r"(?=[.,;?]| with| that| whose| and)"
)


def _types(focus: StemFocus, library: Library) -> Iterator[tuple[str, Symbol]]:
    """Yield what the question says a name of its own is: "`user` is an instance of a model"."""
    for name, quoted, noun in _IS_A.findall(focus.prose):
        found = library.owner(quoted, CLASSES) if quoted else library.base_of(noun)
        if found is not None and library.owner(name, CLASSES) is None:
            yield name, found


def _find_given_names(question: Question, focus: StemFocus) -> frozenset[str]:
    codes = [*focus.blocks, question.snippet.code if question.snippet else ""]
    names = {part for one in focus.mentions for part in re.findall(r"\w+", one.code)}
    return frozenset(names | {name for code in codes for name in _find_code_names(code)})


def _find_code_names(code: str) -> set[str]:
    """Return every word of a piece of code: whatever it uses, it is the question that says it."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set(re.findall(r"[^\W\d]\w*", code[:20_000]))
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
    return found
