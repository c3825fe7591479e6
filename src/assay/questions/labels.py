"""Labels: what is true of questions, said by people who ran the code.

A file of labels has them by the id of the question, under `labels` or at its top; where it is of
several suites, by the name of the suite's file first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from assay.documents import (
    DocumentError,
    MappingNode,
    Node,
    Pair,
    find_places,
    find_repetitions,
    read_document,
    read_model,
)
from assay.errors import InputError, nearest

_FORM = "write each as `id: {label: Incorrect, answers: [B]}`"


class LabelKind(StrEnum):
    """What a person who ran the code says of a question."""

    VALID = "Valid"
    INCORRECT = "Incorrect"
    AMBIGUOUS = "Ambiguous"
    JUDGEMENT = "judgement"  # only a person can say


class Label(BaseModel):
    """The label of a question, the options that are right, and why."""

    model_config = ConfigDict(frozen=True)

    label: LabelKind
    answers: tuple[str, ...] = ()
    reason: str = ""

    @property
    def is_defect(self) -> bool:
        return self.label in (LabelKind.INCORRECT, LabelKind.AMBIGUOUS)


def read_labels(file: Path, questions: Mapping[str, str]) -> dict[str, Label]:
    """Return the labels of a file by question; raise InputError if it is not right.

    `questions` are all questions that there are, by id, each with the name of its suite.
    """
    try:
        node = read_document(file)
    except DocumentError as error:
        where = f"{file}:{error.line}"
        raise InputError(error.what, where=where, advice=error.advice) from None
    for repeated in find_repetitions(node):
        raise InputError(str(repeated), where=f"{file}:{repeated.line}", advice="remove one")
    found: dict[str, Label] = {}
    for pair in _list_pairs(node, file, set(questions.values())):
        if pair.key not in questions:
            raise InputError(
                f"there is no question {pair.key!r}",
                where=f"{file}:{pair.line}",
                advice=nearest(pair.key, questions) or "name the questions of the suite",
            )
        found[pair.key] = _read(pair, file)
    return found


def _list_pairs(node: Node, file: Path, suites: set[str]) -> Iterator[Pair]:
    """Yield the pairs of questions and labels, those of other suites left out."""
    top = node.get("labels") if isinstance(node, MappingNode) else None
    labels = top or node
    if not isinstance(labels, MappingNode):
        what = "`labels` must be a mapping from questions to labels"
        raise InputError(what, where=f"{file}:{labels.line}", advice=_FORM)
    for pair in labels.pairs:
        if not isinstance(pair.value, MappingNode) or pair.value.get("label") is not None:
            yield pair
        elif pair.key in suites:
            yield from pair.value.pairs
        elif not all(_is_label(one.value) for one in pair.value.pairs) or not pair.value.pairs:
            yield pair


def _is_label(node: Node) -> bool:
    return isinstance(node, MappingNode) and node.get("label") is not None


def _read(pair: Pair, file: Path) -> Label:
    if not isinstance(pair.value, MappingNode):
        what = f"{pair.key}: a label must be a mapping"
        raise InputError(what, where=f"{file}:{pair.line}", advice=_FORM)
    read, mistakes = read_model(
        Label, pair.value, find_places(pair.value, file), allows_unknown=True
    )
    for one in mistakes:
        raise InputError(
            f"{pair.key}: {one.message}", where=str(one.place), advice=one.advice or _FORM
        )
    assert read is not None
    return read
