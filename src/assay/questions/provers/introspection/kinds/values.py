"""Values: the default of a parameter, and the members of an enumeration."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from assay.questions.index import Symbol
from assay.questions.proofs.claims import Relation
from assay.questions.provers.introspection.drafts import Draft, ProofParts
from assay.questions.provers.introspection.library import CALLABLES, CLASSES
from assay.questions.provers.introspection.reading import (
    CodeForm,
    Noun,
    ParsedOption,
    ParsedQuestion,
)
from assay.questions.provers.introspection.reading.parsed_question import resolve_owner

_IS_DEFAULT = '''
def is_default(value):
    """Whether the parameter has this value if none is given; True is not 1."""
    found = PARAMETER.default
    return type(found) is type(value) and found == value
'''


class Defaults:
    """Options that are values, where the question asks for a default."""

    name = "default"

    def drafts(self, parsed: ParsedQuestion) -> Iterable[Draft]:
        found = _parameter(parsed)
        if found is None:
            return
        owner, name, default = found
        values = {one.letter: _value(one) for one in parsed.options.values()}
        # Behind a None there may be another value that takes its place later.
        is_told = default != "None" or "None" in values.values()
        for option in parsed.options.values():
            value = values[option.letter]
            if value is not None and is_told:
                yield _draft(option, owner, name, default, value, parsed)


def _parameter(parsed: ParsedQuestion) -> tuple[Symbol, str, str] | None:
    """Return what takes the parameter, its name, and its default, if that can be written down."""
    focus, library = parsed.focus, parsed.library
    if focus.noun is not Noun.DEFAULT or focus.subject is None or not focus.subject.name:
        return None
    owner = resolve_owner(focus.owner, library) if focus.owner else None
    if owner is None and focus.subject.head:
        owner = library.owner(focus.subject.head, (*CLASSES, *CALLABLES))
    if owner is None or owner.kind not in (*CLASSES, *CALLABLES):
        return None
    parameter = owner.parameter(focus.subject.last)
    if parameter is None or parameter.default is None or _literal(parameter.default) is None:
        return None
    return owner, parameter.name, parameter.default


def _value(option: ParsedOption) -> str | None:
    text = option.text.strip("`. ") if option.whole is None else option.whole.code
    if option.whole is not None and option.whole.form not in (CodeForm.LITERAL, CodeForm.CODE):
        return None
    return _literal(text)


def _literal(text: str) -> str | None:
    try:
        return repr(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _draft(
    option: ParsedOption, owner: Symbol, name: str, default: str, value: str, parsed: ParsedQuestion
) -> Draft:
    place = parsed.library.place(owner)
    is_right = _literal(default) == value
    return Draft(
        option=option.letter,
        relation=Relation.EQUIVALENT,
        text=ProofParts(
            statement=f"the default of `{name}` of `{place.expression}` is `{value}`",
            imports=("import inspect", place.statement),
            disputed=value,
            instead=None if is_right else default,
            constants=(("PARAMETER", _expression(place.expression, name)),),
            helpers=(_IS_DEFAULT,),
            holds="assert is_default(DISPUTED)",
            fails="assert not is_default(DISPUTED)",
        ),
        expected=is_right,
    )


def _expression(owner: str, name: str) -> str:
    return f"inspect.signature({owner}).parameters[{name!r}]"


_ASKED = re.compile(
    r"\b(?:which|what)(?: one)?(?: of (?:these|the following))?(?: names?| values?| strings?)? "
    r"(?:is|are)(?: not)? (?:an? )?(?:(?:valid|defined|existing|possible) )?"
    r"(?P<noun>(?:enum(?:eration)? )?(?:members?|values?)) "
    r"(?:of|in) (?:the )?(?:enum(?:eration)? )?(?:class )?`(?P<owner>[\w.]+)`"
    r"(?: enum(?:eration)?(?: class)?)?\s*\?\s*$",
    re.IGNORECASE,
)


class Enums:
    """Options that are names or values, where those of an enumeration are asked for."""

    name = "enum"

    def drafts(self, parsed: ParsedQuestion) -> Iterable[Draft]:
        found = _ASKED.search(parsed.focus.prose)
        owner = parsed.library.owner(found["owner"], CLASSES) if found else None
        if found is None or owner is None or not owner.is_enum or not owner.available:
            return
        for option in parsed.options.values():
            draft = _enum_draft(option, owner, "value" in found["noun"].lower(), parsed)
            if draft is not None:
                yield draft


def _enum_draft(
    option: ParsedOption, owner: Symbol, by_value: bool, parsed: ParsedQuestion
) -> Draft | None:
    whole = option.whole
    if whole is None or whole.form not in (CodeForm.NAME, CodeForm.LITERAL):
        return None
    if whole.form is CodeForm.LITERAL and not by_value:
        return None
    if whole.head and parsed.library.owner(whole.head, CLASSES) != owner:
        return None
    is_name = whole.form is CodeForm.NAME
    place = parsed.library.place(owner)
    known = "VALUES" if not is_name else "VALUES | NAMES" if by_value else "NAMES"
    return Draft(
        option=option.letter,
        relation=Relation.EQUIVALENT,
        text=ProofParts(
            statement=f"`{place.expression}` has a member or value `{whole.code}`",
            imports=(place.statement,),
            disputed=repr(whole.last) if is_name else repr(ast.literal_eval(whole.code)),
            constants=(
                ("NAMES", f"set({place.expression}.__members__)"),
                ("VALUES", f"{{one.value for one in {place.expression}}}"),
            ),
            holds=f"assert DISPUTED in {known}",
            # Neither as it is written nor in capitals, neither as a name nor as a value.
            fails="known = {str(one).lower() for one in NAMES | VALUES}\n"
            "assert str(DISPUTED).lower() not in known",
            controls=("assert NAMES",),
        ),
    )
