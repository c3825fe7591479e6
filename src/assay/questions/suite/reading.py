"""From a document to entries, with a problem for whatever a question says wrongly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from assay.documents import Place
from assay.documents import tree as documents
from assay.documents.tree import Node
from assay.errors import nearest
from assay.findings import Finding
from assay.questions.model import Answer, ApiQuestion, Entry, Key, Question, Snippet
from assay.questions.suite.formats import (
    FORMATS,
    ApiUnderstanding,
    FixError,
    MultipleChoice,
    SnippetReference,
    inferred_type,
    known_keys,
)
from assay.questions.suite.problems import MISSING_SECTION, UNKNOWN_KEY, UNREADABLE
from assay.questions.suite.repairs import RepairError, read_repair
from assay.questions.suite.snippets import SnippetError, SnippetFiles
from assay.questions.verdict.exceptions import ExceptionMatch

Model = TypeVar("Model", bound=BaseModel)
_ALIKE = 0.8
_WANTED = {
    "missing": "is missing",
    "string_type": "must be text",
    "string_too_short": "is empty",
    "dict_type": "must be a mapping from letters to texts",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "list_type": "must be a list",
    "too_short": "is empty",
}


@dataclass
class Reader:
    """Reads the questions of one suite and gathers the problems they have."""

    file: Path
    snippets: SnippetFiles
    problems: list[Finding] = field(default_factory=list)
    policies: dict[str, ExceptionMatch] = field(default_factory=dict)
    references: dict[str, SnippetReference] = field(default_factory=dict)

    def entry(self, node: Node, number: int) -> Entry | None:
        """The entry of one question; None, and a problem, where it cannot be read."""
        fields, spots = documents.plain(node), documents.places(node, self.file)
        name = _name(fields)
        who = f"question {number}" if name is None else name
        if not isinstance(fields, dict):
            self._refuse(f"{who} must be a mapping", spots[""], "", name)
            return None
        kind = fields.get("benchmark_type") or inferred_type(fields)
        if not isinstance(kind, str) or kind not in FORMATS:
            self._refuse_kind(who, kind, spots, name)
            return None
        model = self.validated(FORMATS[kind], fields, spots, who)
        return None if model is None else self._made(model, spots)

    def validated(
        self, model: type[Model], fields: Any, spots: Mapping[str, Place], who: str
    ) -> Model | None:
        """The fields as their model, or None and a problem for each that is wrong."""
        name = _name(fields)
        self.problems += _misspelled(model, fields, spots, name)
        try:
            return model.model_validate(fields)
        except ValidationError as error:
            for one in error.errors():
                path = ".".join(map(str, one["loc"]))
                self._refuse(f"{who}: {_said(path, one)}", _nearest_place(path, spots), "", name)
            return None

    def _refuse(self, message: str, place: Place, advice: str, name: str | None) -> None:
        advice = advice or "the fields of each type are in the suite schema"
        self.problems.append(Finding(UNREADABLE, message, place, advice, name))

    def _refuse_kind(
        self, who: str, kind: Any, spots: Mapping[str, Place], name: str | None
    ) -> None:
        if kind is None:
            what, advice = "its type cannot be told from its fields", "give it a `benchmark_type`"
        else:
            what, advice = f"{kind!r} is no type of question", nearest(str(kind), FORMATS)
        self._refuse(f"{who}: {what}", _nearest_place("benchmark_type", spots), advice, name)

    def _made(
        self, model: MultipleChoice | ApiUnderstanding | FixError, spots: Mapping[str, Place]
    ) -> Entry | None:
        if isinstance(model, MultipleChoice):
            return self._multiple_choice(model, spots)
        if isinstance(model, ApiUnderstanding):
            return _api_understanding(model, self.file, spots)
        try:
            return Entry(read_repair(model, self.file), None, self.file, spots)
        except RepairError as error:
            place = _nearest_place(error.field, spots)
            self._refuse(f"{model.id}: {error.what}", place, error.advice, model.id)
            return None

    def _multiple_choice(self, model: MultipleChoice, spots: Mapping[str, Place]) -> Entry:
        if model.exception_match is not None:
            self.policies[model.id] = model.exception_match
        options = {
            letter.strip(): text.rstrip().lstrip("\r\n") for letter, text in model.options.items()
        }
        question = Question(model.id, model.question, options, self._snippet(model, spots))
        answer = model.correct_answer
        letter = next((one for one in options if one.upper() == answer.upper()), answer)
        return Entry(question, Key(letter, model.explanation), self.file, spots)

    def _snippet(self, model: MultipleChoice, spots: Mapping[str, Place]) -> Snippet | None:
        if model.code_snippet_ref is None:
            return None
        self.references[model.id] = model.code_snippet_ref
        try:
            return self.snippets.resolve(model.code_snippet_ref)
        except SnippetError as error:
            place = _nearest_place(error.field, spots)
            self.problems.append(
                Finding(MISSING_SECTION, error.what, place, error.advice, model.id)
            )
            return None


def _api_understanding(model: ApiUnderstanding, file: Path, spots: Mapping[str, Place]) -> Entry:
    answers = tuple(
        Answer(one.answer, tuple(one.fully_qualified_class_name)) for one in model.answers
    )
    question = ApiQuestion(model.id, model.question, answers, model.category)
    return Entry(question, Key(answers[0].text, model.rationale), file, spots)


def repeated_keys(node: Node, file: Path) -> Iterator[Finding]:
    """A problem for every key that stands twice in one mapping."""
    for one in documents.repetitions(node):
        yield Finding(
            UNREADABLE,
            f"the key `{one.key}` stands twice in one mapping, first in line {one.first}",
            Place(file, one.line),
            "remove or rename one of them; only one would be read",
        )


def _misspelled(
    model: type[BaseModel], fields: Any, spots: Mapping[str, Place], name: str | None
) -> Iterator[Finding]:
    known = known_keys(model)
    unknown: Iterable[str] = set(fields) - known if isinstance(fields, dict) else ()
    for key in sorted(unknown):
        alike = get_close_matches(key, known, n=1, cutoff=_ALIKE)
        if alike and alike[0] not in fields:
            message = f"the key `{key}` is not known and is not read"
            advice = f"did you mean `{alike[0]}`?"
            yield Finding(UNKNOWN_KEY, message, _nearest_place(key, spots), advice, name)


def _name(fields: Any) -> str | None:
    name = fields.get("id") if isinstance(fields, dict) else None
    return name.strip() if isinstance(name, str) and name.strip() else None


def _said(path: str, error: ErrorDetails) -> str:
    wanted = _WANTED.get(error["type"])
    message = error["msg"]
    return f"`{path}` {wanted}" if wanted else f"`{path}`: {message[:1].lower()}{message[1:]}"


def _nearest_place(path: str, spots: Mapping[str, Place]) -> Place:
    """The place of a field, or of what should have held it."""
    while path and path not in spots:
        path = path.rpartition(".")[0]
    return spots[path]
