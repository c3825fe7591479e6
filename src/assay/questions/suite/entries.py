"""Suite entries: questions read from the nodes of a document, with a finding per defect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from assay.documents import (
    Node,
    Place,
    PlaceMap,
    find_places,
    find_repetitions,
    read_model,
    to_texts,
)
from assay.errors import nearest
from assay.findings import UNREADABLE, Finding
from assay.questions.model import ApiAnswer, ApiQuestion, Key, Question, Snippet, SuiteEntry
from assay.questions.suite.claims_file import find_misplaced
from assay.questions.suite.formats import (
    FORMATS,
    ApiUnderstanding,
    FixError,
    MultipleChoice,
    OptionClaims,
    SnippetReference,
    infer_type,
    keys_of,
)
from assay.questions.suite.references import MissingFileError, SnippetFiles, read_repair
from assay.questions.verdict.exceptions import ExceptionMatch

__all__ = ["DUPLICATE_ID", "FATAL", "MISSING_SECTION", "UNKNOWN_KEY", "UNREADABLE"]

DUPLICATE_ID = "duplicate-id"
MISSING_SECTION = "missing-section"
UNKNOWN_KEY = "unknown-key"

# With one of these a question is lost or cannot be told from another, so nothing may be verified.
FATAL = frozenset({UNREADABLE, DUPLICATE_ID})


Model = TypeVar("Model", bound=BaseModel)
_ALIKE = 0.8


@dataclass
class EntryReader:
    """Reads the questions of one suite and collects their problems."""

    file: Path
    snippets: SnippetFiles
    problems: list[Finding] = field(default_factory=list)
    policies: dict[str, ExceptionMatch] = field(default_factory=dict)
    references: dict[str, SnippetReference] = field(default_factory=dict)
    claims: dict[str, OptionClaims] = field(default_factory=dict)

    def entry(self, node: Node, number: int) -> SuiteEntry | None:
        """Return the entry of one question; None, and a problem, if it cannot be read."""
        fields, spots = to_texts(node), find_places(node, self.file)
        name = _name(fields)
        who = f"question {number}" if name is None else name
        if not isinstance(fields, dict):
            self._refuse(f"{who} must be a mapping", spots[""], "", name)
            return None
        kind = fields.get("benchmark_type") or infer_type(fields)
        if not isinstance(kind, str) or kind not in FORMATS:
            self._refuse_kind(who, kind, spots, name)
            return None
        model = self.to_model(FORMATS[kind], node, spots, who)
        return None if model is None else self._make_entry(model, spots)

    def to_model(self, model: type[Model], node: Node, spots: PlaceMap, who: str) -> Model | None:
        """Return a node as its model, or None and a problem for each field that is wrong."""
        fields = to_texts(node)
        name = _name(fields)
        self.problems += _find_misspelled(model, fields, spots, name)
        read, mistakes = read_model(model, node, spots, allows_unknown=True)
        for one in mistakes:
            self._refuse(f"{who}: {one.message}", one.place, one.advice, name)
        return read

    def _refuse(self, message: str, place: Place, advice: str, name: str | None) -> None:
        advice = advice or "the fields of each type are in the suite schema"
        self.problems.append(Finding(UNREADABLE, message, place, advice, name))

    def _refuse_kind(self, who: str, kind: Any, spots: PlaceMap, name: str | None) -> None:
        if kind is None:
            what, advice = (
                "its type cannot be determined from its fields",
                "give it a `benchmark_type`",
            )
        else:
            what, advice = f"{kind!r} is not a type of question", nearest(str(kind), FORMATS)
        self._refuse(f"{who}: {what}", spots.nearest("benchmark_type"), advice, name)

    def _make_entry(
        self, model: MultipleChoice | ApiUnderstanding | FixError, spots: PlaceMap
    ) -> SuiteEntry | None:
        if isinstance(model, MultipleChoice):
            return self._multiple_choice(model, spots)
        if isinstance(model, ApiUnderstanding):
            return _api_understanding(model, self.file, spots)
        try:
            return SuiteEntry(read_repair(model, self.file), None, self.file, spots)
        except MissingFileError as error:
            place = spots.nearest(error.field)
            self._refuse(f"{model.id}: {error.what}", place, error.advice, model.id)
            return None

    def _multiple_choice(self, model: MultipleChoice, spots: PlaceMap) -> SuiteEntry:
        if model.exception_match is not None:
            self.policies[model.id] = model.exception_match
        options = {
            letter.strip(): text.rstrip().lstrip("\r\n") for letter, text in model.options.items()
        }
        question = Question(model.id, model.question, options, self._snippet(model, spots))
        self.claims[model.id] = model.claims
        for letter, what, advice in find_misplaced(model.claims, question):
            place = spots.nearest(f"claims.{letter}")
            self._refuse(f"{model.id}: {what}", place, advice, model.id)
        answer = model.correct_answer
        letter = next((one for one in options if one.upper() == answer.upper()), answer)
        return SuiteEntry(question, Key(letter, model.explanation), self.file, spots)

    def _snippet(self, model: MultipleChoice, spots: PlaceMap) -> Snippet | None:
        if model.code_snippet_ref is None:
            return None
        self.references[model.id] = model.code_snippet_ref
        try:
            return self.snippets.resolve(model.code_snippet_ref)
        except MissingFileError as error:
            place = spots.nearest(error.field)
            self.problems.append(
                Finding(MISSING_SECTION, error.what, place, error.advice, model.id)
            )
            return None


def _api_understanding(model: ApiUnderstanding, file: Path, spots: PlaceMap) -> SuiteEntry:
    answers = tuple(
        ApiAnswer(one.answer, tuple(one.fully_qualified_class_name)) for one in model.answers
    )
    question = ApiQuestion(model.id, model.question, answers, model.category)
    return SuiteEntry(question, Key(answers[0].text, model.rationale), file, spots)


def find_repeated_keys(node: Node, file: Path) -> Iterator[Finding]:
    """Yield a problem for every repeated key of a mapping."""
    advice = "remove or rename one of them; only one would be read"
    for one in find_repetitions(node):
        yield Finding(UNREADABLE, str(one), Place(file, one.line), advice)


def _find_misspelled(
    model: type[BaseModel], fields: Any, spots: PlaceMap, name: str | None
) -> Iterator[Finding]:
    known = keys_of(model)
    unknown: Iterable[str] = set(fields) - known if isinstance(fields, dict) else ()
    for key in sorted(unknown):
        alike = get_close_matches(key, known, n=1, cutoff=_ALIKE)
        if alike and alike[0] not in fields:
            message = f"the key `{key}` is not known and is not read"
            advice = f"did you mean `{alike[0]}`?"
            yield Finding(UNKNOWN_KEY, message, spots.nearest(key), advice, name)


def _name(fields: Any) -> str | None:
    name = fields.get("id") if isinstance(fields, dict) else None
    return name.strip() if isinstance(name, str) and name.strip() else None
