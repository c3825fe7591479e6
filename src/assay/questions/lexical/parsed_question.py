"""A parsed question: what it asks, what its options offer, whose names those are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from assay.questions.broken_snippets import repair_imports
from assay.questions.claims.library import CALLABLES, CLASSES, Library
from assay.questions.index import Symbol
from assay.questions.lexical.mentions import CodeForm, Mention, mentions, read_mention
from assay.questions.lexical.stem import (
    Noun,
    ParsedStem,
    Tie,
    asks_for_failure,
    is_outside_target,
    read_stem,
)
from assay.questions.model import Question
from assay.questions.verdict.compounds import read_compounds

# What a variable of any type may have.
_OF_EVERYBODY = frozenset(name for kind in (dict, list, set, str, bytes) for name in dir(kind))
_DOERS = (Noun.CLASS, Noun.METHOD, Noun.FUNCTION, Noun.PARAMETER, Noun.THING)
_DESCRIBED = 3
# A name as short as this may stand for the whole package, as `nx` does.
_SHORT = 4
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
    return found.form is not CodeForm.NAME or " " not in text.removeprefix("except ")


def _without(text: str, found: tuple[Mention, ...]) -> str:
    """Return the words alone."""
    for one in reversed(found):
        text = f"{text[: one.start]} {text[one.end :]}"
    return text


@dataclass(frozen=True)
class ParsedQuestion:
    """A question as the reader sees it; there is no key in it.

    `owner` is the name of the target that what is asked for belongs to, and `tie` how surely.
    `subjects` are all names of the target in the stem. `given` are names that the question itself
    brings in: they are nobody's to have.
    """

    question: Question
    stem: ParsedStem
    options: dict[str, ParsedOption]
    library: Library
    owner: Symbol | None = None
    tie: Tie = Tie.NONE
    subjects: tuple[Symbol, ...] = ()
    given: frozenset[str] = frozenset()
    types: Mapping[str, Symbol] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)

    def expand(self, name: str) -> str:
        """Return a dotted name with its first part as the module it stands for: `nx.Graph`."""
        first, dot, rest = name.partition(".")
        return f"{self.aliases[first]}{dot}{rest}" if first in self.aliases else name

    @property
    def asks_for_failure(self) -> bool:
        """Whether something is asked for that does not work, and not what then happens."""
        if self.stem.noun is Noun.EXCEPTION:
            return False
        # "Which filter raises an error for such a token" describes what a working filter does.
        is_described = self.stem.noun in _DOERS and len(self.residue) >= _DESCRIBED
        words = re.sub(r"`[^`]*`", "CODE", self.stem.prose)
        return asks_for_failure(words, may_raise=is_described)

    @property
    def is_outside_target(self) -> bool:
        """Whether the question is about another version, platform or time than the target's."""
        versions = self.library.index.versions
        return is_outside_target(self.question.text, versions.keys(), versions.values())

    @property
    def is_whole(self) -> bool:
        """Whether being such a thing of the owner is all that is asked of an option."""
        library = self.library
        known = {*library.roots, *library.distributions, *library.index.modules}
        others = [one for one in self.subjects if one != self.owner and one.path not in known]
        names = [one for one in self.stem.mentions if one.name not in known]
        return self.tie is Tie.OWN and not self.residue and not others and len(names) <= 1

    @property
    def residue(self) -> list[str]:
        """The words of the stem that describe more than the reader understands."""
        library = self.library
        names = (*library.roots, *library.distributions)
        return self.stem.residue({part.lower() for one in names for part in re.split(r"\W", one)})

    @cached_property
    def code(self) -> str:
        """The code the question is about: its snippet, or the last block in its text."""
        blocks, snippet = self.stem.blocks, self.question.snippet
        code = snippet.program if snippet else blocks[-1] if blocks else ""
        return repair_imports(self.question, code, self.library)


def parse_question(question: Question, letters: Sequence[str], library: Library) -> ParsedQuestion:
    """Parse a question and these of its options; those derived from others are left out."""
    stem = read_stem(question.text, _plain_classes(question.text, library))
    compounds = read_compounds(question)
    aliases = _find_aliases(question, stem, library)
    resolved = [
        (number, symbol)
        for number, mention in enumerate(stem.mentions)
        if (symbol := resolve(mention, library, aliases)) is not None
    ]
    owner, tie = _find_owner(stem, resolved)
    return ParsedQuestion(
        question=question,
        stem=stem,
        options={
            letter: parse_option(letter, text)
            for letter, text in question.options.items()
            if letter in letters and letter not in compounds
        },
        library=library,
        owner=owner,
        tie=tie,
        subjects=tuple({symbol.path: symbol for _, symbol in resolved}.values()),
        given=_find_given_names(question, stem),
        types=dict(_types(stem, library)),
        aliases=aliases,
    )


def _find_aliases(question: Question, stem: ParsedStem, library: Library) -> dict[str, str]:
    """Return what short names stand for modules: imported so in code, or plainly so by use."""
    snippet = question.snippet
    code = [*(snippet.imports if snippet else ()), snippet.code if snippet else "", *stem.blocks]
    found = dict(_imported_as("\n".join(code)))
    used = [one for text in (stem.prose, *question.options.values()) for one in mentions(text)]
    used += [read_mention(text) for text in question.options.values() if "`" not in text]
    assigned = {name for text in question.options.values() for name in _assigned_in(text)}
    for first, names in _by_prefix(used).items():
        if first in found or first in assigned or first in library.roots:
            continue
        # A variable that is named after a class is more likely than a module of that name.
        receiver = library.receiver(first)
        if receiver is not None and any(name in library.members(receiver) for name in names):
            continue
        modules = [one for one in library.index.modules if one.endswith(f".{first}")]
        if len(first) <= _SHORT and not library.index.find(first):
            modules += library.roots
        for module in sorted(modules, key=len, reverse=True):
            if any(library.index.resolve(f"{module}.{name}") for name in names):
                found[first] = module
    return {first: module for first, module in found.items() if first != module}


def _assigned_in(text: str) -> list[str]:
    return re.findall(r"\b(\w+)\s*=(?!=)", text)


def _imported_as(code: str) -> Iterator[tuple[str, str]]:
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        for one in node.names if isinstance(node, ast.Import) else ():
            if one.asname:
                yield one.asname, one.name


def _by_prefix(used: Sequence[Mention]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in used:
        first, _, rest = one.name.partition(".")
        if rest and re.fullmatch(r"[a-z]\w*", first):
            found.setdefault(first, []).append(rest)
    return found


def _plain_classes(text: str, library: Library) -> list[str]:
    """Return capitalised words within a sentence that are classes of the target."""
    words = set(re.findall(r"(?<=[a-z,] )[A-Z][a-z]+\b", text))
    return [one for one in sorted(words) if library.owner(one, CLASSES) is not None]


def _find_owner(
    stem: ParsedStem, resolved: Sequence[tuple[int, Symbol]]
) -> tuple[Symbol | None, Tie]:
    """Return what the asked-for thing belongs to: the only one that is tied, or the only one."""
    holders = [
        (stem.tie(number), symbol)
        for number, symbol in resolved
        if symbol.kind in (*CLASSES, *CALLABLES, "command", "module")
    ]
    for tie in (Tie.OWN, Tie.NEAR):
        tied = {symbol.path: symbol for one, symbol in holders if one is tie}
        if tied:
            return (next(iter(tied.values())), tie) if len(tied) == 1 else (None, Tie.NONE)
    found = {symbol.path: symbol for _, symbol in holders if symbol.kind != "module"}
    return (next(iter(found.values())), Tie.NONE) if len(found) == 1 else (None, Tie.NONE)


def resolve(
    mention: Mention, library: Library, aliases: Mapping[str, str] | None = None
) -> Symbol | None:
    """Return what a name in the question leads to, also by a variable named after a class."""
    if mention.form is CodeForm.COMMAND:
        words = [word for word in mention.code.split() if not word.startswith("-")]
        return library.owner(" ".join(words), ("command",))
    if not mention.name:
        return None
    first, dot, rest = mention.name.partition(".")
    full = f"{(aliases or {}).get(first, first)}{dot}{rest}" if dot else mention.name
    found = library.owner(mention.name) or library.owner(full)
    if found is not None or not mention.head:
        is_call = mention.form is CodeForm.CALL
        return found or library.index.resolve(full) or (library.method(full) if is_call else None)
    # `runner.run_async` is a member where `runner` is named after a class.
    holder = library.owner(mention.head, CLASSES) or library.receiver(mention.head)
    if holder is not None:
        return library.members(holder).get(mention.last)
    is_call = mention.form is CodeForm.CALL and mention.last not in _OF_EVERYBODY
    return library.method(mention.last) if is_call else None


_IS_A = re.compile(
    r"`(\w+)` is (?:an?|the) (?:instance of )?(?:an? |the )?(?:\w+ ){0,2}?(?:`(\w+)`|(\w+))"
    r"(?=[.,;?]| with| that| whose| and)"
)


_OF_CLASS = re.compile(
    r"`(?:\w+\.)*(\w+)` (?:object|instance)(?:,? (?:called|named))?,? `(\w+)`", re.IGNORECASE
)


def _types(stem: ParsedStem, library: Library) -> Iterator[tuple[str, Symbol]]:
    """Yield what the question says a name of its own is: "`user` is an instance of a model"."""
    for owner, name in _OF_CLASS.findall(stem.prose):
        if (found := library.owner(owner, CLASSES)) is not None:
            yield name, found
    for name, quoted, noun in _IS_A.findall(stem.prose):
        found = library.owner(quoted, CLASSES) if quoted else library.base_of(noun)
        if found is not None and library.owner(name, CLASSES) is None:
            yield name, found


def _find_given_names(question: Question, stem: ParsedStem) -> frozenset[str]:
    codes = [*stem.blocks, question.snippet.code if question.snippet else ""]
    names = {part for one in stem.mentions for part in re.findall(r"\w+", one.code)}
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
