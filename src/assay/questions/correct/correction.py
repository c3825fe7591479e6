"""Corrections of a question: what a model may propose, and which proposals are refused.

Nothing here is written to a file. Accepted proposals are verified from scratch elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.questions.correct.editing import changes_between, definition_of, edit_suite
from assay.questions.lint_rules import lint_suites
from assay.questions.model import ApiAnswer, ApiQuestion, Key, Question, SuiteEntry
from assay.questions.suite.suite import Suite

# What a remediation engineer may change; the id, the type and the snippet stay.
CHANGEABLE = frozenset({"question", "options", "correct_answer", "explanation"})
_CODE = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"[A-Za-z_][\w.]*")


def definition_problems(definition: Any, before: Mapping[str, Any]) -> list[str]:
    """Return format errors of a new definition, for its author."""
    if not isinstance(definition, dict):
        return ["the definition must be an object with the fields that change"]
    problems = [
        f"`{name}` cannot be changed"
        for name, value in definition.items()
        if name not in CHANGEABLE and value != before.get(name)
    ]
    options = definition.get("options", {})
    if not isinstance(options, dict) or not all(
        isinstance(text, str) and text.strip() for text in options.values()
    ):
        problems.append("`options` must be an object from letters to texts, all of them given")
    problems += [
        f"`{name}` must be text"
        for name in sorted(CHANGEABLE - {"options"})
        if name in definition and not isinstance(definition[name], str)
    ]
    return problems


def fix_problems(before: Question, after: Question, key: str) -> list[str]:
    """Return why a corrected question is refused: it would be easier to verify, but not better."""
    problems = []
    if len(after.options) < len(before.options):
        problems.append(
            f"it has {len(after.options)} options and had {len(before.options)}: keep them all"
        )
    texts = [" ".join(text.split()).strip(".").casefold() for text in after.options.values()]
    if len(set(texts)) < len(texts):
        problems.append("two of its options say the same")
    if key not in after.options:
        problems.append(f"its key {key!r} is not one of its options {', '.join(after.options)}")
    lost = _find_subjects(before)
    said = " ".join([after.text, *after.options.values()])
    if lost and not any(re.search(rf"\b{re.escape(name)}\b", said) for name in lost):
        problems.append(f"it is no longer about what it tested: {', '.join(sorted(lost))}")
    if before.snippet != after.snippet:
        problems.append("it refers to other code")
    return problems


def _find_subjects(question: Question) -> set[str]:
    """Return the names that a question is about: those in the code of its stem."""
    codes = _CODE.findall(question.text)
    return {name for code in codes for name in _NAME.findall(code)}


FIELDS = ("question", "options", "correct_answer", "explanation")
API_FIELDS = ("question", "answers")
_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")


def find_answer_problems(given: Any, before: Mapping[str, Any]) -> list[str]:
    """Return why the new definition of an API question is refused."""
    if not isinstance(given, dict):
        return ["the definition must be an object with the fields that change"]
    problems = [
        f"`{name}` cannot be changed"
        for name, value in given.items()
        if name not in API_FIELDS and value is not None and value != before.get(name)
    ]
    text = given.get("question", before["question"])
    if not isinstance(text, str) or not text.strip():
        return [*problems, "`question` must be text"]
    lost = _find_subjects(Question("", before["question"], {}))
    if lost and not any(re.search(rf"\b{re.escape(name)}\b", text) for name in lost):
        problems.append(f"it is no longer about what it tested: {', '.join(sorted(lost))}")
    answers = given.get("answers") or _list_answers(before)
    if not isinstance(answers, list) or len(answers) != len(_list_answers(before)):
        return [*problems, "`answers` must be a list as long as it was"]
    for one in answers:
        names = _list_names(one) if isinstance(one, dict) else []
        if not names or not all(isinstance(name, str) and _PATH.fullmatch(name) for name in names):
            problems.append("every answer needs `fully_qualified_class_name`: full dotted names")
        if not isinstance(one, dict) or not isinstance(one.get("answer"), str):
            problems.append("every answer needs `answer`: a name")
    return problems


def _list_answers(definition: Mapping[str, Any]) -> list[Any]:
    answers = definition["answers"]
    return answers if isinstance(answers, list) else [answers]


def _list_names(answer: Mapping[str, Any]) -> list[Any]:
    names = answer.get("fully_qualified_class_name") or []
    return names if isinstance(names, list) else [names]


class RefusedCorrection(ValueError):  # noqa: N818 - the name says what is the case
    """A proposed definition is refused; the text says why."""


@dataclass(frozen=True)
class Correction:
    """A definition ready to be verified: its entry, and the changes to its file."""

    entry: SuiteEntry
    definition: Mapping[str, Any]
    changes: Mapping[str, Any]


class Corrector:
    """Turns proposals for one question into revisions."""

    def __init__(self, suite: Suite, entry: SuiteEntry, text: str) -> None:
        self._suite = suite
        self._entry = entry
        self._text = text
        self._suffix = Path(entry.file).suffix
        self._whole = definition_of(text, entry.id, suffix=self._suffix)
        self._is_api = isinstance(entry.question, ApiQuestion)
        self._fields = API_FIELDS if self._is_api else FIELDS
        self.definition = {name: self._whole[name] for name in self._fields if name in self._whole}
        self._known = self._complaints(entry)

    def correct(self, given: Any, tried: Sequence[Mapping[str, Any]] = ()) -> Correction:
        """Return the correction that a proposal makes, or raise RefusedCorrection."""
        if self._is_api:
            definition = self._merge_answers(given)
            entry = self._apply_answers(definition)
        else:
            _refuse(definition_problems(given, self._whole))
            told = {name: given[name] for name in FIELDS if name in given}
            definition = {**self.definition, **told}
            entry = self._apply(definition)
            assert isinstance(entry.question, Question)
            _refuse(fix_problems(self._question, entry.question, definition["correct_answer"]))
        changes = changes_between(self.definition, definition)
        if not changes:
            raise RefusedCorrection("it changes nothing")
        if any(changes_between(one, definition) == {} for one in tried):
            raise RefusedCorrection("the same was tried before and was not Valid")
        self._check_editable(changes)
        _refuse(sorted(self._complaints(entry) - self._known))
        return Correction(entry, definition, changes)

    def _merge_answers(self, given: Any) -> dict[str, Any]:
        """Return the definition of an API question with what is given, in the form of the file."""
        _refuse(find_answer_problems(given, self._whole))
        definition = {**self.definition, "question": given.get("question", self._whole["question"])}
        if (answers := given.get("answers")) is not None:
            old = _list_answers(self._whole)
            merged = [
                {**one, "answer": new["answer"], _NAMES: _as_before(one[_NAMES], _list_names(new))}
                for one, new in zip(old, answers, strict=True)
            ]
            is_list = isinstance(self._whole["answers"], list)
            definition["answers"] = merged if is_list else merged[0]
        return definition

    def _apply_answers(self, definition: Mapping[str, Any]) -> SuiteEntry:
        assert isinstance(self._entry.question, ApiQuestion)
        answers = tuple(
            ApiAnswer(one["answer"], tuple(_list_names(one))) for one in _list_answers(definition)
        )
        question = replace(self._entry.question, text=definition["question"], answers=answers)
        explanation = self._entry.key.explanation if self._entry.key else ""
        return replace(self._entry, question=question, key=Key(answers[0].text, explanation))

    def _check_editable(self, changes: Mapping[str, Any]) -> None:
        try:
            edit_suite(self._text, self._entry.id, changes, suffix=self._suffix)
        except InputError as error:
            raise RefusedCorrection(error.what) from None

    @property
    def _question(self) -> Question:
        assert isinstance(self._entry.question, Question)
        return self._entry.question

    def _apply(self, definition: Mapping[str, Any]) -> SuiteEntry:
        question = replace(
            self._question, text=definition["question"], options=dict(definition["options"])
        )
        key = Key(definition["correct_answer"], definition.get("explanation", ""))
        return replace(self._entry, question=question, key=key)

    def _complaints(self, entry: SuiteEntry) -> set[str]:
        """Return lint findings on the question that are more than notes."""
        entries = [entry if one.id == entry.id else one for one in self._suite.entries]
        found = lint_suites([replace(self._suite, entries=entries)])
        return {
            f"{one.code}: {one.message}"
            for one in found
            if one.case == entry.id and one.severity != "note"
        }


_NAMES = "fully_qualified_class_name"


def _as_before(old: Any, names: list[str]) -> Any:
    """Return names in the form that the file has: one text, or a list."""
    return names[0] if isinstance(old, str) and len(names) == 1 else names


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise RefusedCorrection("; ".join(problems))
