"""Names: imports that run, full paths that resolve, and words that occur in the target."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from assay.questions.index import Symbol
from assay.questions.proofs.claims import Relation, existence_helpers
from assay.questions.provers.introspection.drafts import Draft, ProofParts
from assay.questions.provers.introspection.library import Library
from assay.questions.provers.introspection.proof_helpers import (
    FILES,
    FILES_IMPORTS,
    IMPORTS,
    OCCURS,
)
from assay.questions.provers.introspection.reading import (
    CodeForm,
    Mention,
    Noun,
    ParsedOption,
    ParsedQuestion,
    StemFocus,
)


class Imports:
    """An option that is an import, or a name that is to be imported from a given module."""

    name = "import"

    def drafts(self, parsed: ParsedQuestion) -> Iterable[Draft]:
        for option in parsed.options.values():
            statement = _statement(option, parsed)
            if statement is None:
                continue
            draft = _import_draft(option, statement, parsed)
            if draft is not None:
                yield draft


def _statement(option: ParsedOption, parsed: ParsedQuestion) -> str | None:
    """Return the import an option offers, in one line."""
    focus, whole = parsed.focus, option.whole
    if whole is None:
        found = [one for one in option.named if one.form is CodeForm.IMPORT]
        whole = found[0] if len(found) == 1 else None
    if whole is not None and whole.form is CodeForm.IMPORT:
        return _one_line(whole)
    module = focus.owner
    if focus.noun is Noun.THING and focus.is_whole and module is not None and whole is not None:
        is_plain = whole.form is CodeForm.NAME and not whole.head
        return f"from {module.name} import {whole.name}" if is_plain and module.name else None
    return None


def _one_line(mention: Mention) -> str:
    return "; ".join(ast.unparse(one) for one in ast.parse(mention.code).body)


def _import_draft(option: ParsedOption, statement: str, parsed: ParsedQuestion) -> Draft | None:
    library = parsed.library
    paths = _paths(statement)
    if not paths or not all(library.is_own(path) or _is_near(path, library) for path in paths):
        return None
    if any(library.obstacle(path) for path in paths):
        return None
    known = [library.index.resolve(path) or library.index.origin(path) for path in paths]
    name = paths[-1].rpartition(".")[2]
    instead = _instead(name, statement, parsed)
    controls = () if instead else (f"assert works({'import ' + library.roots[0]!r})",)
    return Draft(
        option=option.letter,
        relation=_relation(statement, parsed),
        text=ProofParts(
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
    """Return every dotted path that has to exist for the statement to run."""
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
    """Return whether a path lies beside the target, under the same first name: `google.agents`."""
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


def _relation(statement: str, parsed: ParsedQuestion) -> Relation:
    """Return the relation: an import that runs is right if only its running was asked for."""
    focus = parsed.focus
    if _is_private(statement) or _QUALIFIED.search(focus.prose):
        return Relation.NECESSARY
    if focus.is_whole:
        return Relation.EQUIVALENT
    if focus.noun is not Noun.IMPORT:
        return Relation.NECESSARY
    if focus.subject is None:
        is_bare = not focus.mentions and _BARE.match(focus.prose)
        return Relation.EQUIVALENT if is_bare else Relation.NECESSARY
    if focus.subject.form is not CodeForm.NAME or _others(focus, parsed.library):
        return Relation.NECESSARY
    names = {path.rpartition(".")[2] for path in _paths(statement)}
    return Relation.EQUIVALENT if names == {focus.subject.last} else Relation.NECESSARY


def _is_private(statement: str) -> bool:
    """Return whether it goes through a private module or name."""
    parts = (part for path in _paths(statement) for part in path.split("."))
    return any(part.startswith("_") and not part.endswith("__") for part in parts)


def _others(focus: StemFocus, library: Library) -> list[Mention]:
    """Return what the question names beside the thing to be imported and the library itself."""
    return [
        one
        for one in focus.mentions
        if one != focus.subject and one.name not in (*library.roots, *library.distributions)
    ]


def _instead(name: str, statement: str, parsed: ParsedQuestion) -> str | None:
    """Return an import that does give what the disputed one names."""
    found = parsed.library.owner(name, ("class", "exception", "function", "constant"))
    if found is None:
        return None
    place = parsed.library.place(found)
    return place.statement if place.names and place.statement != statement else None


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

    def drafts(self, parsed: ParsedQuestion) -> Iterable[Draft]:
        if _NOT_PATHS.search(parsed.focus.prose):
            return
        for option in parsed.options.values():
            for mention in option.named:
                path = full_path(mention, option, parsed)
                if path is not None:
                    yield from _draft_path(option, path, parsed)
                else:
                    yield from _draft_word(option, mention, parsed)


def full_path(mention: Mention, option: ParsedOption, parsed: ParsedQuestion) -> str | None:
    """Return the full path of a mention: as written, or through a module the option names."""
    if mention.form not in (CodeForm.NAME, CodeForm.CALL) or not mention.head:
        return None
    library = parsed.library
    if library.is_own(mention.name):
        return mention.name
    first, _, rest = mention.name.partition(".")
    modules = {
        one.name
        for one in option.mentions
        if one.form is CodeForm.NAME and one.name in library.index.modules and one.last == first
    }
    modules |= {root for root in library.roots if root.rpartition(".")[2] == first}
    return f"{next(iter(modules))}.{rest}" if len(modules) == 1 else None


def _draft_path(option: ParsedOption, path: str, parsed: ParsedQuestion) -> Iterator[Draft]:
    library = parsed.library
    found = library.index.resolve(path) or library.index.origin(path)
    if found is None and library.obstacle(path):
        return
    if isinstance(found, Symbol) and found.on_instance:
        return
    anchor = next(root for root in library.roots if path.startswith(f"{root}.") or path == root)
    yield Draft(
        option=option.letter,
        relation=Relation.NECESSARY,
        text=prove_path(path, anchor),
        expected=found is not None,
        fresh=True,
        absent_path=True,
    )


def prove_path(path: str, anchor: str) -> ProofParts:
    """Return the proof that a path can be reached; the target's own root is the control."""
    return ProofParts(
        statement=f"`{path}` can be reached by its full name",
        imports=("import importlib",),
        disputed=repr(path),
        helpers=(existence_helpers(),),
        holds='assert exists(DISPUTED), f"{DISPUTED} cannot be reached"',
        fails='assert not exists(DISPUTED), f"{DISPUTED} can be reached"',
        controls=(f"assert exists({anchor!r})",),
    )


def _draft_word(option: ParsedOption, mention: Mention, parsed: ParsedQuestion) -> Iterator[Draft]:
    name = _word(mention)
    if name is None or not _is_to_be_found(name, mention, option, parsed):
        return
    library = parsed.library
    if library.index.occurs(name, everywhere=not _is_of_target(parsed)):
        return
    distribution = library.distributions[0]
    yield Draft(
        option=option.letter,
        relation=Relation.NECESSARY,
        text=ProofParts(
            statement=f"{distribution} knows something called `{name}`",
            imports=("import re", *FILES_IMPORTS),
            disputed=repr(name),
            instead=repr(_find_known_name(parsed)),
            constants=library.file_constants,
            helpers=(FILES, OCCURS),
            holds="assert occurs(DISPUTED)",
            fails="assert not occurs(DISPUTED)",
        ),
        expected=False,
    )


def _word(mention: Mention) -> str | None:
    if mention.form is CodeForm.KEYWORD and _ENVIRONMENT.fullmatch(mention.name):
        return mention.name
    if mention.form in (CodeForm.NAME, CodeForm.CALL):
        return mention.last
    return None


def _is_to_be_found(
    name: str, mention: Mention, option: ParsedOption, parsed: ParsedQuestion
) -> bool:
    """Return whether the option says that the target has such a name, and nobody else could."""
    if parsed.focus.word in _OUTSIDE or not _is_anchored(parsed):
        return False
    if _may_be_passed_on(parsed) or _is_of_stranger(mention, parsed):
        return False
    library = parsed.library
    if (
        library.is_guessed
        or len(library.distributions) != 1
        or len(name) < _SHORTEST
        or name in parsed.given
    ):
        return False
    if library.is_strange(mention.name) or library.is_strange(name):
        return False
    if _SPELLED.fullmatch(name):
        return True
    # A single plain word is a name only where names are asked for and the option is nothing else.
    return option.whole is not None and parsed.focus.noun in _CODE_NOUNS


def _may_be_passed_on(parsed: ParsedQuestion) -> bool:
    """Return whether what is asked for is given to something that hands on whatever it is given."""
    owner, noun = parsed.owner, parsed.focus.noun
    is_given = noun in (Noun.PARAMETER, Noun.FIELD)
    return is_given and owner is not None and bool(parsed.library.is_open(owner))


def _is_of_stranger(mention: Mention, parsed: ParsedQuestion) -> bool:
    """Return whether a dotted name begins with something that the target does not know."""
    first = mention.name.partition(".")[0]
    library = parsed.library
    return bool(mention.head) and not (library.index.find(first) or library.receiver(first))


def _is_anchored(parsed: ParsedQuestion) -> bool:
    """Return whether the target knows a name in some option, so that all are meant of it."""
    index = parsed.library.index
    return any(
        index.find(mention.name) or index.find(mention.last)
        for one in parsed.options.values()
        for mention in one.mentions
        if mention.form in (CodeForm.NAME, CodeForm.CALL, CodeForm.FLAG, CodeForm.KEYWORD)
    )


def _is_of_target(parsed: ParsedQuestion) -> bool:
    """Return whether the things asked for have a base class in the target."""
    focus = parsed.focus
    return focus.noun is Noun.THING and parsed.library.base_of(focus.word) is not None


def _find_known_name(parsed: ParsedQuestion) -> str:
    """Return a name that does occur: the last part of the target's own root."""
    return parsed.library.roots[0].rpartition(".")[2]
