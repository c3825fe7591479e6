"""Sorts: a class that is offered as a plugin, a tool, an abstract base class is one."""

from __future__ import annotations

from collections.abc import Iterable

from assay.questions.index import Symbol
from assay.questions.proofs.claims import Relation
from assay.questions.provers.introspection.kinds.kind import Draft
from assay.questions.provers.introspection.library import CLASSES
from assay.questions.provers.introspection.reading import Form, Noun, Offer, Reading
from assay.questions.provers.introspection.writing import ProofText


class Sorts:
    """An option that is a class of the target, where the question says what sort of class."""

    name = "sort"

    def drafts(self, reading: Reading) -> Iterable[Draft]:
        for offer in reading.offers.values():
            symbol = _class(offer, reading)
            if symbol is not None and reading.asked.noun is Noun.THING:
                yield from _derived(offer, symbol, reading)


def _class(offer: Offer, reading: Reading) -> Symbol | None:
    whole = offer.whole
    if whole is None or whole.form is not Form.NAME:
        return None
    return reading.library.owner(whole.name, CLASSES)


def _derived(offer: Offer, symbol: Symbol, reading: Reading) -> Iterable[Draft]:
    """Only what neither is called so nor inherits from the base class is said not to be one."""
    library, word = reading.library, reading.asked.word.removesuffix("s")
    base = library.base_of(reading.asked.word)
    if base is None or base.path == symbol.path or word in symbol.name.lower():
        return
    is_one = base.path in symbol.bases or any(path in symbol.bases for path in base.paths)
    example = _example(base, reading)
    if is_one or example is None:
        return
    places = [library.place(one) for one in (symbol, base, example)]
    yield Draft(
        option=offer.option,
        relation=Relation.NECESSARY,
        text=ProofText(
            statement=f"`{symbol.name}` is a {word}: it inherits from `{base.name}`",
            imports=tuple(one.statement for one in places),
            disputed=places[0].expression,
            instead=places[2].expression,
            holds=f"assert issubclass(DISPUTED, {places[1].expression})",
            fails=f"assert not issubclass(DISPUTED, {places[1].expression})",
        ),
        expected=False,
    )


def _example(base: Symbol, reading: Reading) -> Symbol | None:
    """A class that does inherit from the base, plainly reached."""
    found = (
        one
        for one in reading.library.index.of_kinds(CLASSES)
        if base.path in one.bases and one.available and not one.foreign and not one.is_private
    )
    return next(found, None)
