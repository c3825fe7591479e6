"""The example suites as a subject: their labels are what `planted.yaml` says is known of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from assay.questions.model import Question
from assay.questions.suite.suite import load_suites
from assay.questions.verdict.compounds import read_compounds
from assay.questions.verdict.stems import classify
from benchmarks.accuracy.labels import Kind, Label

FOLDER = Path(__file__).parents[2] / "examples" / "questions"
SUITES = ("pydantic", "compaction")


def example_labels(suite: str) -> dict[str, Label]:
    """The labels of the multiple-choice questions of an example suite."""
    planted = yaml.safe_load((FOLDER / "planted.yaml").read_text("utf-8"))
    entries = load_suites([FOLDER / f"{suite}.yaml"])[0].entries
    choices = (entry.question for entry in entries if isinstance(entry.question, Question))
    return planted_labels(choices, planted)


def planted_labels(
    questions: Iterable[Question], planted: Mapping[str, Mapping[str, Any]]
) -> dict[str, Label]:
    """Labels from what is known: a question that deserves Unproven is left to people."""
    return {
        question.id: Label(
            _kind(planted[question.id]["verdict"]),
            right_answers(question, planted[question.id].get("holds", ())),
            planted[question.id].get("planted", "nothing is planted"),
        )
        for question in questions
    }


def _kind(verdict: str) -> Kind:
    return Kind.JUDGEMENT if verdict == "Unproven" else Kind(verdict)


def right_answers(question: Question, holds: Iterable[str]) -> frozenset[str]:
    """The options that answer a question, where these statements are true.

    A negated question asks for the others; an option that sums up several is right instead of them.
    """
    true = frozenset(holds)
    answers = frozenset(question.options) - true if classify(question.text).negated else true
    compounds = read_compounds(question)
    wholes = frozenset(one for one in answers if one in compounds and compounds[one].parts)
    return wholes or answers
