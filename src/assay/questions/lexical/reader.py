"""The lexical reader: from a parsed question to claims, without a model and without the key."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations

from assay.questions.claims import kinds
from assay.questions.claims.library import CLASSES, Library, path_of
from assay.questions.index import Symbol
from assay.questions.index.symbols import is_private
from assay.questions.lexical.behaviour import read_behaviour
from assay.questions.lexical.mentions import CodeForm
from assay.questions.lexical.names import (
    Reading,
    find_import,
    find_path,
    import_paths,
    read_names,
)
from assay.questions.lexical.parsed_question import ParsedQuestion
from assay.questions.lexical.values import class_path, read_values
from assay.questions.proofs.claims import Relation
from assay.questions.verdict.compounds import CompoundKind, read_compounds

READERS: tuple[Callable[[ParsedQuestion], Iterator[Reading]], ...] = (
    read_behaviour,
    read_values,
    read_names,
)


def read_claims(parsed: ParsedQuestion) -> dict[str, list[Reading]]:
    """Return every claim that can be read, by option."""
    found: dict[str, list[Reading]] = {letter: [] for letter in parsed.options}
    if parsed.is_outside_target:
        return found
    for read in READERS:
        # Of what fails only running it tells anything.
        if parsed.asks_for_failure and read is not read_behaviour:
            continue
        for reading in read(parsed):
            found[reading.option].append(reading)
    return found


def choose(readings: Sequence[Reading]) -> Reading | None:
    """Return the claim that says most: a refutation, a decision, a confirmation."""
    return min(readings, key=_weight) if readings else None


def _weight(reading: Reading) -> int:
    claim = reading.claim
    if reading.expected is False and claim.relation is not Relation.SUFFICIENT:
        return 0
    if claim.relation is Relation.EQUIVALENT:
        return 1
    if isinstance(claim, kinds.Experiment):
        return 2
    return 3


# --- The question as a whole -------------------------------------------------------------------

# Words that ask about names themselves: two names of one thing are then two answers.
_ABOUT_NAMES = (
    "alias*", "defin*", "declar*", "locat*", "live", "lives", "public", "canonical", "original*",
    "deprecat*", "recommend*", "prefer*", "private", "shortest", "directly", "spell*", "documented",
    "top-level", "new", "old", "modern", "stand",
)  # fmt: skip
_ABSENCE = re.compile(
    r"\b(?:not exist|no such|not available|removed|deprecated|never|AttributeError|ImportError"
    r"|ModuleNotFoundError|TypeError|invalid|nonexistent|not)\b|n't\b",
    re.IGNORECASE,
)


def read_twins(parsed: ParsedQuestion) -> Iterator[tuple[str, str, kinds.TypedClaim]]:
    """Yield pairs of options that cannot both be options, because they are one or one implies one.

    Two names of one thing are one, and what a class of errors catches its bases catch as well.
    """
    if parsed.is_outside_target:
        return
    if parsed.stem.has(*_CATCHING):
        yield from _read_wider_classes(parsed)
    if parsed.asks_for_failure or parsed.code:
        return
    if parsed.stem.has(*_ABOUT_NAMES) or _ABSENCE.search(parsed.question.text):
        return
    calls = {letter: call for letter in parsed.options if (call := _named_call(letter, parsed))}
    for (first, (one, given)), (second, (other, also)) in combinations(calls.items(), 2):
        found = [parsed.library.index.resolve(path) for path in (one, other)]
        if one != other and given == also and _may_be_same(found, one, other, parsed):
            claim = kinds.SameThing(subject=one, value=other, relation=Relation.TWIN)
            yield second, first, claim


_CATCHING = ("catch*", "caught", "handle", "handles", "except")
# So wide that whoever asks which exception to catch does not mean them.
_ALL_ERRORS = ("Exception", "BaseException")


def _read_wider_classes(parsed: ParsedQuestion) -> Iterator[tuple[str, str, kinds.TypedClaim]]:
    paths = {one.letter: class_path(one, parsed) for one in parsed.options.values()}
    for (first, one), (second, other) in permutations(paths.items(), 2):
        if one is None or other is None or one == other or other in _ALL_ERRORS:
            continue
        symbol = parsed.library.index.resolve(one)
        if symbol is not None and symbol.kind == "exception":
            claim = kinds.InheritsFrom(subject=one, value=other, relation=Relation.IMPLIED)
            yield first, second, claim


def _may_be_same(
    found: Sequence[Symbol | None], one: str, other: str, parsed: ParsedQuestion
) -> bool:
    """Return whether two paths may lead to one thing; the proof tells whether they do."""
    if None not in found and (found[0] == found[1] or _may_hand_on(found)):
        return True
    if all(symbol is not None and symbol.kind == "constant" for symbol in found):
        # Passed on, equal values do the same whatever they are called.
        return parsed.stem.has("constant*") and parsed.stem.has("pass*", "make", "makes", "give*")
    # A module may make a name only when it is asked for it.
    is_one_name = one.rpartition(".")[2] == other.rpartition(".")[2]
    return is_one_name and any(found) and parsed.stem.has("import*")


def _may_hand_on(found: Sequence[Symbol | None]) -> bool:
    """Return whether one may do nothing but call the other; the proof tells whether it does."""
    names = [(one.name, one.calls) for one in found if one is not None]
    return any(one[1] == other[0] for one, other in permutations(names, 2))


def _named_call(letter: str, parsed: ParsedQuestion) -> tuple[str, str] | None:
    """Return the full path of the one thing that an option is, and what it is called with."""
    option, given = parsed.options[letter], ""
    if (statement := find_import(option, parsed)) is not None:
        paths = import_paths(statement)
        path = paths[0] if len(paths) == 1 and statement.startswith("from ") else None
    elif option.whole is not None and option.whole.form in (CodeForm.NAME, CodeForm.CALL):
        path = find_path(option, option.whole, parsed)
        given = option.whole.code.removeprefix(option.whole.name).removeprefix("()")
    else:
        path = None
    return None if path is None or is_private(path) else (path, given)


def read_premises(parsed: ParsedQuestion) -> Iterator[kinds.TypedClaim]:
    """Yield what the stem takes for granted: that members it names in full are there."""
    texts = (parsed.question.text, *parsed.question.options.values())
    if parsed.is_outside_target or parsed.asks_for_failure or any(map(_ABSENCE.search, texts)):
        return
    if any(one.kind is CompoundKind.NONE for one in read_compounds(parsed.question).values()):
        return
    library = parsed.library
    for mention in parsed.stem.mentions:
        if mention.form not in (CodeForm.NAME, CodeForm.CALL) or not mention.quoted:
            continue
        path = parsed.expand(mention.name)
        if not mention.head or library.index.resolve(path) or library.index.origin(path):
            continue
        owner = library.owner(parsed.expand(mention.head), CLASSES)
        if owner is not None and not library.is_open(owner, as_keyword=False):
            if mention.last not in library.names_of(owner) and not mention.last.startswith("_"):
                yield kinds.HasMember(
                    subject=path_of(owner), value=mention.last, relation=Relation.PREMISE
                )
        elif (
            library.is_own(path) and not library.obstacle(path) and not _is_instance(path, library)
        ):
            yield kinds.PathExists(subject=path, relation=Relation.PREMISE)


def _is_instance(path: str, library: Library) -> bool:
    """Return whether a part of a path is something other than a module or a class."""
    owner = path.rpartition(".")[0]
    return owner not in library.index.modules and library.owner(owner, CLASSES) is None
