"""Revisions of a question: what a remediation engineer proposes, and what is refused at once.

Nothing here is written to a file. What is accepted is verified from scratch by others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.questions.correct import changes_between, edit_suite
from assay.questions.correct.editing import definition_of
from assay.questions.lint_rules import lint_suites
from assay.questions.model import Entry, Key, Question
from assay.questions.model_prover.fixes import definition_problems, fix_problems
from assay.questions.suite.suite import Suite

FIELDS = ("question", "options", "correct_answer", "explanation")


class RefusedRevision(ValueError):  # noqa: N818 - the name says what is the case
    """A proposed definition cannot be taken; the text says why."""


@dataclass(frozen=True)
class Revision:
    """A definition that may be verified: the entry it makes, and the changes to its file."""

    entry: Entry
    definition: Mapping[str, Any]
    changes: Mapping[str, Any]


class Reviser:
    """Turns proposals for one question into revisions."""

    def __init__(self, suite: Suite, entry: Entry, text: str) -> None:
        self._suite = suite
        self._entry = entry
        self._text = text
        self._suffix = Path(entry.file).suffix
        self._whole = definition_of(text, entry.id, suffix=self._suffix)
        self.definition = {name: self._whole[name] for name in FIELDS if name in self._whole}
        self._known = self._complaints(entry)

    def revise(self, given: Any, tried: Sequence[Mapping[str, Any]] = ()) -> Revision:
        """The revision that a proposal makes; a RefusedRevision says why it makes none."""
        _refuse(definition_problems(given, self._whole))
        told = {name: given[name] for name in FIELDS if name in given}
        definition = {**self.definition, **told}
        entry = self._revised(definition)
        assert isinstance(entry.question, Question)
        _refuse(fix_problems(self._question, entry.question, definition["correct_answer"]))
        changes = changes_between(self.definition, definition)
        if not changes:
            raise RefusedRevision("it changes nothing")
        if any(changes_between(one, definition) == {} for one in tried):
            raise RefusedRevision("the same was tried before and was not Valid")
        self._check_editable(changes)
        _refuse(sorted(self._complaints(entry) - self._known))
        return Revision(entry, definition, changes)

    def _check_editable(self, changes: Mapping[str, Any]) -> None:
        try:
            edit_suite(self._text, self._entry.id, changes, suffix=self._suffix)
        except InputError as error:
            raise RefusedRevision(error.what) from None

    @property
    def _question(self) -> Question:
        assert isinstance(self._entry.question, Question)
        return self._entry.question

    def _revised(self, definition: Mapping[str, Any]) -> Entry:
        question = replace(
            self._question, text=definition["question"], options=dict(definition["options"])
        )
        key = Key(definition["correct_answer"], definition.get("explanation", ""))
        return replace(self._entry, question=question, key=key)

    def _complaints(self, entry: Entry) -> set[str]:
        """What lint says of the question that is more than a note."""
        entries = [entry if one.id == entry.id else one for one in self._suite.entries]
        found = lint_suites([replace(self._suite, entries=entries)])
        return {
            f"{one.code}: {one.message}"
            for one in found
            if one.case == entry.id and one.severity != "note"
        }


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise RefusedRevision("; ".join(problems))
