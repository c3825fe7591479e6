"""Which corrections of a question are refused before anything is verified: pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from assay.questions.model import Question

# What a remediation engineer may change; the id, the type and the snippet stay.
CHANGEABLE = frozenset({"question", "options", "correct_answer", "explanation"})
_CODE = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"[A-Za-z_][\w.]*")


def definition_problems(definition: Any, before: Mapping[str, Any]) -> list[str]:
    """What is wrong with the form of a new definition, for its author to read."""
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
    """Why a corrected question is refused: it would be easier to verify, but not better."""
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
    lost = _tested(before)
    said = " ".join([after.text, *after.options.values()])
    if lost and not any(re.search(rf"\b{re.escape(name)}\b", said) for name in lost):
        problems.append(f"it is no longer about what it tested: {', '.join(sorted(lost))}")
    if before.snippet != after.snippet:
        problems.append("it refers to other code")
    return problems


def _tested(question: Question) -> set[str]:
    """The names that a question is about: those in the code of its stem."""
    codes = _CODE.findall(question.text)
    return {name for code in codes for name in _NAME.findall(code)}
