"""Defaults: the value a parameter or field has when nothing is given."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from assay.questions.index import Symbol
from assay.questions.proofs.claims import Relation
from assay.questions.provers.introspection.kinds.kind import Draft
from assay.questions.provers.introspection.library import CALLABLES, CLASSES
from assay.questions.provers.introspection.reading import Form, Noun, Offer, Reading
from assay.questions.provers.introspection.reading.understanding import resolve_owner
from assay.questions.provers.introspection.writing import ProofText

_IS_DEFAULT = '''
def is_default(value):
    """Whether the parameter has this value if none is given; True is not 1."""
    found = PARAMETER.default
    return type(found) is type(value) and found == value
'''


class Defaults:
    """Options that are values, where the question asks for a default."""

    name = "default"

    def drafts(self, reading: Reading) -> Iterable[Draft]:
        found = _parameter(reading)
        if found is None:
            return
        owner, name, default = found
        values = {one.option: _value(one) for one in reading.offers.values()}
        # Behind a None there may be another value that takes its place later.
        is_told = default != "None" or "None" in values.values()
        for offer in reading.offers.values():
            value = values[offer.option]
            if value is not None and is_told:
                yield _draft(offer, owner, name, default, value, reading)


def _parameter(reading: Reading) -> tuple[Symbol, str, str] | None:
    """What takes the parameter, its name, and its default, if that can be written down."""
    asked, library = reading.asked, reading.library
    if asked.noun is not Noun.DEFAULT or asked.subject is None or not asked.subject.name:
        return None
    owner = resolve_owner(asked.owner, library) if asked.owner else None
    if owner is None and asked.subject.head:
        owner = library.owner(asked.subject.head, (*CLASSES, *CALLABLES))
    if owner is None or owner.kind not in (*CLASSES, *CALLABLES):
        return None
    parameter = owner.parameter(asked.subject.last)
    if parameter is None or parameter.default is None or _literal(parameter.default) is None:
        return None
    return owner, parameter.name, parameter.default


def _value(offer: Offer) -> str | None:
    text = offer.text.strip("`. ") if offer.whole is None else offer.whole.code
    if offer.whole is not None and offer.whole.form not in (Form.LITERAL, Form.CODE):
        return None
    return _literal(text)


def _literal(text: str) -> str | None:
    try:
        return repr(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _draft(
    offer: Offer, owner: Symbol, name: str, default: str, value: str, reading: Reading
) -> Draft:
    place = reading.library.place(owner)
    is_right = _literal(default) == value
    return Draft(
        option=offer.option,
        relation=Relation.EQUIVALENT,
        text=ProofText(
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
