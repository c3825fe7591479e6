"""Documentation: of all names of one sort, what the target says of this one is nearest.

It confirms an option and never refutes one: the words of a question may be meant otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from assay.questions.claims import kinds, nearness
from assay.questions.claims.library import CLASSES, path_of
from assay.questions.index import Symbol
from assay.questions.index.ranking import is_sort, synonyms, terms
from assay.questions.lexical.mentions import CodeForm
from assay.questions.lexical.names import Member, Reading, find_command, find_members
from assay.questions.lexical.parsed_question import ParsedOption, ParsedQuestion
from assay.questions.lexical.stem import Noun, is_negated, word_set

_NOUNS = (
    Noun.PARAMETER, Noun.FIELD, Noun.METHOD, Noun.FUNCTION, Noun.CLASS, Noun.FLAG, Noun.THING,
    Noun.OTHER,
)  # fmt: skip
# What an option may say around a name without saying more than "this one".
_PLAIN = word_set(
    "pass passing set setting use using add adding provide call via an a the object instance to"
    " parameter argument of constructor in on with flag field attribute option class its by method"
    " when creating for it is function and plugin list plugins configure through value"
)
# Of a question's words: those that stand for each other whatever the library.
_ALIKE = (("response", "output", "reply"), ("message", "content"))

_Texts = Mapping[str, str]


def read_documented(parsed: ParsedQuestion) -> Iterator[Reading]:
    """Yield an option that offers a name, where the question describes what the name is for."""
    if parsed.stem.noun not in _NOUNS or not parsed.residue or parsed.code:
        return
    if is_negated(parsed.question.text):
        return
    for option in parsed.options.values():
        if option.whole is None and not _says_no_more(option):
            continue
        found = next(_candidates(option, parsed), None)
        if found is None:
            continue
        name, scope, subject, texts = found
        words = find_query_words(parsed.stem.prose, subject, name)
        if nearness.nearest(texts, words) == name:
            claim = kinds.NearestDocumented(scope=scope, subject=subject, value=name, words=words)
            yield Reading(option.letter, claim, expected=True)


def _says_no_more(option: ParsedOption) -> bool:
    """Return whether the words around the names add nothing that would have to be true as well."""
    text = option.text
    for one in reversed(option.mentions):
        text = f"{text[: one.start]} {text[one.end :]}"
    return all(word.lower() in _PLAIN for word in re.findall(r"[^\W\d]+", text))


def _candidates(
    option: ParsedOption, parsed: ParsedQuestion
) -> Iterator[tuple[str, str, str, _Texts]]:
    """Yield the name an option offers, and among which names it stands."""
    members = {(one.owner.path, one.name): one for one in find_members(option, parsed)}
    if len(members) > 1:
        return
    if members:
        yield from _of_member(next(iter(members.values())), parsed)
        return
    command = find_command(option, parsed)
    flag = next((one for one in option.named if one.form is CodeForm.FLAG), None)
    if flag is not None and command is not None:
        texts = {name: one.doc for name, one in parsed.library.members(command).items()}
        yield flag.name, "options", command.path, texts
        return
    if parsed.stem.noun not in (Noun.CLASS, Noun.THING) or not option.named:
        return
    first = option.named[0]
    if first.form is not CodeForm.NAME or len(parsed.library.distributions) != 1:
        return
    symbol = parsed.library.owner(first.name, CLASSES)
    if symbol is not None and symbol.name == first.last:
        yield first.last, "classes", "", parsed.library.class_texts


def _of_member(member: Member, parsed: ParsedQuestion) -> Iterator[tuple[str, str, str, _Texts]]:
    owner = member.owner
    if owner.parameter(member.name) is not None:
        yield member.name, "parameters", path_of(owner), _parameter_texts(owner, parsed)
        return
    methods = {
        name: one.doc
        for name, one in parsed.library.members(owner).items()
        if one.kind in ("method", "function") and not name.startswith("_") and not one.deprecated
    }
    if member.name in methods:
        yield member.name, "methods", path_of(owner), methods


def _parameter_texts(owner: Symbol, parsed: ParsedQuestion) -> dict[str, str]:
    members = parsed.library.members(owner) if owner.kind in CLASSES else {}
    texts = {}
    for one in owner.parameters or ():
        member = members.get(one.name)
        described = f"{member.doc} {member.details}" if member else ""
        texts[one.name] = one.doc or described
    return texts


def find_query_words(text: str, owner: str, name: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of a question that describe something, each with its synonyms.

    A proof may not contain the name in dispute. Words are compared by how they begin, so the one
    that is the name itself goes without its last letter.
    """
    # What belongs to "the user's" is described by what follows.
    text = re.sub(r"\b\w+['’]s\b", " ", text)
    left_out = set(terms(owner.rpartition(".")[2]))
    found = {}
    for word in dict.fromkeys(nearness.words(text)):
        stems = terms(word)
        if not stems or stems[0] in left_out or is_sort(stems[0]):
            continue
        alike = {other for group in _ALIKE if word in group for other in group if other != word}
        found[word] = (word, *sorted(alike | synonyms(stems[0])))
    return tuple(
        tuple(one[:-1] if one == name else one for one in forms) for forms in found.values()
    )
