"""Enumerations: the names and the values that an enumeration of the target has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from assay.questions.index import Symbol
from assay.questions.proofs.claims import Relation
from assay.questions.provers.introspection.kinds.kind import Draft
from assay.questions.provers.introspection.library import CLASSES
from assay.questions.provers.introspection.reading import Form, Offer, Reading
from assay.questions.provers.introspection.writing import ProofText

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

    def drafts(self, reading: Reading) -> Iterable[Draft]:
        found = _ASKED.search(reading.asked.prose)
        owner = reading.library.owner(found["owner"], CLASSES) if found else None
        if found is None or owner is None or not owner.is_enum or not owner.available:
            return
        for offer in reading.offers.values():
            draft = _draft(offer, owner, "value" in found["noun"].lower(), reading)
            if draft is not None:
                yield draft


def _draft(offer: Offer, owner: Symbol, by_value: bool, reading: Reading) -> Draft | None:
    whole = offer.whole
    if whole is None or whole.form not in (Form.NAME, Form.LITERAL):
        return None
    if whole.form is Form.LITERAL and not by_value:
        return None
    if whole.head and reading.library.owner(whole.head, CLASSES) != owner:
        return None
    is_name = whole.form is Form.NAME
    place = reading.library.place(owner)
    known = "VALUES" if not is_name else "VALUES | NAMES" if by_value else "NAMES"
    return Draft(
        option=offer.option,
        relation=Relation.EQUIVALENT,
        text=ProofText(
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
