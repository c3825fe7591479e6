"""Labels: what is true of a question, found by hand and by running code, before any prover."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml

_HERE = Path(__file__).parent
OWN, ADK = _HERE / "labels.yaml", _HERE / "labels_adk.yaml"


class Kind(StrEnum):
    """What a person who ran the code says of a question."""

    VALID = "Valid"
    INCORRECT = "Incorrect"
    AMBIGUOUS = "Ambiguous"
    JUDGEMENT = "judgement"  # only a person can say


@dataclass(frozen=True)
class Label:
    """The label of a question, the options that are right, and why."""

    kind: Kind
    answers: frozenset[str]
    reason: str

    @property
    def is_defect(self) -> bool:
        return self.kind in (Kind.INCORRECT, Kind.AMBIGUOUS)


Labels = Mapping[str, Label]


def read_labels(values: Mapping[str, Any]) -> dict[str, Label]:
    """Labels by the id of their question."""
    return {
        name: Label(Kind(one["label"]), frozenset(one["answers"]), one["reason"])
        for name, one in values.items()
    }


def own_labels(suite: str) -> dict[str, Label]:
    """The labels of one of the suites in this folder."""
    return read_labels(yaml.safe_load(OWN.read_text("utf-8"))[suite])


def adk_labels() -> dict[str, Label]:
    """The labels of the public multiple-choice questions on google-adk."""
    return read_labels(yaml.safe_load(ADK.read_text("utf-8"))["labels"])


def unlabelled(questions: Iterable[str], labels: Labels) -> list[str]:
    """What does not match between a suite and its labels: they must cover each other."""
    return sorted(set(questions) ^ set(labels))
