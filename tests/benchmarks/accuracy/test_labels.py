"""The labels cover the suites they belong to, and a defect is a defect by its own answers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.questions.model import Question
from assay.questions.suite.suite import load_suites
from benchmarks.accuracy import labels
from benchmarks.accuracy.labels import Kind, adk_labels, unlabelled
from benchmarks.accuracy.subjects import Subject, own_subjects

FOLDER = Path(labels.__file__).parent
SUBJECTS = own_subjects()


@pytest.fixture(params=SUBJECTS, ids=lambda one: one.name)
def subject(request: pytest.FixtureRequest) -> Subject:
    found: Subject = request.param
    return found


def test_every_question_has_a_label(subject: Subject) -> None:
    entries = load_suites([subject.suite])[0].entries
    assert unlabelled((entry.id for entry in entries), subject.labels) == []


def test_labels_and_keys_say_the_same(subject: Subject) -> None:
    for entry in load_suites([subject.suite])[0].entries:
        assert isinstance(entry.question, Question)
        assert entry.key is not None
        label = subject.labels[entry.id]
        assert label.answers <= set(entry.question.options)
        expected = {
            Kind.JUDGEMENT: True,
            Kind.VALID: label.answers == {entry.key.answer},
            Kind.INCORRECT: entry.key.answer not in label.answers,
            Kind.AMBIGUOUS: entry.key.answer in label.answers and len(label.answers) > 1,
        }
        assert expected[label.kind], entry.id


def test_half_of_our_own_have_defects_but_for_the_traps(subject: Subject) -> None:
    defects = sum(label.is_defect for label in subject.labels.values())
    assert len(subject.labels) >= 20
    assert defects * 2 == (0 if subject.name in ("click", "traps") else len(subject.labels))


def test_every_label_of_our_own_has_a_test(subject: Subject) -> None:
    text = (FOLDER / "label_proofs" / f"test_{subject.name}.py").read_text("utf-8")
    tests = set(re.findall(r"^def test_(\w+)\(", text, re.MULTILINE))
    assert tests == {name.replace("-", "_") for name in subject.labels}


def test_every_defect_of_the_public_suite_has_a_proof() -> None:
    texts = [one.read_text("utf-8") for one in (FOLDER / "adk_proofs").glob("test_*.py")]
    defects = [name.split(":")[1] for name, label in adk_labels().items() if label.is_defect]
    assert len(defects) == len(texts) == 2
    for name in defects:
        assert [text for text in texts if f"`{name}`" in text]


def test_all_questions_of_the_public_suite_are_labelled() -> None:
    assert len(adk_labels()) == 41
