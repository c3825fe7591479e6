"""Names: a full path of the target that resolves, or a bare name that occurs in its files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from assay.questions.index import Symbol
from assay.questions.proofs.claims import Relation
from assay.questions.proofs.dotted_names import dotted_name_source
from assay.questions.provers.introspection.kinds.kind import Draft
from assay.questions.provers.introspection.reading import Form, Mention, Noun, Offer, Reading
from assay.questions.provers.introspection.writing import ProofText
from assay.questions.provers.introspection.writing.helpers import FILES, FILES_IMPORTS, OCCURS

_SHORTEST = 4
_ENVIRONMENT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_SPELLED = re.compile(r"[A-Z]+[a-z0-9]+[A-Z]\w*|[A-Za-z][A-Za-z0-9]*_\w+")
_CODE_NOUNS = (
    Noun.PARAMETER, Noun.FIELD, Noun.METHOD, Noun.FUNCTION, Noun.CLASS, Noun.EXCEPTION, Noun.THING,
)  # fmt: skip


# What a question asks for when it asks about the world around the target.
_OUTSIDE = frozenset(
    {"library", "package", "framework", "dependency", "extension", "project", "protocol",
     "standard", "database", "server", "company", "editor", "language"}
)  # fmt: skip


# Things whose names have dots, or look like the target's, without being found in it.
_NOT_PATHS = re.compile(
    r"\b(?:loggers?|files?|folders?|director(?:y|ies)|topics?|channels?|events? names?|headers?"
    r"|metrics?|entry points?|distributions?|domains?|urls?|addresse?s?|environment variables?)\b",
    re.IGNORECASE,
)


class Names:
    """An option that offers a name, be it a path or a single word."""

    name = "name"

    def drafts(self, reading: Reading) -> Iterable[Draft]:
        if _NOT_PATHS.search(reading.asked.prose):
            return
        for offer in reading.offers.values():
            for mention in offer.named:
                path = full_path(mention, offer, reading)
                if path is not None:
                    yield from _dotted(offer, path, reading)
                else:
                    yield from _bare(offer, mention, reading)


def full_path(mention: Mention, offer: Offer, reading: Reading) -> str | None:
    """The full path a mention stands for: as written, or through a module the option names."""
    if mention.form not in (Form.NAME, Form.CALL) or not mention.head:
        return None
    library = reading.library
    if library.is_own(mention.name):
        return mention.name
    first, _, rest = mention.name.partition(".")
    modules = {
        one.name
        for one in offer.mentions
        if one.form is Form.NAME and one.name in library.index.modules and one.last == first
    }
    modules |= {root for root in library.roots if root.rpartition(".")[2] == first}
    return f"{next(iter(modules))}.{rest}" if len(modules) == 1 else None


def _dotted(offer: Offer, path: str, reading: Reading) -> Iterator[Draft]:
    library = reading.library
    found = library.index.resolve(path) or library.index.origin(path)
    if found is None and library.obstacle(path):
        return
    if isinstance(found, Symbol) and found.on_instance:
        return
    anchor = next(root for root in library.roots if path.startswith(f"{root}.") or path == root)
    yield Draft(
        option=offer.option,
        relation=Relation.NECESSARY,
        text=dotted_text(path, anchor),
        expected=found is not None,
        fresh=True,
        absent_path=True,
    )


def dotted_text(path: str, anchor: str) -> ProofText:
    """The proof that a path can be reached; the target's own root is the control."""
    return ProofText(
        statement=f"`{path}` can be reached by its full name",
        imports=("import importlib",),
        disputed=repr(path),
        helpers=(dotted_name_source(),),
        holds='assert exists(DISPUTED), f"{DISPUTED} cannot be reached"',
        fails='assert not exists(DISPUTED), f"{DISPUTED} can be reached"',
        controls=(f"assert exists({anchor!r})",),
    )


def _bare(offer: Offer, mention: Mention, reading: Reading) -> Iterator[Draft]:
    name = _word(mention)
    if name is None or not _is_to_be_found(name, mention, offer, reading):
        return
    library = reading.library
    if library.occurs(name, everywhere=not _is_of_target(reading)):
        return
    distribution = library.distributions[0]
    yield Draft(
        option=offer.option,
        relation=Relation.NECESSARY,
        text=ProofText(
            statement=f"{distribution} knows something called `{name}`",
            imports=("import re", *FILES_IMPORTS),
            disputed=repr(name),
            instead=repr(_known(reading)),
            constants=library.file_constants,
            helpers=(FILES, OCCURS),
            holds="assert occurs(DISPUTED)",
            fails="assert not occurs(DISPUTED)",
        ),
        expected=False,
    )


def _word(mention: Mention) -> str | None:
    if mention.form is Form.KEYWORD and _ENVIRONMENT.fullmatch(mention.name):
        return mention.name
    if mention.form in (Form.NAME, Form.CALL):
        return mention.last
    return None


def _is_to_be_found(name: str, mention: Mention, offer: Offer, reading: Reading) -> bool:
    """Whether the option says that the target has such a name, and nobody else could."""
    if reading.asked.word in _OUTSIDE or not _is_anchored(reading):
        return False
    if _may_be_passed_on(reading) or _is_of_stranger(mention, reading):
        return False
    library = reading.library
    if (
        library.is_guessed
        or len(library.distributions) != 1
        or len(name) < _SHORTEST
        or name in reading.given
    ):
        return False
    if library.is_strange(mention.name) or library.is_strange(name):
        return False
    if _SPELLED.fullmatch(name):
        return True
    # A single plain word is a name only where names are asked for and the option is nothing else.
    return offer.whole is not None and reading.asked.noun in _CODE_NOUNS


def _may_be_passed_on(reading: Reading) -> bool:
    """Whether what is asked for is given to something that hands on whatever it is given."""
    owner, noun = reading.owner, reading.asked.noun
    is_given = noun in (Noun.PARAMETER, Noun.FIELD)
    return is_given and owner is not None and bool(reading.library.is_open(owner))


def _is_of_stranger(mention: Mention, reading: Reading) -> bool:
    """Whether a dotted name begins with something that the target does not know."""
    first = mention.name.partition(".")[0]
    library = reading.library
    return bool(mention.head) and not (library.index.find(first) or library.receiver(first))


def _is_anchored(reading: Reading) -> bool:
    """Whether the target knows a name in some option: then the others are meant of it as well."""
    index = reading.library.index
    return any(
        index.find(mention.name) or index.find(mention.last)
        for one in reading.offers.values()
        for mention in one.mentions
        if mention.form in (Form.NAME, Form.CALL, Form.FLAG, Form.KEYWORD)
    )


def _is_of_target(reading: Reading) -> bool:
    """Whether the things asked for have a base class in the target: others' cannot be such."""
    asked = reading.asked
    return asked.noun is Noun.THING and reading.library.base_of(asked.word) is not None


def _known(reading: Reading) -> str:
    """A name that does occur: the last part of the target's own root."""
    return reading.library.roots[0].rpartition(".")[2]
