"""Files of labels: by question, also for several suites, and what is wrong with one."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import InputError
from assay.questions.labels import Label, LabelKind, read_labels

QUESTIONS = {"one": "suite", "two": "suite"}
ONE = "{label: Incorrect, answers: [B, C], reason: 'executed', author: somebody}"


def read(tmp_path: Path, text: str) -> dict[str, Label]:
    file = tmp_path / "labels.yaml"
    file.write_text(text)
    return read_labels(file, QUESTIONS)


@pytest.mark.parametrize(
    "text",
    [
        f"labels:\n  one: {ONE}\n",
        f"one: {ONE}\n",
        f"other:\n  three: {{label: Valid}}\nsuite:\n  one: {ONE}\n",
    ],
)
def test_labels_are_found_by_question(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    assert found == {"one": Label(label=LabelKind.INCORRECT, answers=("B", "C"), reason="executed")}
    assert found["one"].is_defect


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("labels:\n  onne: {label: Valid}\n", "there is no question 'onne'", 2),
        ("labels:\n  one: {label: Wrong}\n", "one: `label` cannot be 'Wrong'", 2),
        ("labels:\n  one: Valid\n", "one: a label must be a mapping", 2),
        ("labels:\n  one: {answers: [A]}\n", "one: `label` is missing", 2),
        ("labels: [one]\n", "must be a mapping", 1),
        ("one: {label: Valid}\none: {label: Valid}\n", "`one` occurs twice", 2),
        ("labels: {one: [\n", "is not valid YAML", 2),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str, said: str, line: int) -> None:
    with pytest.raises(InputError, match=said) as caught:
        read(tmp_path, text)
    assert caught.value.advice
    assert f"labels.yaml:{line}" in str(caught.value)
