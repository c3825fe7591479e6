"""Import statements, and names to be imported: they run, or what they name is missing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from assay.questions.proofs.claims import Relation
from assay.questions.provers.introspection.kinds.kind import Draft
from assay.questions.provers.introspection.library import Library
from assay.questions.provers.introspection.reading import Asked, Form, Mention, Noun, Offer, Reading
from assay.questions.provers.introspection.writing import ProofText
from assay.questions.provers.introspection.writing.helpers import IMPORTS


class Imports:
    """An option that is an import, or a name that is to be imported from a given module."""

    name = "import"

    def drafts(self, reading: Reading) -> Iterable[Draft]:
        for offer in reading.offers.values():
            statement = _statement(offer, reading)
            if statement is None:
                continue
            draft = _draft(offer, statement, reading)
            if draft is not None:
                yield draft


def _statement(offer: Offer, reading: Reading) -> str | None:
    """The import an option offers, in one line."""
    asked, whole = reading.asked, offer.whole
    if whole is None:
        found = [one for one in offer.named if one.form is Form.IMPORT]
        whole = found[0] if len(found) == 1 else None
    if whole is not None and whole.form is Form.IMPORT:
        return _one_line(whole)
    module = asked.owner
    if asked.noun is Noun.THING and asked.is_whole and module is not None and whole is not None:
        is_plain = whole.form is Form.NAME and not whole.head
        return f"from {module.name} import {whole.name}" if is_plain and module.name else None
    return None


def _one_line(mention: Mention) -> str:
    return "; ".join(ast.unparse(one) for one in ast.parse(mention.code).body)


def _draft(offer: Offer, statement: str, reading: Reading) -> Draft | None:
    library = reading.library
    paths = _paths(statement)
    if not paths or not all(library.is_own(path) or _is_near(path, library) for path in paths):
        return None
    if any(library.obstacle(path) for path in paths):
        return None
    known = [library.index.resolve(path) or library.index.origin(path) for path in paths]
    name = paths[-1].rpartition(".")[2]
    instead = _instead(name, statement, reading)
    controls = () if instead else (f"assert works({'import ' + library.roots[0]!r})",)
    return Draft(
        option=offer.option,
        relation=_relation(statement, reading),
        text=ProofText(
            statement=f"`{statement}` runs",
            imports=("import re",),
            disputed=repr(statement),
            instead=None if instead is None else repr(instead),
            helpers=(IMPORTS,),
            holds="assert works(DISPUTED)",
            fails="assert not works(DISPUTED)",
            controls=controls,
        ),
        expected=all(one is not None for one in known),
        fresh=True,
        absent_path=True,
    )


def _paths(statement: str) -> list[str]:
    """Every dotted path that has to exist for the statement to run."""
    paths: list[str] = []
    for node in ast.parse(statement).body:
        if isinstance(node, ast.ImportFrom):
            if node.level or node.module is None:
                return []
            paths += [f"{node.module}.{one.name}" for one in node.names if one.name != "*"]
        elif isinstance(node, ast.Import):
            paths += [one.name for one in node.names]
    return paths


def _is_near(path: str, library: Library) -> bool:
    """Whether a path lies beside the target, under the same first name: `google.agents`."""
    first = path.partition(".")[0]
    beside = any(root.partition(".")[0] == first for root in library.roots)
    return beside and not library.index.is_foreign(path)


# The whole of a question that asks no more of an import than that it runs. What is said before it,
# or "which import do you need to …", asks for something that running it cannot show.
_IMPORT = r"(?:\s+imports?(?:\s+(?:statements?|lines?))?)"
_BARE = re.compile(
    rf"(?:which|what)(?:\s+one)?(?:\s+of\s+(?:the|these|those)(?:\s+following)?)?{_IMPORT}?"
    r"\s+(?:is|are|works?|runs?|succeeds?)(?:\s+(?:an?|the))?"
    rf"(?:\s+(?:correct|right|valid|working|legal))?{_IMPORT}?"
    r"(?:\s+in\s+[\w.]+(?:\s+[\d.]+)?)?\s*[?.:]*\s*$",
    re.IGNORECASE,
)
# An import that is asked for by anything but being right.
_QUALIFIED = re.compile(
    r"\b(?!(?:correct|right|valid|working|proper|following|these|this|the|an|which|what|one|of|"
    r"possible|true|necessary|needed|required)\b)[a-z]+\s+imports?\b",
    re.IGNORECASE,
)


def _relation(statement: str, reading: Reading) -> Relation:
    """An import that runs is right if nothing more was asked of it than what it imports."""
    asked = reading.asked
    if _is_private(statement) or _QUALIFIED.search(asked.prose):
        return Relation.NECESSARY
    if asked.is_whole:
        return Relation.EQUIVALENT
    if asked.noun is not Noun.IMPORT:
        return Relation.NECESSARY
    if asked.subject is None:
        is_bare = not asked.mentions and _BARE.match(asked.prose)
        return Relation.EQUIVALENT if is_bare else Relation.NECESSARY
    if asked.subject.form is not Form.NAME or _others(asked, reading.library):
        return Relation.NECESSARY
    names = {path.rpartition(".")[2] for path in _paths(statement)}
    return Relation.EQUIVALENT if names == {asked.subject.last} else Relation.NECESSARY


def _is_private(statement: str) -> bool:
    """Whether it goes through a module or a name that is nobody else's business."""
    parts = (part for path in _paths(statement) for part in path.split("."))
    return any(part.startswith("_") and not part.endswith("__") for part in parts)


def _others(asked: Asked, library: Library) -> list[Mention]:
    """What the question names beside the thing to be imported and the library itself."""
    return [
        one
        for one in asked.mentions
        if one != asked.subject and one.name not in (*library.roots, *library.distributions)
    ]


def _instead(name: str, statement: str, reading: Reading) -> str | None:
    """An import that does give what the disputed one names."""
    found = reading.library.owner(name, ("class", "exception", "function", "constant"))
    if found is None:
        return None
    place = reading.library.place(found)
    return place.statement if place.names and place.statement != statement else None
