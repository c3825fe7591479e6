"""Classes: their bases, the role these imply, and the sort of their methods."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Iterator

from assay.questions.index import Symbol
from assay.questions.proofs.claims import Relation
from assay.questions.provers.introspection.drafts import Draft, ProofParts
from assay.questions.provers.introspection.library import CALLABLES, CLASSES, ImportPath
from assay.questions.provers.introspection.proof_helpers import SORTS_IMPORTS, SORTS_OF_METHOD
from assay.questions.provers.introspection.reading import (
    CodeForm,
    Noun,
    ParsedOption,
    ParsedQuestion,
)

_INHERITS = re.compile(
    r"\b(?:does|do) (?:the (?:\w+ )?)?`([\w.]+)` (?:directly )?"
    r"(?:inherit|derive|subclass|extend|descend)s?(?: from)?\s*\?"
    r"|\b(?:parent|base|super) ?class of (?:the (?:\w+ )?)?`([\w.]+)`\s*\?"
    r"|`([\w.]+)` (?:is|are) (?:an? )?(?:direct )?(?:subclass|child class) of (?:which|what)\b",
    re.IGNORECASE,
)


class Bases:
    """Options that are classes, where the question asks what a class inherits from."""

    name = "base"

    def drafts(self, parsed: ParsedQuestion) -> Iterable[Draft]:
        found = _INHERITS.search(parsed.focus.prose)
        owner = _find_owner(found, parsed) if found else None
        if owner is None:
            return
        for option in parsed.options.values():
            place = _find_base(option, parsed)
            if place is not None:
                yield _draft(option, owner, place, parsed)


def _find_owner(found: re.Match[str], parsed: ParsedQuestion) -> Symbol | None:
    return parsed.library.owner(next(one for one in found.groups() if one), CLASSES)


def _find_base(option: ParsedOption, parsed: ParsedQuestion) -> ImportPath | None:
    if option.whole and isinstance(getattr(builtins, option.whole.name, None), type):
        return ImportPath("builtins", (option.whole.name,))
    symbol = _find_class(option, parsed)
    return None if symbol is None else parsed.library.place(symbol)


def _draft(
    option: ParsedOption, owner: Symbol, offered: ImportPath, parsed: ParsedQuestion
) -> Draft:
    """Leave a class open that is inherited from, but not directly."""
    place = parsed.library.place(owner)
    return Draft(
        option=option.letter,
        relation=Relation.EQUIVALENT,
        text=ProofParts(
            statement=f"`{place.expression}` inherits from `{offered.expression}`",
            imports=(place.statement, offered.statement),
            disputed=offered.expression,
            instead=f"{place.expression}.__bases__[0]",
            holds=f"assert DISPUTED in {place.expression}.__bases__",
            fails=f"assert DISPUTED not in {place.expression}.__mro__",
        ),
    )


class ClassRoles:
    """An option that is a class of the target, where the question says what sort of class."""

    name = "sort"

    def drafts(self, parsed: ParsedQuestion) -> Iterable[Draft]:
        for option in parsed.options.values():
            symbol = _find_class(option, parsed)
            if symbol is not None and parsed.focus.noun is Noun.THING:
                yield from _draft_role(option, symbol, parsed)


def _find_class(option: ParsedOption, parsed: ParsedQuestion) -> Symbol | None:
    whole = option.whole
    if whole is None or whole.form is not CodeForm.NAME:
        return None
    return parsed.library.owner(whole.name, CLASSES)


def _draft_role(option: ParsedOption, symbol: Symbol, parsed: ParsedQuestion) -> Iterable[Draft]:
    """Refute a class that neither is called so nor inherits from the base class."""
    library, word = parsed.library, parsed.focus.word.removesuffix("s")
    base = library.base_of(parsed.focus.word)
    if base is None or base.path == symbol.path or word in symbol.name.lower():
        return
    is_one = base.path in symbol.bases or any(path in symbol.bases for path in base.paths)
    example = _example(base, parsed)
    if is_one or example is None:
        return
    places = [library.place(one) for one in (symbol, base, example)]
    yield Draft(
        option=option.letter,
        relation=Relation.NECESSARY,
        text=ProofParts(
            statement=f"`{symbol.name}` is a {word}: it inherits from `{base.name}`",
            imports=tuple(one.statement for one in places),
            disputed=places[0].expression,
            instead=places[2].expression,
            holds=f"assert issubclass(DISPUTED, {places[1].expression})",
            fails=f"assert not issubclass(DISPUTED, {places[1].expression})",
        ),
        expected=False,
    )


def _example(base: Symbol, parsed: ParsedQuestion) -> Symbol | None:
    """Return a class that does inherit from the base, plainly reached."""
    found = (
        one
        for one in parsed.library.index.of_kinds(CLASSES)
        if base.path in one.bases and one.available and not one.foreign and not one.is_private
    )
    return next(found, None)


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

    def drafts(self, parsed: ParsedQuestion) -> Iterable[Draft]:
        asking = re.split(r"(?<=[.?!])\s+(?=[A-Z])", parsed.focus.prose)[-1]
        if found := _IS_ONE.search(asking):
            yield from _members(_sort(found), parsed)
        elif found := _WHAT_KIND.search(asking):
            yield from _kinds(found[1], parsed)


def _sort(found: re.Match[str]) -> str:
    names = tuple(_SORTS)
    return next(name for number, name in enumerate(names) if found[f"s{number}"])


def _members(sort: str, parsed: ParsedQuestion) -> Iterator[Draft]:
    for option in parsed.options.values():
        whole = option.whole
        if whole is None or whole.form not in (CodeForm.NAME, CodeForm.CALL) or whole.keywords:
            continue
        holder = _holder(whole.head, parsed)
        if holder is not None and (
            draft := _decoration_draft(option.letter, holder, whole.last, sort, parsed)
        ):
            yield draft


def _holder(head: str, parsed: ParsedQuestion) -> Symbol | None:
    """Return the class a member is said to be of: by the option itself, or by the question."""
    if head:
        return parsed.library.owner(head, CLASSES)
    return parsed.owner if parsed.owner and parsed.owner.kind in CLASSES else None


def _kinds(name: str, parsed: ParsedQuestion) -> Iterator[Draft]:
    head, _, last = name.strip().removesuffix("()").rpartition(".")
    holder = parsed.library.owner(head, CLASSES) if head else None
    if holder is None:
        return
    for option in parsed.options.values():
        found = _A_SORT.fullmatch(option.text.replace("`", "").strip())
        if found and (
            draft := _decoration_draft(option.letter, holder, last, _sort(found), parsed)
        ):
            yield draft


def _decoration_draft(
    option: str, holder: Symbol, name: str, sort: str, parsed: ParsedQuestion
) -> Draft | None:
    """Return a draft about a member that is there; one that is not is another kind of claim."""
    member = parsed.library.members(holder).get(name)
    if member is None or member.kind not in ("property", *CALLABLES) or not holder.available:
        return None
    place = parsed.library.place(holder)
    return Draft(
        option=option,
        relation=Relation.EQUIVALENT,
        text=ProofParts(
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
