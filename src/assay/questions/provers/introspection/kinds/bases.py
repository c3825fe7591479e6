"""Bases: from which class another one inherits."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable

from assay.questions.index import Symbol
from assay.questions.proofs.claims import Relation
from assay.questions.provers.introspection.kinds.kind import Draft
from assay.questions.provers.introspection.library import CLASSES, Place
from assay.questions.provers.introspection.reading import Form, Offer, Reading
from assay.questions.provers.introspection.writing import ProofText

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

    def drafts(self, reading: Reading) -> Iterable[Draft]:
        found = _INHERITS.search(reading.asked.prose)
        owner = _named(found, reading) if found else None
        if owner is None:
            return
        for offer in reading.offers.values():
            place = _offered(offer, reading)
            if place is not None:
                yield _draft(offer, owner, place, reading)


def _named(found: re.Match[str], reading: Reading) -> Symbol | None:
    return reading.library.owner(next(one for one in found.groups() if one), CLASSES)


def _offered(offer: Offer, reading: Reading) -> Place | None:
    whole = offer.whole
    if whole is None or whole.form is not Form.NAME:
        return None
    if isinstance(getattr(builtins, whole.name, None), type):
        return Place("builtins", (whole.name,))
    symbol = reading.library.owner(whole.name, CLASSES)
    return None if symbol is None else reading.library.place(symbol)


def _draft(offer: Offer, owner: Symbol, offered: Place, reading: Reading) -> Draft:
    """A class that is inherited from, but not directly, is neither confirmed nor refuted."""
    place = reading.library.place(owner)
    return Draft(
        option=offer.option,
        relation=Relation.EQUIVALENT,
        text=ProofText(
            statement=f"`{place.expression}` inherits from `{offered.expression}`",
            imports=(place.statement, offered.statement),
            disputed=offered.expression,
            instead=f"{place.expression}.__bases__[0]",
            holds=f"assert DISPUTED in {place.expression}.__bases__",
            fails=f"assert DISPUTED not in {place.expression}.__mro__",
        ),
    )
