"""Swapped keys: every other option once, and only the right key of a defect may be Valid."""

from __future__ import annotations

from pathlib import Path

from assay.model import CaseRecord, Outcome
from assay.questions.model import Key, Question, SuiteEntry
from assay.questions.proofs.store import ProofStore
from assay.questions.verification import Work
from assay.sandbox import Target
from benchmarks.accuracy.labels import Kind, Label
from benchmarks.accuracy.proving import Answered
from benchmarks.accuracy.swaps import chosen, swapped, swaps


def work(name: str = "one", key: str = "A") -> Work:
    question = Question(name, "Which?", {"A": "1", "B": "2", "C": "3"})
    entry = SuiteEntry(question, Key(key), Path("suite.yaml"))
    return Work(entry, name, Target(("httpx",)), ProofStore(Path("suite.yaml")))


def answered(key: str, verdict: str) -> Answered:
    record = CaseRecord(
        id="one",
        subject="questions",
        outcome=Outcome.UNVERIFIED,
        reason="",
        code="",
        reports=[],
        detail={"verdict": verdict},
    )
    return Answered(work(key=key), record)


def test_every_other_option_becomes_the_key_once() -> None:
    keys = [one.entry.key.answer for one in swaps(work(key="B")) if one.entry.key]
    assert keys == ["A", "C"]


def test_questions_are_taken_from_the_whole_length() -> None:
    many = [work(str(number)) for number in range(30)]
    assert [one.entry.id for one in chosen(many, 3)] == ["0", "10", "20"]
    assert chosen(many[:2], 3) == many[:2]


def test_a_wrong_key_must_not_be_valid() -> None:
    labels = {"one": Label(Kind.VALID, frozenset("A"), "")}
    told = swapped([answered("B", "Valid"), answered("C", "Incorrect")], labels, 1)
    assert (told.keys, told.accused, told.mended, told.wrongly_valid) == (2, 1, 0, ("one",))


def test_the_right_key_of_a_defect_may_be() -> None:
    labels = {"one": Label(Kind.INCORRECT, frozenset("B"), "")}
    told = swapped([answered("B", "Valid"), answered("C", "Unproven")], labels, 1)
    assert (told.mended, told.wrongly_valid) == (1, ())


def test_no_key_of_an_ambiguous_question_may_be() -> None:
    labels = {"one": Label(Kind.AMBIGUOUS, frozenset("AB"), "")}
    assert swapped([answered("B", "Valid")], labels, 1).wrongly_valid == ("one",)
