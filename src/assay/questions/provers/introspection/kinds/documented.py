"""Documented: the name whose documentation is nearest to the question, among its sort.

It confirms options and never refutes one, because the words of a question may mean something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from assay.questions.index import Symbol
from assay.questions.index.ranking import is_sort, synonyms, terms
from assay.questions.proofs.claims import Grounds, Relation
from assay.questions.provers.introspection import nearness, proof_helpers
from assay.questions.provers.introspection.drafts import Draft, ProofParts
from assay.questions.provers.introspection.kinds.members import Member, find_command, find_members
from assay.questions.provers.introspection.library import CALLABLES, CLASSES
from assay.questions.provers.introspection.reading import (
    CodeForm,
    Noun,
    ParsedOption,
    ParsedQuestion,
)
from assay.questions.provers.introspection.reading.stem_focus import is_negated

_NOUNS = (
    Noun.PARAMETER, Noun.FIELD, Noun.METHOD, Noun.FUNCTION, Noun.CLASS, Noun.FLAG, Noun.THING,
    Noun.OTHER,
)  # fmt: skip
# What an option may say around a name without saying more than "this one".
_PLAIN = frozenset(
    {"pass", "passing", "set", "setting", "use", "using", "add", "adding", "provide", "call", "via",
     "an", "a", "the", "object", "instance", "to", "parameter", "argument", "of", "constructor",
     "in", "on", "with", "flag", "field", "attribute", "option", "class", "its", "by", "method",
     "when", "creating", "for", "it", "is", "function", "and", "plugin", "list", "plugins",
     "configure", "through", "value"}
)  # fmt: skip
# Of a question's words: those that stand for each other whatever the library.
_ALIKE = (("response", "output", "reply"), ("message", "content"))


@dataclass(frozen=True)
class Scope:
    """All names of one sort with what is said of them, and how a proof gets at that."""

    what: str
    texts: Mapping[str, str]
    imports: tuple[str, ...]
    helper: str
    owner: str
    constants: tuple[tuple[str, str], ...] = ()


class Documented:
    """An option that offers a name, where the question describes what the name is for."""

    name = "documented"

    def drafts(self, parsed: ParsedQuestion) -> Iterable[Draft]:
        if parsed.focus.noun not in _NOUNS or parsed.focus.is_whole:
            return
        if is_negated(parsed.question.text):
            return
        for option in parsed.options.values():
            draft = _of_one(option, parsed)
            if draft is not None:
                yield draft


def _of_one(option: ParsedOption, parsed: ParsedQuestion) -> Draft | None:
    if option.whole is None and not _says_no_more(option):
        return None
    found = next(_candidates(option, parsed), None)
    if found is None:
        return None
    name, scope = found
    query = find_query_words(parsed.focus.prose, scope.owner)
    if nearness.nearest(scope.texts, query) != name:
        return None
    return _draft(
        option,
        scope,
        (("WORDS", _format_words(query)),),
        disputed=repr(name),
        statement=f"of {scope.what}, what is said of `{name}` is nearest to the question",
        check="nearest(documentation(), WORDS) == DISPUTED",
    )


def _says_no_more(option: ParsedOption) -> bool:
    """Return whether the words around the names add nothing that would have to be true as well."""
    text = option.text
    for one in reversed(option.mentions):
        text = f"{text[: one.start]} {text[one.end :]}"
    return all(word.lower() in _PLAIN for word in re.findall(r"[^\W\d]+", text))


def _candidates(option: ParsedOption, parsed: ParsedQuestion) -> Iterator[tuple[str, Scope]]:
    """Yield the name an option offers, and among which names it stands."""
    members = {(one.owner.path, one.name): one for one in find_members(option, parsed)}
    if len(members) == 1:
        member = next(iter(members.values()))
        scope = _scope_of_member(member, parsed)
        if scope is not None and member.name in scope.texts:
            yield member.name, scope
        return
    if members:
        return
    command = find_command(option, parsed)
    flag = next((one for one in option.named if one.form is CodeForm.FLAG), None)
    if flag is not None and command is not None:
        yield flag.name, _scope_of_command(command, parsed)
        return
    yield from _class_candidate(option, parsed)


def _class_candidate(option: ParsedOption, parsed: ParsedQuestion) -> Iterator[tuple[str, Scope]]:
    if parsed.focus.noun not in (Noun.CLASS, Noun.THING) or not option.named:
        return
    first = option.named[0]
    if first.form is not CodeForm.NAME or len(parsed.library.distributions) != 1:
        return
    symbol = parsed.library.owner(first.name, CLASSES)
    if symbol is not None and symbol.name == first.last:
        yield first.last, _scope_of_classes(parsed)


def find_query_words(text: str, owner: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of a question that describe something, each with its synonyms."""
    # What belongs to "the user's" is described by what follows.
    text = re.sub(r"\b\w+['’]s\b", " ", text)
    left_out = set(terms(owner))
    found = {}
    for word in dict.fromkeys(nearness.words(text)):
        stems = terms(word)
        if not stems or stems[0] in left_out or is_sort(stems[0]):
            continue
        alike = {other for group in _ALIKE if word in group for other in group if other != word}
        found[word] = (word, *sorted(alike | synonyms(stems[0])))
    return tuple(found.values())


def _format_words(query: tuple[tuple[str, ...], ...]) -> str:
    lines = "".join(f"\n    {one!r}," for one in query)
    return f"({lines}\n)"


# --- Among which names -------------------------------------------------------------------------


def _scope_of_member(member: Member, parsed: ParsedQuestion) -> Scope | None:
    owner, library = member.owner, parsed.library
    place = library.place(owner)
    if owner.parameter(member.name) is not None:
        is_function = owner.kind in CALLABLES
        helper = proof_helpers.OF_FUNCTION if is_function else proof_helpers.OF_CLASS
        modules = ("inspect", "re") if is_function else ("ast", "inspect", "re", "textwrap")
        return Scope(
            f"the parameters of `{place.expression}`",
            _parameter_texts(owner, parsed),
            (*(f"import {one}" for one in modules), place.statement),
            helper.replace("OWNER", place.expression),
            place.expression,
        )
    methods = _method_texts(owner, parsed)
    if member.name not in methods:
        return None
    return Scope(
        f"the methods of `{place.expression}`",
        methods,
        ("import inspect", "import re", place.statement),
        proof_helpers.OF_METHODS.replace("OWNER", place.expression),
        place.expression,
    )


def _parameter_texts(owner: Symbol, parsed: ParsedQuestion) -> dict[str, str]:
    members = parsed.library.members(owner) if owner.kind in CLASSES else {}
    texts = {}
    for one in owner.parameters or ():
        member = members.get(one.name)
        told = f"{member.doc} {member.details}" if member else ""
        texts[one.name] = one.doc or told
    return texts


def _method_texts(owner: Symbol, parsed: ParsedQuestion) -> dict[str, str]:
    return {
        name: one.doc
        for name, one in parsed.library.members(owner).items()
        if one.kind in ("method", "function") and not name.startswith("_") and not one.deprecated
    }


def _scope_of_command(command: Symbol, parsed: ParsedQuestion) -> Scope:
    program, *subcommands = command.path.split()
    return Scope(
        f"the options of `{command.path}`",
        {name: one.doc for name, one in parsed.library.members(command).items()},
        ("import click", "import re", "from importlib.metadata import entry_points"),
        proof_helpers.OF_COMMAND,
        command.path,
        (("PROGRAM", repr(program)), ("SUBCOMMANDS", repr(tuple(subcommands)))),
    )


def _scope_of_classes(parsed: ParsedQuestion) -> Scope:
    library = parsed.library
    return Scope(
        f"the classes of {library.distributions[0]}",
        library.class_texts,
        ("import re", *proof_helpers.FILES_IMPORTS),
        proof_helpers.FILES + "\n" + proof_helpers.OF_CLASSES,
        "",
        library.file_constants,
    )


def _draft(
    option: ParsedOption,
    scope: Scope,
    constants: tuple[tuple[str, str], ...],
    *,
    disputed: str,
    statement: str,
    check: str,
) -> Draft:
    return Draft(
        option=option.letter,
        relation=Relation.SUFFICIENT,
        text=ProofParts(
            statement=statement,
            imports=("import math", *scope.imports),
            disputed=disputed,
            constants=(("MARGIN", repr(nearness.MARGIN)), *scope.constants, *constants),
            helpers=(scope.helper, nearness.source()),
            holds=f"assert {check}",
            fails=f"assert {check.replace('==', '!=')}",
            controls=("assert documentation()",),
        ),
        expected=True,
        grounds=Grounds.DOCUMENTED,
    )
