"""Members: a parameter, field, method or attribute of a class or function that is named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay.questions.index import Symbol
from assay.questions.proofs.claims import Relation
from assay.questions.provers.introspection.kinds.kind import Draft
from assay.questions.provers.introspection.library import CALLABLES, CLASSES
from assay.questions.provers.introspection.reading import Form, Mention, Noun, Offer, Reading, Tie
from assay.questions.provers.introspection.writing import ProofText
from assay.questions.provers.introspection.writing.helpers import names_of_class

_NAMING = (Form.NAME, Form.KEYWORD, Form.CALL)
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

    def drafts(self, reading: Reading) -> Iterable[Draft]:
        for offer in reading.offers.values():
            drafts = [draft_of(offer, one, reading) for one in members_of(offer, reading)]
            yield from (one for one in drafts if one is not None)


def members_of(offer: Offer, reading: Reading) -> Iterator[Member]:
    """What an option says belongs to whom."""
    if offer.is_negated and offer.whole is None:
        return
    for mention in offer.named:
        yield from _by_itself(mention, offer, reading)
    owner, asked = reading.owner, reading.asked
    if owner is None or owner.kind not in (*CLASSES, *CALLABLES):
        return
    if asked.tie is Tie.NONE or asked.noun not in _TIED_NOUNS:
        return
    one = offer.whole
    if one is None or one.form not in _NAMING or one.head or one.keywords:
        return
    if owner.kind in CLASSES or asked.noun is Noun.PARAMETER:
        yield Member(owner, one.last, asked.tie, as_keyword=asked.noun is not Noun.METHOD)


def _by_itself(mention: Mention, offer: Offer, reading: Reading) -> Iterator[Member]:
    """`Owner(name=…)`, `Owner.name`, and "`name=…` in the `Owner` constructor"."""
    library = reading.library
    if mention.form is Form.CALL:
        owner = library.owner(mention.name, (*CLASSES, *CALLABLES))
        if owner is not None and not _is_given(mention.name, reading):
            yield from (Member(owner, one, Tie.OWN, by_option=True) for one in mention.keywords)
    if mention.form in (Form.CALL, Form.NAME, Form.KEYWORD) and mention.head:
        holder = reading.types.get(mention.head) or library.owner(mention.head, CLASSES)
        if holder is not None:
            yield Member(holder, mention.last, Tie.OWN, by_option=True, as_keyword=False)
        elif (guessed := library.receiver(mention.head)) is not None:
            yield Member(guessed, mention.last, Tie.NEAR, by_option=True, as_keyword=False)
    if mention.form in (Form.KEYWORD, Form.NAME) and not mention.head and offer.whole is None:
        owner = _said_owner(mention, offer, reading)
        if owner is not None:
            yield Member(owner, mention.last, Tie.OWN, by_option=True)


_TO_OWNER = re.compile(
    r"\s*(?:(?:parameter|argument|field|setting|attribute|keyword|flag|property|list)s?\s+)?"
    r"(?:of|in|on|to|for|when creating|when constructing)\s+(?:the\s+|an?\s+|your\s+)?$",
    re.IGNORECASE,
)


def _said_owner(mention: Mention, offer: Offer, reading: Reading) -> Symbol | None:
    """The class that follows with nothing between but "in the", "parameter of the", …"""
    later = [one for one in offer.mentions if one.start >= mention.end]
    if not later or later[0].form is not Form.NAME:
        return None
    if not _TO_OWNER.fullmatch(offer.text[mention.end : later[0].start]):
        return None
    return reading.library.owner(later[0].name, CLASSES)


def _is_given(name: str, reading: Reading) -> bool:
    """Whether the question's own code defines a thing of that name."""
    return re.search(rf"\b(?:class|def)\s+{re.escape(name)}\b", reading.code) is not None


def draft_of(offer: Offer, member: Member, reading: Reading) -> Draft | None:
    """The proof, unless absence would mean nothing or the name may be meant of something else."""
    library, owner, name = reading.library, member.owner, member.name
    if name.startswith("__") or not name.isidentifier():
        return None
    is_parameter = _is_plain_parameter(member, reading)
    names = library.names_of(owner)
    if is_parameter:
        names = frozenset(one.name for one in owner.parameters or ())
    is_there = name in names
    if not is_there and (
        library.is_open(owner, as_keyword=member.as_keyword) or _may_be_elsewhere(member, reading)
    ):
        return None
    return Draft(
        option=offer.option,
        relation=_relation(offer, member, reading, is_there),
        text=_text(member, reading, is_there, is_parameter=is_parameter),
        expected=is_there,
    )


_GIVEN = re.compile(r"\bconstructor\b|\barguments?\b|\bkeywords?\b|\bpass(?:ed|ing)?\b")


def _is_plain_parameter(member: Member, reading: Reading) -> bool:
    """Whether it can be nothing but a parameter: it is given to a class that says what it takes.

    What declares fields is left out: there a parameter and an attribute are one and the same.
    """
    owner, asked = member.owner, reading.asked
    if member.by_option or asked.noun is not Noun.PARAMETER or owner.kind not in CLASSES:
        return False
    if owner.parameters is None or owner.extra or asked.tie is not Tie.OWN:
        return False
    members = reading.library.members(owner).values()
    return _GIVEN.search(asked.prose.lower()) is not None and not any(
        one.kind == "field" for one in members
    )


def _may_be_elsewhere(member: Member, reading: Reading) -> bool:
    if member.tie is Tie.OWN:
        return False
    library = reading.library
    if member.by_option:
        # The class was only guessed from the name of a variable.
        return bool(library.index.find(member.name))
    return library.is_field_elsewhere(member.name, member.owner)


def _relation(offer: Offer, member: Member, reading: Reading, is_there: bool) -> Relation:
    if member.by_option or not reading.asked.is_whole or offer.whole is None:
        return Relation.NECESSARY
    if not is_there:
        return Relation.EQUIVALENT
    return Relation.EQUIVALENT if _is_of_sort(member, reading) else Relation.NECESSARY


def _is_of_sort(member: Member, reading: Reading) -> bool:
    """Whether what is there is what the noun says, and not merely something of that name."""
    owner, noun = member.owner, reading.asked.noun
    if noun is Noun.PARAMETER:
        return owner.parameter(member.name) is not None
    found = reading.library.members(owner).get(member.name)
    return found is not None and found.kind in _SORTS.get(noun, ())


def _text(
    member: Member, reading: Reading, is_there: bool, *, is_parameter: bool = False
) -> ProofText:
    library, owner = reading.library, member.owner
    place = library.place(owner)
    instead = None if is_there else _sibling(member, reading)
    sibling = None if instead is None else repr(instead)
    owner_text = place.expression
    if owner.kind in CALLABLES or is_parameter:
        return ProofText(
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
    return ProofText(
        statement=f"`{owner_text}` has or takes something called `{member.name}`",
        imports=("import dis", *signature, place.statement),
        helpers=(helper,),
        holds=f"assert DISPUTED in names({owner_text})",
        fails=f"assert DISPUTED not in names({owner_text})",
        disputed=repr(member.name),
        instead=sibling,
    )


def _sibling(member: Member, reading: Reading) -> str | None:
    """A member the owner does have, of which the proof would say the opposite."""
    owner = member.owner
    taken = () if owner.is_enum else owner.parameters or ()
    parameters = [one.name for one in taken if not one.kind.startswith("var_")]
    own = parameters or [
        name for name in sorted(reading.library.members(owner)) if not name.startswith("_")
    ]
    return own[0] if own else None
