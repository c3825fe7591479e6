"""Members: a parameter, field, method or attribute of a named owner, or a command option."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay.questions.index import Symbol
from assay.questions.proofs.claims import Relation
from assay.questions.provers.introspection.drafts import Draft, ProofParts
from assay.questions.provers.introspection.library import CALLABLES, CLASSES
from assay.questions.provers.introspection.proof_helpers import COMMAND, names_of_class
from assay.questions.provers.introspection.reading import (
    CodeForm,
    Mention,
    Noun,
    ParsedOption,
    ParsedQuestion,
    Tie,
)

_NAMING = (CodeForm.NAME, CodeForm.KEYWORD, CodeForm.CALL)
_TIED_NOUNS = (Noun.PARAMETER, Noun.FIELD, Noun.METHOD)
_SORTS = {
    Noun.METHOD: ("method", "function"),
    Noun.FIELD: ("field", "attribute", "property", "enum member"),
}


@dataclass(frozen=True)
class Member:
    """That an owner has a member; `tie` is how surely the option or question says so."""

    owner: Symbol
    name: str
    tie: Tie
    by_option: bool = False
    as_keyword: bool = True


class Members:
    """An option that says, by itself or as the question has it, that an owner has a member."""

    name = "member"

    def drafts(self, parsed: ParsedQuestion) -> Iterable[Draft]:
        for option in parsed.options.values():
            drafts = [draft_member(option, one, parsed) for one in find_members(option, parsed)]
            yield from (one for one in drafts if one is not None)


def find_members(option: ParsedOption, parsed: ParsedQuestion) -> Iterator[Member]:
    """Yield what an option says belongs to whom."""
    if option.is_negated and option.whole is None:
        return
    for mention in option.named:
        yield from _by_itself(mention, option, parsed)
    owner, focus = parsed.owner, parsed.focus
    if owner is None or owner.kind not in (*CLASSES, *CALLABLES):
        return
    if focus.tie is Tie.NONE or focus.noun not in _TIED_NOUNS:
        return
    one = option.whole
    if one is None or one.form not in _NAMING or one.head or one.keywords:
        return
    if owner.kind in CLASSES or focus.noun is Noun.PARAMETER:
        yield Member(owner, one.last, focus.tie, as_keyword=focus.noun is not Noun.METHOD)


def _by_itself(mention: Mention, option: ParsedOption, parsed: ParsedQuestion) -> Iterator[Member]:
    """`Owner(name=…)`, `Owner.name`, and "`name=…` in the `Owner` constructor"."""
    library = parsed.library
    if mention.form is CodeForm.CALL:
        owner = library.owner(mention.name, (*CLASSES, *CALLABLES))
        if owner is not None and not _is_given(mention.name, parsed):
            yield from (Member(owner, one, Tie.OWN, by_option=True) for one in mention.keywords)
    if mention.form in (CodeForm.CALL, CodeForm.NAME, CodeForm.KEYWORD) and mention.head:
        holder = parsed.types.get(mention.head) or library.owner(mention.head, CLASSES)
        if holder is not None:
            yield Member(holder, mention.last, Tie.OWN, by_option=True, as_keyword=False)
        elif (guessed := library.receiver(mention.head)) is not None:
            yield Member(guessed, mention.last, Tie.NEAR, by_option=True, as_keyword=False)
    if (
        mention.form in (CodeForm.KEYWORD, CodeForm.NAME)
        and not mention.head
        and option.whole is None
    ):
        owner = _find_owner(mention, option, parsed)
        if owner is not None:
            yield Member(owner, mention.last, Tie.OWN, by_option=True)


_TO_OWNER = re.compile(
    r"\s*(?:(?:parameter|argument|field|setting|attribute|keyword|flag|property|list)s?\s+)?"
    r"(?:of|in|on|to|for|when creating|when constructing)\s+(?:the\s+|an?\s+|your\s+)?$",
    re.IGNORECASE,
)


def _find_owner(mention: Mention, option: ParsedOption, parsed: ParsedQuestion) -> Symbol | None:
    """Return the class that follows with nothing between but "in the", "parameter of the", …"""
    later = [one for one in option.mentions if one.start >= mention.end]
    if not later or later[0].form is not CodeForm.NAME:
        return None
    if not _TO_OWNER.fullmatch(option.text[mention.end : later[0].start]):
        return None
    return parsed.library.owner(later[0].name, CLASSES)


def _is_given(name: str, parsed: ParsedQuestion) -> bool:
    """Return whether the question's own code defines a thing of that name."""
    return re.search(rf"\b(?:class|def)\s+{re.escape(name)}\b", parsed.code) is not None


def draft_member(option: ParsedOption, member: Member, parsed: ParsedQuestion) -> Draft | None:
    """Return the draft, unless absence means nothing or something else may be meant."""
    library, owner, name = parsed.library, member.owner, member.name
    if name.startswith("__") or not name.isidentifier():
        return None
    is_parameter = _is_plain_parameter(member, parsed)
    names = library.names_of(owner)
    if is_parameter:
        names = frozenset(one.name for one in owner.parameters or ())
    is_there = name in names
    if not is_there and (
        library.is_open(owner, as_keyword=member.as_keyword) or _may_be_elsewhere(member, parsed)
    ):
        return None
    return Draft(
        option=option.letter,
        relation=_relation(option, member, parsed, is_there),
        text=_text(member, parsed, is_there, is_parameter=is_parameter),
        expected=is_there,
    )


_GIVEN = re.compile(r"\bconstructor\b|\barguments?\b|\bkeywords?\b|\bpass(?:ed|ing)?\b")


def _is_plain_parameter(member: Member, parsed: ParsedQuestion) -> bool:
    """Return whether it can only be a parameter: it is given to a class that says what it takes.

    What declares fields is left out: there a parameter and an attribute are one and the same.
    """
    owner, focus = member.owner, parsed.focus
    if member.by_option or focus.noun is not Noun.PARAMETER or owner.kind not in CLASSES:
        return False
    if owner.parameters is None or owner.extra or focus.tie is not Tie.OWN:
        return False
    members = parsed.library.members(owner).values()
    return _GIVEN.search(focus.prose.lower()) is not None and not any(
        one.kind == "field" for one in members
    )


def _may_be_elsewhere(member: Member, parsed: ParsedQuestion) -> bool:
    if member.tie is Tie.OWN:
        return False
    library = parsed.library
    if member.by_option:
        # The class was only guessed from the name of a variable.
        return bool(library.index.find(member.name))
    return library.is_field_elsewhere(member.name, member.owner)


def _relation(
    option: ParsedOption, member: Member, parsed: ParsedQuestion, is_there: bool
) -> Relation:
    if member.by_option or not parsed.focus.is_whole or option.whole is None:
        return Relation.NECESSARY
    if not is_there:
        return Relation.EQUIVALENT
    return Relation.EQUIVALENT if _is_of_sort(member, parsed) else Relation.NECESSARY


def _is_of_sort(member: Member, parsed: ParsedQuestion) -> bool:
    """Return whether what is there is what the noun says, and not merely something of that name."""
    owner, noun = member.owner, parsed.focus.noun
    if noun is Noun.PARAMETER:
        return owner.parameter(member.name) is not None
    found = parsed.library.members(owner).get(member.name)
    return found is not None and found.kind in _SORTS.get(noun, ())


def _text(
    member: Member, parsed: ParsedQuestion, is_there: bool, *, is_parameter: bool = False
) -> ProofParts:
    library, owner = parsed.library, member.owner
    place = library.place(owner)
    instead = None if is_there else _sibling(member, parsed)
    sibling = None if instead is None else repr(instead)
    owner_text = place.expression
    if owner.kind in CALLABLES or is_parameter:
        return ProofParts(
            statement=f"`{member.name}` is a parameter of `{owner_text}`",
            imports=("import inspect", place.statement),
            constants=(("PARAMETERS", f"inspect.signature({owner_text}).parameters"),),
            holds="assert DISPUTED in PARAMETERS",
            fails="assert DISPUTED not in PARAMETERS",
            disputed=repr(member.name),
            instead=sibling,
        )
    signature = ("import inspect",) if owner.parameters is not None else ()
    helper = names_of_class(
        has_signature=owner.parameters is not None, has_fields=bool(owner.extra)
    )
    return ProofParts(
        statement=f"`{owner_text}` has or takes something called `{member.name}`",
        imports=("import dis", *signature, place.statement),
        helpers=(helper,),
        holds=f"assert DISPUTED in names({owner_text})",
        fails=f"assert DISPUTED not in names({owner_text})",
        disputed=repr(member.name),
        instead=sibling,
    )


def _sibling(member: Member, parsed: ParsedQuestion) -> str | None:
    """Return a member the owner does have, of which the proof would say the opposite."""
    owner = member.owner
    taken = () if owner.is_enum else owner.parameters or ()
    parameters = [one.name for one in taken if not one.kind.startswith("var_")]
    own = parameters or [
        name for name in sorted(parsed.library.members(owner)) if not name.startswith("_")
    ]
    return own[0] if own else None


class CommandOptions:
    """An option that offers a flag."""

    name = "command-option"

    def drafts(self, parsed: ParsedQuestion) -> Iterable[Draft]:
        for option in parsed.options.values():
            command = find_command(option, parsed)
            flag = next((one for one in option.named if one.form is CodeForm.FLAG), None)
            if flag is not None and command is not None:
                yield _flag_draft(option, flag.name, command, parsed)


def find_command(option: ParsedOption, parsed: ParsedQuestion) -> Symbol | None:
    """Return the command the option speaks of, or else the only one the question names."""
    for mentions in (option.mentions, parsed.focus.mentions):
        found = {one.path: one for one in _commands(mentions, parsed)}
        if found:
            return next(iter(found.values())) if len(found) == 1 else None
    return None


def _commands(mentions: Iterable[Mention], parsed: ParsedQuestion) -> Iterable[Symbol]:
    for mention in mentions:
        if mention.form not in (CodeForm.COMMAND, CodeForm.NAME) or not mention.quoted:
            continue
        words = [word for word in mention.code.split() if not word.startswith("-")]
        found = parsed.library.owner(" ".join(words), ("command",))
        if found is not None:
            yield found


def _flag_draft(option: ParsedOption, flag: str, command: Symbol, parsed: ParsedQuestion) -> Draft:
    known = {name for name in parsed.library.members(command) if name.startswith("-")}
    known |= {alias for one in parsed.library.members(command).values() for alias in one.aliases}
    program, *subcommands = command.path.split()
    is_there = flag in known
    is_whole = parsed.focus.is_whole and parsed.focus.noun in (Noun.FLAG, Noun.FIELD)
    instead = None if is_there else next(iter(sorted(known - {"--help"})), "--help")
    return Draft(
        option=option.letter,
        relation=Relation.EQUIVALENT if is_whole else Relation.NECESSARY,
        text=ProofParts(
            statement=f"`{command.path}` has the option `{flag}`",
            imports=("import click", "from importlib.metadata import entry_points"),
            disputed=repr(flag),
            instead=None if instead is None else repr(instead),
            constants=(("PROGRAM", repr(program)), ("SUBCOMMANDS", repr(tuple(subcommands)))),
            helpers=(COMMAND,),
            holds="assert DISPUTED in options()",
            fails="assert DISPUTED not in options()",
        ),
        expected=is_there,
    )
