"""Handlers: the callback that is given the exception, where something is said to fail."""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.questions.index import Symbol
from assay.questions.proofs.claims import Relation
from assay.questions.provers.introspection.kinds.kind import Draft
from assay.questions.provers.introspection.library import CLASSES
from assay.questions.provers.introspection.reading import Form, Offer, Reading
from assay.questions.provers.introspection.reading.turned import is_turned
from assay.questions.provers.introspection.writing import ProofText

_NOUN = r"which (?P<noun>callback|hook|handler)"
_HANDLE = r"to (?:handle|catch|intercept|recover from)"
_ERROR = r"(?:the|this|that|its|an|any) (?:exception|error|failure)"
_THING = r"(?:an?|the|any|your) (?P<thing>[a-z]+)(?: (?:call|execution|run|invocation))?"
# Nothing else may be asked of it: what is to happen before or afterwards, no annotation tells.
_ASKED = (
    re.compile(
        rf"\b(?:if|when|whenever) {_THING} (?:fails|(?:raises|throws)(?: an? (?:exception|error))?)"
        rf"\b[^.?]{{0,40}}\b{_HANDLE} {_ERROR}\b[^.?]{{0,90}}, {_NOUN} "
        r"(?:should|do|would|must|can) (?:you|we|one|i) (?:use|set|provide|pass|register|define)"
        r"\s*\?\s*$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b{_NOUN}(?: of (?:the |an? )?`\w+`)? (?:is used|allows you|do you use|should you use) "
        rf"{_HANDLE} {_ERROR} (?:of|from|raised by|that) {_THING}(?: raises| throws)?\s*\?\s*$",
        re.IGNORECASE,
    ),
)

_GIVEN = '''
def given(annotation):
    """What the functions that an annotation allows are called with, one after the other."""
    parts = typing.get_args(annotation)
    if typing.get_origin(annotation) is collections.abc.Callable:
        return [parts[0] if parts else ...]
    return [one for part in parts for one in given(part)]


def is_among(arguments, wanted):
    """Whether one of the arguments is of a class."""
    plain = [typing.get_origin(one) or one for one in arguments]
    if not all(isinstance(one, type) and one is not object for one in plain):
        raise LookupError(f"what {arguments} are is not said")
    return any(issubclass(one, wanted) for one in plain)


def handlers():
    """Those that are given something that failed together with its exception."""
    found = set()
    for name in (one for one in PARAMETERS if NOUN in one):
        for arguments in given(PARAMETERS[name].annotation):
            if is_among(arguments, FAILING) and is_among(arguments, BaseException):
                found.add(name)
    return found
'''


class Handlers:
    """Options that are callbacks of one class, where the one for an exception is asked for."""

    name = "handler"

    def drafts(self, reading: Reading) -> Iterable[Draft]:
        prose = reading.asked.prose
        found = next((hit for one in _ASKED if (hit := one.search(prose))), None)
        if found is None or is_turned(prose):
            return
        failing = reading.library.base_of(found["thing"])
        offered = {name: one for one in reading.offers.values() if (name := _name(one))}
        owner = _owner(offered.keys(), found["thing"], reading)
        if failing is None or owner is None:
            return
        for name, offer in offered.items():
            if owner.parameter(name) is not None and found["noun"].lower() in name:
                yield _draft(offer, name, owner, failing, found["noun"].lower(), reading)


def _name(offer: Offer) -> str:
    whole = offer.whole
    return whole.name if whole and whole.form is Form.NAME and not whole.head else ""


def _owner(names: Iterable[str], thing: str, reading: Reading) -> Symbol | None:
    """The class that takes all those on offer which some class takes: the one that is named, or
    the only one of a sort that the question speaks of."""
    library = reading.library
    classes = [
        one
        for one in library.index.of_kinds(CLASSES)
        if not one.foreign and not one.is_private and one.available
    ]
    taken = {name for name in names if any(one.parameter(name) for one in classes)}
    if len(taken) < 2:
        return None
    taking = [one for one in classes if all(one.parameter(name) for name in taken)]
    if reading.owner is not None:
        return next((one for one in taking if one.path == reading.owner.path), None)
    words = set(re.findall(r"[a-z]+", reading.asked.prose.lower())) - {thing.lower()}
    bases = {base.path for word in words if (base := library.base_of(word))}
    found = [one for one in taking if bases & set(one.bases)]
    return found[0] if len(found) == 1 else None


def _draft(
    offer: Offer, name: str, owner: Symbol, failing: Symbol, noun: str, reading: Reading
) -> Draft:
    """Where several are given the exception, or one does not say what it is given, none is it."""
    place, what = reading.library.place(owner), reading.library.place(failing)
    return Draft(
        option=offer.option,
        relation=Relation.EQUIVALENT,
        text=ProofText(
            statement=f"of the {noun}s of `{place.expression}`, `{name}` is the one that is given "
            f"a `{what.expression}` and its exception",
            imports=(
                "import collections.abc",
                "import inspect",
                "import typing",
                place.statement,
                what.statement,
            ),
            disputed=repr(name),
            constants=(
                ("NOUN", repr(noun)),
                ("FAILING", what.expression),
                ("PARAMETERS", f"inspect.signature({place.expression}, eval_str=True).parameters"),
            ),
            helpers=(_GIVEN,),
            holds="assert handlers() == {DISPUTED}",
            fails="assert DISPUTED not in PARAMETERS or given(PARAMETERS[DISPUTED].annotation)\n"
            "assert len(handlers() - {DISPUTED}) == 1 == len(handlers())",
            controls=("assert handlers()",),
        ),
    )
