"""Signatures of callbacks: what the target passes by keyword is what the function has to take."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from assay.questions.proofs.claims import Relation
from assay.questions.provers.introspection.kinds.kind import Draft
from assay.questions.provers.introspection.library import Library
from assay.questions.provers.introspection.reading import Form, Noun, Offer, Reading
from assay.questions.provers.introspection.writing import ProofText
from assay.questions.provers.introspection.writing.helpers import CALLS, FILES, FILES_IMPORTS


class Signatures:
    """Options that are function headers, where the question asks for that of a callback."""

    name = "signature"

    def drafts(self, reading: Reading) -> Iterable[Draft]:
        asked, library = reading.asked, reading.library
        subject = asked.subject
        if asked.noun is not Noun.SIGNATURE or subject is None or not subject.name:
            return
        if len(library.distributions) != 1 or not library.index.find(subject.last, ("field",)):
            return
        for offer in reading.offers.values():
            names = _parameters(offer)
            if names is not None:
                yield _draft(offer, names, subject.last, library)


def _parameters(offer: Offer) -> tuple[str, ...] | None:
    """The names of a header that has nothing but plain parameters."""
    whole = offer.whole
    if whole is None or whole.form is not Form.SIGNATURE:
        return None
    try:
        (node,) = ast.parse(f"{whole.code.rstrip(' .…:')}: ...").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    own = node.args
    if own.vararg or own.kwarg or own.defaults or own.kw_defaults or own.posonlyargs:
        return None
    return tuple(one.arg for one in (*own.args, *own.kwonlyargs))


def _draft(offer: Offer, names: tuple[str, ...], callback: str, library: Library) -> Draft:
    return Draft(
        option=offer.option,
        relation=Relation.NECESSARY,
        text=ProofText(
            statement=f"a function of ({', '.join(names)}) takes what `{callback}` is called with",
            imports=("import ast", *FILES_IMPORTS),
            disputed=repr(names),
            constants=(("CALLBACK", repr(callback)), *library.file_constants),
            helpers=(FILES, CALLS),
            holds="assert all(set(DISPUTED) == keywords for keywords in calls())",
            fails="assert all(set(DISPUTED) != keywords for keywords in calls())",
            controls=("assert calls()",),
        ),
    )
