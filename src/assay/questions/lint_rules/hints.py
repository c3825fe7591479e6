"""Rule about questions that tell their own answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.findings import Finding
from assay.questions.lint_rules.rules import Linted, rule
from assay.questions.lint_rules.words import is_compound
from assay.questions.model import ApiQuestion, Question

# An option that is a name and nothing else: `a.b.name`, `name(…)`, `--name`.
_NAME = re.compile(r"-{0,2}(?:\w+\.)*([A-Za-z_]\w*)(?:\(.*\))?")
_WORD = re.compile(r"[A-Za-z_]\w*")
_SHAPED = re.compile(r".*(?:_|[a-z0-9][A-Z]|[A-Z]{2,}[a-z]).*")
_ASKS_FOR_A_NAME = re.compile(
    r"\b(?:which|what)\b[^.?]*\b(?:parameters?|arguments?|methods?|functions?|class|classes|fields?"
    r"|attributes?|propert(?:y|ies)|flags?|settings?|keywords?|decorators?|callbacks?|commands?)\b",
    re.IGNORECASE,
)
_NO_NAMES = frozenset({"True", "False", "None", "true", "false", "null"})


@rule(
    "answer-given-away",
    "warning",
    "The question tells its answer",
    "The name that is keyed as right stands in the question, and none of the others does, so that "
    "it can be picked without knowing anything. Describe the thing without its name.",
)
def answer_given_away(linted: Linted) -> Iterator[Finding]:
    for suite in linted.suites:
        for entry in suite.entries:
            if isinstance(entry.question, Question) and entry.key is not None:
                told = _told_by_choice(entry.question, entry.key.answer)
            elif isinstance(entry.question, ApiQuestion):
                told = _told_by_name(entry.question)
            else:
                continue
            if told:
                yield Finding(
                    "answer-given-away",
                    f"the answer `{told}` already stands in the question",
                    entry.place("question"),
                    "describe it without its name",
                    entry.id,
                )


def _told_by_choice(question: Question, key: str) -> str | None:
    name = _name_of(question.options.get(key, ""))
    if name is None or not _stands_in(name, question.text):
        return None
    for letter, text in question.options.items():
        # A distractor that is no name, or that is named as well, is an alternative to think about.
        other = None if letter == key or is_compound(text) else _name_of(text)
        if letter != key and not is_compound(text) and (other is None or other == name):
            return None
        if other is not None and _stands_in(other, question.text):
            return None
    return name


def _told_by_name(question: ApiQuestion) -> str | None:
    names = (_name_of(answer.text) for answer in question.answers)
    return next((name for name in names if name and _stands_in(name, question.text)), None)


def _name_of(option: str) -> str | None:
    match = _NAME.fullmatch(option.strip().strip("`'\".").strip())
    return match[1] if match and match[1] not in _NO_NAMES else None


def _stands_in(name: str, text: str) -> bool:
    """Whether a text holds a name as a word; an everyday word counts only if a name is asked."""
    if name not in _WORD.findall(text):
        return False
    return bool(_SHAPED.fullmatch(name)) or _ASKS_FOR_A_NAME.search(text) is not None
