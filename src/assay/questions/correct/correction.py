"""Corrections of a question: what a model may propose, and which proposals are refused.

Nothing here is written to a file. Accepted proposals are verified from scratch elsewhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.questions.correct.editing import changes_between, definition_of, edit_suite
from assay.questions.lint_rules import lint_suites
from assay.questions.model import ApiAnswer, ApiQuestion, Key, Question, Snippet, SuiteEntry
from assay.questions.suite.formats import SnippetReference
from assay.questions.suite.references import (
    MissingFileError,
    SnippetFile,
    find_imports,
    find_used,
    replace_section,
)
from assay.questions.suite.suite import Suite

# What a remediation engineer may change; the id and the type stay. `code` is that of the section
# of a file that a question refers to, and of no field of the suite.
FIELDS = ("question", "options", "correct_answer", "explanation")
API_FIELDS = ("question", "answers", "rationale")
CODE = "code"
_MARK = "\ufeff"
_CODE = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"[A-Za-z_][\w.]*")


def definition_problems(definition: Any, before: Mapping[str, Any]) -> list[str]:
    """Return format errors of a new definition, for its author."""
    if not isinstance(definition, dict):
        return ["the definition must be an object with the fields that change"]
    problems = [
        f"`{name}` cannot be changed"
        for name, value in definition.items()
        if name not in (*FIELDS, CODE) and value != before.get(name)
    ]
    options = definition.get("options", {})
    if not isinstance(options, dict) or not all(
        isinstance(text, str) and text.strip() for text in options.values()
    ):
        problems.append("`options` must be an object from letters to texts, all of them given")
    problems += [
        f"`{name}` must be text"
        for name in (*FIELDS, CODE)
        if name in definition and name != "options" and not isinstance(definition[name], str)
    ]
    if definition.get(CODE) is not None and CODE not in before:
        problems.append("the question refers to no code, so `code` cannot be changed")
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
    return [*problems, *_find_code_problems(before.snippet, after.snippet)]


def _find_code_problems(before: Snippet | None, after: Snippet | None) -> list[str]:
    """Return why other code is refused: it must show what the code before it showed."""
    if before == after:
        return []
    if before is None or after is None:
        return ["it refers to other code"]
    if not after.code.strip():
        return ["its code is empty"]
    if _parses(before.code) and not _parses(after.code):
        return ["its code is no Python any more"]
    lost = {one.bound for one in find_imports(before.program)} & find_used(before.code)
    if lost and not lost & find_used(after.code):
        return [f"its code no longer uses what it showed: {', '.join(sorted(lost))}"]
    return []


def _parses(code: str) -> bool:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _find_subjects(question: Question) -> set[str]:
    """Return the names that a question is about: those in the code of its stem."""
    codes = _CODE.findall(question.text)
    return {name for code in codes for name in _NAME.findall(code)}


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
    text = given.get("question") or before["question"]
    if not isinstance(text, str) or not text.strip():
        return [*problems, "`question` must be text"]
    if not isinstance(given.get("rationale") or "", str):
        return [*problems, "`rationale` must be text"]
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
class CodeChange:
    """Other code for a section of a file, or (without one) for all of it."""

    file: Path
    section: str | None
    code: str

    def apply(self, text: str) -> str:
        """Return the text of the file with the change."""
        mark, text = (_MARK, text[1:]) if text.startswith(_MARK) else ("", text)
        try:
            changed = replace_section(text, self.section, self.code)
        except MissingFileError as error:
            raise InputError(error.what, where=str(self.file), advice=error.advice) from None
        if changed is None:
            what = "the code cannot be changed alone: another section begins or ends in it"
            raise InputError(what, where=str(self.file))
        return f"{mark}{changed}"

    def as_values(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"file": str(self.file), "section": self.section, "code": self.code}

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> CodeChange:
        """Return a change that a record of a run has."""
        return cls(Path(values["file"]), values["section"], values["code"])


@dataclass(frozen=True)
class Correction:
    """A definition ready to be verified: its entry, and the changes to its files."""

    entry: SuiteEntry
    definition: Mapping[str, Any]
    changes: Mapping[str, Any]
    code: CodeChange | None = None

    @property
    def changed(self) -> list[str]:
        """The names of what it changes."""
        return [*self.changes, *([CODE] if self.code else [])]


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
        self.context = ""
        if isinstance(entry.question, Question) and entry.question.snippet is not None:
            snippet = entry.question.snippet
            self._whole = {**self._whole, CODE: snippet.code}
            self.definition[CODE] = snippet.code
            self.context = "\n".join([*snippet.imports, *snippet.helpers])
        self._known = self._complaints(entry)

    def correct(self, given: Any, tried: Sequence[Mapping[str, Any]] = ()) -> Correction:
        """Return the correction that a proposal makes, or raise RefusedCorrection."""
        code: CodeChange | None = None
        if self._is_api:
            definition = self._merge_answers(given)
            entry = self._apply_answers(definition)
        else:
            if isinstance(given, dict):
                # Models that fill in a schema write null for what stays.
                given = {name: value for name, value in given.items() if value is not None}
            _refuse(definition_problems(given, self._whole))
            told = {name: given[name] for name in (*FIELDS, CODE) if name in given}
            definition = {**self.definition, **told}
            code, snippet = self._change_code(definition)
            entry = self._apply(definition, snippet)
            assert isinstance(entry.question, Question)
            _refuse(fix_problems(self._question, entry.question, definition["correct_answer"]))
            self._check_sharing(code)
        changes = changes_between(self.definition, definition)
        changes.pop(CODE, None)
        correction = Correction(entry, definition, changes, code)
        if not correction.changed:
            raise RefusedCorrection("it changes nothing")
        if any(changes_between(one, definition) == {} for one in tried):
            raise RefusedCorrection("the same was tried before and was not Valid")
        self._check_editable(changes)
        _refuse(sorted(self._complaints(entry) - self._known))
        return correction

    def _change_code(
        self, definition: Mapping[str, Any]
    ) -> tuple[CodeChange | None, Snippet | None]:
        """Return the change of a snippet's file, and the snippet as it is then read from it."""
        old, code = self._question.snippet, definition.get(CODE)
        if old is None or code is None or code.rstrip() == old.code.rstrip():
            return None, old
        reference = self._suite.references[self._entry.id]
        assert self._suite.snippets is not None
        file = self._suite.snippets.get(reference.file)
        change = CodeChange(file.path, reference.section, code)
        try:
            revised = file.revise(change.apply(file.text))
        except InputError as error:
            raise RefusedCorrection(error.what) from None
        return change, revised.snippet(reference.section)

    def _check_sharing(self, change: CodeChange | None) -> None:
        """Refuse a change of code that another question of the suite refers to, or runs."""
        if change is None:
            return
        assert self._suite.snippets is not None
        file = self._suite.snippets.get(self._suite.references[self._entry.id].file)
        revised = file.revise(change.apply(file.text))
        for name, other in self._suite.references.items():
            if name != self._entry.id and self._is_changed(other, file, revised):
                what = f"`code` cannot be changed: the question {name} uses it too"
                raise RefusedCorrection(what)

    def _is_changed(
        self, reference: SnippetReference, file: SnippetFile, revised: SnippetFile
    ) -> bool:
        """Tell whether what another question refers to reads otherwise in a revised file."""
        assert self._suite.snippets is not None
        try:
            if self._suite.snippets.get(reference.file).path != file.path:
                return False
            return file.snippet(reference.section) != revised.snippet(reference.section)
        except MissingFileError:
            # It cannot be read as it is either.
            return False

    def _merge_answers(self, given: Any) -> dict[str, Any]:
        """Return the definition of an API question with what is given, in the form of the file."""
        _refuse(find_answer_problems(given, self._whole))
        told = {name: given[name] for name in ("question", "rationale") if given.get(name)}
        definition = {**self.definition, **told}
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
        key = Key(answers[0].text, definition.get("rationale", ""))
        return replace(self._entry, question=question, key=key)

    def _check_editable(self, changes: Mapping[str, Any]) -> None:
        try:
            edit_suite(self._text, self._entry.id, changes, suffix=self._suffix)
        except InputError as error:
            raise RefusedCorrection(error.what) from None

    @property
    def _question(self) -> Question:
        assert isinstance(self._entry.question, Question)
        return self._entry.question

    def _apply(self, definition: Mapping[str, Any], snippet: Snippet | None) -> SuiteEntry:
        question = replace(
            self._question,
            text=definition["question"],
            options=dict(definition["options"]),
            snippet=snippet,
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
