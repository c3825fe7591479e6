"""Claims of a person about a suite: in its questions, and in `suite.claims.yaml` beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from assay.documents import (
    DocumentError,
    MappingNode,
    Node,
    Pair,
    Place,
    find_places,
    find_repetitions,
    read_document,
    read_model,
)
from assay.errors import InputError, nearest
from assay.findings import UNREADABLE, Finding
from assay.questions.model import AnyQuestion, Question, SuiteEntry
from assay.questions.suite.formats import ClaimsFile, OptionClaims
from assay.questions.verdict.compounds import read_compounds

_SUFFIXES = (".claims.yaml", ".claims.yml", ".claims.json")


def read_claims(
    suite: Path, entries: Sequence[SuiteEntry], own: Mapping[str, OptionClaims]
) -> tuple[dict[str, OptionClaims], list[Finding]]:
    """Return the claims by question, its own before those of the file, and the file's problems."""
    found = {name: dict(claims) for name, claims in own.items() if claims}
    problems: list[Finding] = []
    files = [suite.with_name(f"{suite.stem}{suffix}") for suffix in _SUFFIXES]
    for file in (one for one in files if one.is_file()):
        claims, mistakes = _read_file(file, suite, {one.id: one.question for one in entries})
        problems += mistakes
        for name, options in claims.items():
            before = found.setdefault(name, {})
            for letter, given in options.items():
                before[letter] = [*before.get(letter, ()), *given]
    return found, problems


def _read_file(
    file: Path, suite: Path, questions: Mapping[str, AnyQuestion]
) -> tuple[dict[str, OptionClaims], list[Finding]]:
    try:
        node = read_document(file)
    except DocumentError as error:
        return {}, [Finding(UNREADABLE, error.what, Place(file, error.line), error.advice)]
    places = find_places(node, file)
    read, mistakes = read_model(ClaimsFile, node, places)
    problems = [Finding(UNREADABLE, one.message, one.place, one.advice) for one in mistakes]
    problems += [
        Finding(UNREADABLE, str(one), Place(file, one.line), "remove or rename one of them")
        for one in find_repetitions(node)
    ]
    claims = {} if read is None else read.claims
    for name, options in claims.items():
        if name not in questions:
            what = f"there is no question {name!r} in {suite.name}"
            place = places.nearest(f"claims.{name}")
            problems.append(Finding(UNREADABLE, what, place, nearest(name, questions)))
            continue
        for letter, what, advice in find_misplaced(options, questions[name]):
            place = places.nearest(f"claims.{name}.{letter}")
            problems.append(Finding(UNREADABLE, f"{name}: {what}", place, advice, name))
    return claims, problems


def find_misplaced(letters: Iterable[str], question: AnyQuestion) -> Iterator[tuple[str, str, str]]:
    """Yield each letter that nothing can be claimed about: with what is wrong, and advice."""
    if not isinstance(question, Question):
        yield from ((one, "only multiple-choice questions have options", "") for one in letters)
        return
    compounds = read_compounds(question)
    for letter in letters:
        if letter not in question.options:
            advice = nearest(letter, question.options)
            yield letter, f"a claim is about option {letter!r}, which there is not", advice
        elif letter in compounds:
            what = f"option {letter} is derived from the others and cannot have a claim"
            yield letter, what, "make claims about the others"


def parse_claim(node: Node, option: str, where: str) -> OptionClaims:
    """Return a claim, or a list of them, that is not in a file; raise InputError if it is none."""
    inner = MappingNode(node.line, (Pair(option, node.line, node),))
    below = MappingNode(node.line, (Pair(_TRIED, node.line, inner),))
    whole = MappingNode(node.line, (Pair("claims", node.line, below),))
    read, mistakes = read_model(ClaimsFile, whole, find_places(whole, Path(where)))
    for one in mistakes:
        what = one.message.replace(f"claims.{_TRIED}.{option}.", "")
        what = what.replace(f"claims.{_TRIED}.{option}", "it")
        raise InputError(what, where=where, advice=one.advice or None)
    assert read is not None
    return read.claims[_TRIED]


_TRIED = "tried"
