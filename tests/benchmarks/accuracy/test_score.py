"""The arithmetic of the accuracy benchmark: what counts as wrong, as missed and as settled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.questions.model import Question
from benchmarks.accuracy.labels import Kind, Label
from benchmarks.accuracy.score import Scored, confusion_lines, kind_lines, score, score_lines

OPTIONS = {"A": "one", "B": "two", "C": "None of the above"}


def scored(
    label: str = "Valid",
    verdict: str = "Valid",
    states: str = "HOLDS FAILS FAILS",
    *,
    key: str = "A",
    answers: str = "A",
    kinds: tuple[tuple[str, str], ...] = (),
) -> Scored:
    proofs = [{"kind": kind, "truth": truth} for kind, truth in kinds]
    options: dict[str, Any] = {
        letter: {"state": state, "grounds": "executed", "reason": "so", "proofs": []}
        for letter, state in zip(OPTIONS, states.split(), strict=True)
    }
    options["A"]["proofs"] = proofs
    detail = {"verdict": verdict, "key": key, "options": options}
    question = Question(f"{label} {verdict}", "Which is it?", OPTIONS)
    return Scored(question, Label(Kind(label), frozenset(answers), ""), detail)


@pytest.mark.parametrize(
    ("label", "verdict", "false", "missed"),
    [
        ("Valid", "Valid", False, False),
        ("Valid", "Incorrect", True, False),
        ("Valid", "Ambiguous", True, False),
        ("Valid", "Unproven", False, False),
        ("judgement", "Incorrect", True, False),
        ("judgement", "Valid", False, False),
        ("Incorrect", "Incorrect", False, False),
        ("Incorrect", "Ambiguous", False, False),
        ("Incorrect", "Valid", False, True),
        ("Ambiguous", "Valid", False, True),
        ("Ambiguous", "Unproven", False, False),
    ],
)
def test_what_is_wrong(label: str, verdict: str, false: bool, missed: bool) -> None:
    one = scored(label, verdict)
    assert (one.is_false_accusation, one.is_missed) == (false, missed)
    assert score([one]).is_right is not (false or missed)


@pytest.mark.parametrize(
    ("states", "settled"),
    [
        ("HOLDS FAILS FAILS", True),
        ("HOLDS FAILS UNPROVEN", True),  # the last one is derived
        ("HOLDS UNPROVEN FAILS", False),
        ("UNPROVEN FAILS UNPROVEN", False),
        ("FAILS UNPROVEN UNPROVEN", True),  # the key fails
        ("CONTRADICTED FAILS FAILS", False),
    ],
)
def test_what_is_settled(states: str, settled: bool) -> None:
    assert scored(states=states).is_settled is settled


def test_what_could_not_be_examined_is_not_settled() -> None:
    one = replace(scored(verdict="Unproven"), detail={"verdict": "Unproven"})
    assert not one.is_settled
    assert one.disputed_findings() == []
    assert score([one]).kinds == {}


def test_findings_are_held_against_the_labels() -> None:
    assert scored(states="HOLDS FAILS FAILS").disputed_findings() == []
    assert scored(states="UNPROVEN UNPROVEN UNPROVEN").disputed_findings() == []
    disputed = scored(states="FAILS HOLDS FAILS").disputed_findings()
    assert [line.split(" ")[2:4] for line in disputed] == [["A", "FAILS"], ["B", "HOLDS"]]
    assert scored("judgement", states="FAILS HOLDS FAILS").disputed_findings() == []


def test_the_confusion_counts_every_question_once() -> None:
    counted = score([scored(), scored("Incorrect", "Incorrect"), scored("Incorrect", "Unproven")])
    assert sum(counted.confusion.values()) == counted.total == 3
    assert confusion_lines(counted) == [
        "| label | Valid | Incorrect | Ambiguous | Unproven |",
        "|---|---:|---:|---:|---:|",
        "| Valid | 1 | 0 | 0 | 0 |",
        "| Incorrect | 0 | 1 | 0 | 1 |",
    ]


def test_claims_are_counted_by_kind() -> None:
    kinds = (("import", "true"), ("import", "false"), ("import", "open"), ("default", "true"))
    assert kind_lines(score([scored(kinds=kinds)]))[2:] == [
        "| import | 3 | 1 | 1 | 1 |",
        "| default | 1 | 1 | 0 | 0 |",
    ]


def test_what_went_wrong_is_named() -> None:
    lines = score_lines(score([scored("Valid", "Incorrect"), scored("Ambiguous", "Valid")]))
    assert "  Valid Incorrect" in lines
    assert "  Ambiguous Valid" in lines
    assert "false accusations 1" in lines
    assert "defects called Valid 1" in lines
