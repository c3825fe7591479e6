"""Decorations: whether a member is a class method, a static method, a property, or asynchronous."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from assay.questions.index import Symbol
from assay.questions.proofs.claims import Relation
from assay.questions.provers.introspection.kinds.kind import Draft
from assay.questions.provers.introspection.library import CALLABLES, CLASSES
from assay.questions.provers.introspection.reading import Form, Reading, Tie
from assay.questions.provers.introspection.writing import ProofText
from assay.questions.provers.introspection.writing.helpers import SORTS_IMPORTS, SORTS_OF_METHOD

_SORTS = {
    "class method": r"class[ -]?methods?",
    "static method": r"static[ -]?methods?",
    "property": r"propert(?:y|ies)",
    "asynchronous": r"async(?:hronous)?|coroutine|awaitable",
    "instance method": r"(?:(?:regular|ordinary|plain|normal) )?instance methods?",
}
# Each as the class that shows it: a proof that brings the words could find them in itself.
_CLASSES = {
    "class method": "classmethod",
    "static method": "staticmethod",
    "property": "property",
    "asynchronous": "collections.abc.Awaitable",
    "instance method": "types.FunctionType",
}
_ARTICLE = r"(?:an? |the )?"
_NOUN = r"(?: (?:methods?|functions?))?"
_ANY = "|".join(f"(?P<s{number}>{words})" for number, words in enumerate(_SORTS.values()))
_IS_ONE = re.compile(
    r"^(?:which|what)(?: one)?(?: of (?:these|the following))?"
    r"(?: (?:methods?|members?|functions?))?"
    rf"(?: (?:of|in|on) (?:the )?(?:class )?`[^`]+`(?: class)?)? (?:is|are)(?: not)? {_ARTICLE}"
    rf"(?:{_ANY}){_NOUN}(?: (?:of|in|on) (?:the )?(?:class )?`[^`]+`(?: class)?)?\s*\?$",
    re.IGNORECASE,
)
_WHAT_KIND = re.compile(
    r"^what (?:kind|sort|type) of (?:method|member|function|attribute) is (?:the )?(?:method )?"
    r"`([^`]+)`\s*\?$",
    re.IGNORECASE,
)
_A_SORT = re.compile(rf"{_ARTICLE}(?:{_ANY}){_NOUN}\W*", re.IGNORECASE)


class Decorations:
    """Options that are members, where a sort of member is asked for, or the other way round."""

    name = "decoration"

    def drafts(self, reading: Reading) -> Iterable[Draft]:
        asking = re.split(r"(?<=[.?!])\s+(?=[A-Z])", reading.asked.prose)[-1]
        if found := _IS_ONE.search(asking):
            yield from _members(_sort(found), reading)
        elif found := _WHAT_KIND.search(asking):
            yield from _kinds(found[1], reading)


def _sort(found: re.Match[str]) -> str:
    names = tuple(_SORTS)
    return next(name for number, name in enumerate(names) if found[f"s{number}"])


def _members(sort: str, reading: Reading) -> Iterator[Draft]:
    for offer in reading.offers.values():
        whole = offer.whole
        if whole is None or whole.form not in (Form.NAME, Form.CALL) or whole.keywords:
            continue
        holder = _holder(whole.head, reading)
        if holder is not None and (
            draft := _draft(offer.option, holder, whole.last, sort, reading)
        ):
            yield draft


def _holder(head: str, reading: Reading) -> Symbol | None:
    """The class a member is said to be of: by the option itself, or by the question."""
    if head:
        return reading.library.owner(head, CLASSES)
    owner = reading.owner if reading.asked.tie is not Tie.NONE else _only_class(reading)
    return owner if owner is not None and owner.kind in CLASSES else None


def _only_class(reading: Reading) -> Symbol | None:
    found = {
        one.path: one
        for mention in reading.asked.mentions
        if (one := reading.library.owner(mention.name, CLASSES)) is not None
    }
    return next(iter(found.values())) if len(found) == 1 else None


def _kinds(name: str, reading: Reading) -> Iterator[Draft]:
    head, _, last = name.strip().removesuffix("()").rpartition(".")
    holder = reading.library.owner(head, CLASSES) if head else None
    if holder is None:
        return
    for offer in reading.offers.values():
        found = _A_SORT.fullmatch(offer.text.replace("`", "").strip())
        if found and (draft := _draft(offer.option, holder, last, _sort(found), reading)):
            yield draft


def _draft(option: str, holder: Symbol, name: str, sort: str, reading: Reading) -> Draft | None:
    """Only of a member that is there; one that is not is another kind of claim."""
    member = reading.library.members(holder).get(name)
    if member is None or member.kind not in ("property", *CALLABLES) or not holder.available:
        return None
    place = reading.library.place(holder)
    return Draft(
        option=option,
        relation=Relation.EQUIVALENT,
        text=ProofText(
            statement=f"`{place.expression}.{name}` is a member of the sort {sort!r}",
            imports=(*SORTS_IMPORTS, place.statement),
            disputed=_CLASSES[sort],
            constants=(("MEMBER", f"inspect.getattr_static({place.expression}, {name!r})"),),
            helpers=(SORTS_OF_METHOD,),
            holds="assert DISPUTED in sorts(MEMBER)",
            fails="assert DISPUTED not in sorts(MEMBER)",
            controls=("assert sorts(MEMBER)",),
        ),
    )
