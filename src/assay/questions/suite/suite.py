"""Reads suites as a whole, and single questions by their address `FILE::CASE`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.documents import (
    DocumentError,
    ListNode,
    MappingNode,
    Node,
    Place,
    find_places,
    read_document,
)
from assay.errors import InputError, nearest
from assay.findings import Finding
from assay.questions.model import SuiteEntry
from assay.questions.suite.claims_file import read_claims
from assay.questions.suite.entries import (
    DUPLICATE_ID,
    FATAL,
    MISSING_SECTION,
    UNREADABLE,
    EntryReader,
    find_repeated_keys,
)
from assay.questions.suite.files import suite_files
from assay.questions.suite.formats import OptionClaims, SnippetReference, SuiteKeys
from assay.questions.suite.references import SnippetFiles
from assay.questions.suite.targets import GivenTarget, read_target
from assay.questions.verdict.exceptions import ExceptionMatch


@dataclass(frozen=True)
class Suite:
    """One file of questions.

    `target` is what the suite says it is about; `problems` are those that reading it met. Where
    questions differ from the suite's `exception_match`, `policies` has theirs by id; `references`
    are the snippets they refer to, by id, in the files that `snippets` reads. `claims` are those of
    a person, by id and letter.
    """

    path: Path
    entries: list[SuiteEntry]
    target: GivenTarget | None = None
    exception_match: ExceptionMatch = ExceptionMatch.CLOSEST
    problems: list[Finding] = field(default_factory=list)
    policies: Mapping[str, ExceptionMatch] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)
    references: Mapping[str, SnippetReference] = field(default_factory=dict)
    snippets: SnippetFiles | None = None
    claims: Mapping[str, OptionClaims] = field(default_factory=dict)

    def policy(self, entry: SuiteEntry) -> ExceptionMatch:
        """Return how the exceptions of a question are matched."""
        return self.policies.get(entry.id, self.exception_match)

    def obstacle(self, entry: SuiteEntry) -> Finding | None:
        """Return why a question cannot be judged: the code it is about is missing."""
        return next(
            (
                problem
                for problem in self.problems
                if problem.code == MISSING_SECTION and problem.case == entry.id
            ),
            None,
        )


def load_suites(paths: Iterable[str | Path]) -> list[Suite]:
    """Return the suites that files, folders and globs name, or raise InputError.

    An unreadable question is never skipped: nothing is verified until it is fixed.
    """
    suites = read_suites(paths)
    lost = [one for suite in suites for one in suite.problems if one.code in FATAL]
    if lost:
        raise _refusal(lost)
    if not any(suite.entries for suite in suites):
        raise InputError("no questions", where=str(suites[0].path), advice="`benchmarks` is empty")
    return suites


def _refusal(lost: list[Finding]) -> InputError:
    error = lost[0].error()
    if len(lost) > 1:
        more = f"and {len(lost) - 1} more; `assay questions lint` shows them all"
        error.advice = f"{error.advice}\n  {more}" if error.advice else more
    return error


def read_suites(paths: Iterable[str | Path]) -> list[Suite]:
    """Return the suites that paths name; what cannot be read is among their problems."""
    return [read_suite(path) for path in suite_files(paths)]


def read_suite(path: Path) -> Suite:
    """Return one suite, with all problems of the file."""
    try:
        node = read_document(path)
        questions = _questions(node)
    except DocumentError as error:
        place = Place(path, error.line)
        return Suite(path, [], problems=[Finding(UNREADABLE, error.what, place, error.advice)])
    return _read(path, node, questions)


def _questions(node: Node) -> ListNode:
    found = node.get("benchmarks") if isinstance(node, MappingNode) else None
    if found is None:
        advice = "a suite is a mapping with the key `benchmarks`, a list of questions"
        raise DocumentError("is not a suite", node.line, advice)
    if not isinstance(found, ListNode):
        raise DocumentError("`benchmarks` must be a list of questions", found.line)
    return found


def _read(path: Path, node: Node, questions: ListNode) -> Suite:
    reader = EntryReader(path, SnippetFiles(path))
    reader.problems += find_repeated_keys(node, path)
    assert isinstance(node, MappingNode)
    # The questions are read one by one.
    none = ListNode(questions.line, ())
    pairs = (replace(one, value=none) if one.value is questions else one for one in node.pairs)
    places = find_places(node, path)
    keys = reader.to_model(SuiteKeys, replace(node, pairs=tuple(pairs)), places, "the suite")
    read = [reader.entry(one, number) for number, one in enumerate(questions.items, 1)]
    entries = [entry for entry in read if entry is not None]
    reader.problems += find_repeated_ids(entries)
    claims, mistakes = read_claims(path, entries, reader.claims)
    reader.problems += mistakes
    return Suite(
        path=path,
        entries=entries,
        target=None if keys is None else read_target(keys, places),
        exception_match=ExceptionMatch.CLOSEST if keys is None else keys.exception_match,
        problems=reader.problems,
        policies=reader.policies,
        places=places,
        references=reader.references,
        snippets=reader.snippets,
        claims=claims,
    )


def find_repeated_ids(entries: Iterable[SuiteEntry]) -> Iterator[Finding]:
    """Yield a problem for every id that an earlier question of the same file has."""
    seen: dict[str, Place] = {}
    for entry in entries:
        if entry.id in seen:
            yield Finding(
                DUPLICATE_ID,
                f"the id {entry.id!r} is taken, by the question in line {seen[entry.id].line}",
                entry.place(),
                "give each question of a file its own id",
                entry.id,
            )
        seen.setdefault(entry.id, entry.place())


_MARK = "::"


@dataclass(frozen=True)
class Address:
    """A suite file and the id of one of its questions."""

    file: Path
    case: str

    def __str__(self) -> str:
        return f"{self.file}{_MARK}{self.case}"


def parse_address(text: str) -> Address:
    """Return the parts of an address; an InputError if it has not both."""
    file, mark, case = text.partition(_MARK)
    if not (file and mark and case):
        advice = "write it as FILE::CASE, for example suite.yaml::first_question"
        raise InputError(f"{text!r} addresses no question", advice=advice)
    return Address(Path(file), case)


def find_in_suite(text: str) -> tuple[Suite, SuiteEntry]:
    """Return the suite and the entry of an address."""
    address = parse_address(text)
    if not address.file.is_file():
        raise InputError("there is no such file", where=str(address.file))
    suite = read_suite(address.file)
    _refuse_lost(suite, address.case)
    for entry in suite.entries:
        if entry.id == address.case:
            return suite, entry
    raise InputError(
        f"there is no question {address.case!r}",
        where=str(address.file),
        advice=nearest(address.case, (entry.id for entry in suite.entries)),
    )


def _refuse_lost(suite: Suite, case: str) -> None:
    """Refuse an unreadable file or an ambiguous question; its neighbours are unaffected."""
    for problem in suite.problems:
        if problem.code in FATAL and problem.case in (None, case):
            raise problem.error()
