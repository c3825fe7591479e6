"""What the agents work on: questions, claims and findings, worded as data.

They stand between marks and are called data: what is written there is examined, never obeyed. Pure:
texts only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from assay.questions.model import Question
from assay.questions.model_prover.tasks import VerificationTask
from assay.questions.verdict.stems import StemKind, classify


def proctor_task(given: str, solution: str) -> str:
    """What a proctor compares."""
    parts = ["What is given to those who take the exam:", data(given), "The solution:"]
    return "\n\n".join([*parts, data(solution)])


def solver_task(given: str) -> str:
    """What a solver is given."""
    return "\n\n".join(["The task:", data(given)])


def data(text: str) -> str:
    """A text as material; it cannot close the marks it stands between."""
    inside = text.replace("</data>", "< /data>")
    return f"<data>\n{inside}\n</data>"


def analyst_task(question: Question, options: Sequence[str], target: str) -> str:
    """The question for the claim analyst; all options are shown, claims are wanted for some."""
    return "\n\n".join(
        [
            f"The library: {target}",
            "The question with its options:",
            data(question_text(question)),
            *_reading(question),
            f"Claims are wanted for: {', '.join(options)}",
        ]
    )


def question_text(question: Question) -> str:
    """A question as people read it."""
    lines = [question.text.strip()]
    if question.snippet is not None:
        imports = "\n".join(question.snippet.imports)
        code = f"{imports}\n\n{question.snippet.code}" if imports else question.snippet.code
        lines += ["", "The code it refers to:", "```python", code.rstrip(), "```"]
    lines += ["", *(f"{letter}: {text.strip()}" for letter, text in question.options.items())]
    return "\n".join(lines)


def _reading(question: Question) -> list[str]:
    """What the words of the question ask for, where that is easily got wrong."""
    stem = classify(question.text)
    if stem.negated:
        return [
            "This question asks for the option that does NOT fit. Write every claim as if that "
            'word were not there ("X is a …", "X does …"): the turn is made later, by a program.'
        ]
    if stem.kind in (StemKind.SUPERLATIVE, StemKind.WHY):
        return [
            "This question asks for a preference or a reason. Claim what can be executed, and call "
            "it necessary unless it really settles the option."
        ]
    return []


def engineer_task(
    question: Question,
    option: str,
    tasks: Mapping[str, VerificationTask],
    target: str,
    accepted: str = "",
) -> str:
    """One option for the proof engineer, with its claims by the files they are to be in.

    `accepted` is a proof of another option, from which its surroundings can be taken.
    """
    claims = [
        {"file": file, **task.model_dump(mode="json", exclude={"option"}, exclude_none=True)}
        for file, task in tasks.items()
    ]
    return "\n\n".join(
        [
            f"The library: {target}",
            "The question with its options:",
            data(question_text(question)),
            *_reading(question),
            f"The option to work on: {option}",
            "The claims about it:",
            data(json.dumps(claims, indent=2, ensure_ascii=False)),
            *(["A proof of another option that was accepted:", data(accepted)] if accepted else ()),
        ]
    )


def remediation_task(
    definition: Mapping[str, Any], critique: str, evidence: str, tried: Sequence[str], target: str
) -> str:
    """The defective question for the remediation engineer; here the key is part of it."""
    parts = [
        f"The library: {target}",
        "The question as it stands:",
        data(json.dumps(definition, indent=2, ensure_ascii=False)),
        "The verdict:",
        data(critique),
        "What was proven about each option:",
        data(evidence),
    ]
    if tried:
        parts += ["Corrections that were tried and were not Valid:", *map(data, tried)]
    return "\n\n".join(parts)
