"""What verdicts on mutants are worth, in numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.calibration import (
    CalibrationTrial,
    Result,
    result_of,
    result_of_label,
    score,
)
from assay.questions.calibration_report import calibration_lines, calibration_values
from assay.questions.labels import Label, LabelKind
from assay.questions.mutants import Defect
from assay.reports import Paint

VERDICTS = ["Valid", "Incorrect", "Ambiguous", "Unproven"]


@pytest.mark.parametrize(
    ("defect", "verdict", "said", "answers", "result"),
    [
        (Defect.KEY_SWAPPED, "Incorrect", ["B"], ["B"], Result.FOUND),
        (Defect.KEY_SWAPPED, "Incorrect", [], ["B"], Result.FOUND),
        (Defect.KEY_SWAPPED, "Incorrect", ["C"], ["B"], Result.WRONG),
        (Defect.KEY_SWAPPED, "Ambiguous", ["B"], ["B"], Result.WRONG),
        (Defect.KEY_SWAPPED, "Unproven", ["B"], ["B"], Result.OPEN),
        (Defect.KEY_SWAPPED, "Valid", ["B"], ["B"], Result.MISSED),
        (Defect.ANSWER_DOUBLED, "Ambiguous", ["A", "B"], ["A", "B"], Result.FOUND),
        (Defect.ANSWER_DOUBLED, "Incorrect", ["A"], ["A", "B"], Result.WRONG),
        (Defect.QUESTION_BLURRED, "Ambiguous", ["A", "D"], None, Result.FOUND),
        (Defect.QUESTION_BLURRED, "Unproven", [], None, Result.OPEN),
        (Defect.QUESTION_BLURRED, "Valid", ["A"], None, Result.ANSWERABLE),
        (None, "Valid", ["A"], ["A"], Result.CONFIRMED),
        (None, "Unproven", [], ["A"], Result.OPEN),
        (None, "Ambiguous", ["A", "B"], ["A"], Result.WRONG),
    ],
)
def test_what_a_verdict_is_worth(
    defect: Defect | None,
    verdict: str,
    said: list[str],
    answers: list[str] | None,
    result: Result,
) -> None:
    assert result_of(defect, verdict, said, answers) is result


def tried(question: str, defect: Defect | None, verdict: str) -> CalibrationTrial:
    answers = None if defect is Defect.QUESTION_BLURRED else ["A"]
    result = result_of(defect, verdict, [], answers)
    return CalibrationTrial(
        question, f"{defect or 'sound'}-x", defect, verdict, result, "changed", "why"
    )


@given(
    st.lists(
        st.builds(
            tried,
            st.sampled_from(["a", "b", "c"]),
            st.sampled_from([None, *Defect]),
            st.sampled_from(VERDICTS),
        )
    )
)
def test_every_mutant_is_counted_once(all_tried: list[CalibrationTrial]) -> None:
    found = score(all_tried)
    for one in (*found.kinds, found.all):
        assert one.mutants == one.found + one.wrong + one.open + one.missed + one.answerable
        assert one.recall.trials == one.mutants - one.answerable
        assert one.suite_recall == (one.found, one.recall.trials)
        assert one.recall.hits == one.precision.hits == one.found
    assert sum(one.mutants for one in found.kinds) == found.all.mutants
    assert found.all.mutants + found.sound.total() == len(all_tried)
    assert len(found.misses) == found.all.missed
    values = calibration_values(found)
    assert values["all"]["mutants"] == found.all.mutants
    assert len(values["misses"]) == found.all.missed


def test_precision_counts_the_sound_questions_that_were_accused() -> None:
    swapped, sound = Defect.KEY_SWAPPED, None
    found = score(
        [
            tried("a", swapped, "Incorrect"),
            tried("a", sound, "Incorrect"),
            # Of another question, which has no mutant of this kind.
            tried("b", sound, "Incorrect"),
            tried("b", Defect.QUESTION_BLURRED, "Unproven"),
        ]
    )
    kinds = {one.name: one for one in found.kinds}
    assert kinds["key-swapped"].precision == (1, 2)
    assert kinds["question-blurred"].precision == (0, 1)
    assert found.all.precision == (1, 3)
    assert found.all.recall == (1, 2)


def test_a_miss_is_printed_by_name() -> None:
    found = score(
        [tried("suite.yaml::a", Defect.KEY_SWAPPED, "Valid")], {"suite.yaml::b": "Unproven"}
    )
    lines = list(calibration_lines(found, Paint()))
    assert lines[0] == "calibrated with 1 of 2 questions; the others are not Valid: 1 Unproven"
    assert "missed suite.yaml::a (key-swapped-x): changed; why" in lines
    row = next(line for line in lines if line.startswith("key-swapped"))
    assert row.split()[1:6] == ["1", "0", "0", "0", "1"]
    assert row.count("0% (0% to 79%)") == 2
    assert "–" in row


def test_recall_of_the_suite_is_told_apart_from_that_of_settled_questions() -> None:
    untried = CalibrationTrial("b", "x", Defect.KEY_SWAPPED, "Unproven", Result.UNTRIED)
    found = score([tried("a", Defect.KEY_SWAPPED, "Incorrect"), *[untried] * 31], {"b": "Unproven"})
    assert found.valid == 1
    assert found.all.recall == (1, 1)
    assert found.all.suite_recall == (1, 32)
    assert found.all.open == found.all.missed == 0
    lines = list(calibration_lines(found, Paint()))
    assert "suite recall counts 31 defects of the open questions as not found" in lines
    values = calibration_values(found)["all"]
    assert (values["recall"]["of"], values["suite_recall"]["of"]) == (1, 32)


def test_a_blurred_question_that_is_still_valid_is_counted_apart() -> None:
    found = score([tried("a", Defect.QUESTION_BLURRED, "Valid")])
    assert found.misses == ()
    assert found.all.answerable == 1
    assert found.all.recall.trials == 0
    lines = list(calibration_lines(found, Paint()))
    assert "dropped: 1 blurred question whose options alone still say what is asked" in lines


LABELS = {
    "V": Label(label=LabelKind.VALID, answers=("A",)),
    "I": Label(label=LabelKind.INCORRECT, answers=("B",)),
    "A": Label(label=LabelKind.AMBIGUOUS),
    "J": Label(label=LabelKind.JUDGEMENT),
}


@pytest.mark.parametrize(
    ("label", "verdict", "said", "result"),
    [
        ("V", "Valid", ["A"], Result.CONFIRMED),
        ("V", "Incorrect", ["B"], Result.WRONG),
        ("V", "Unproven", [], Result.OPEN),
        ("I", "Incorrect", ["B"], Result.FOUND),
        ("I", "Incorrect", ["C"], Result.WRONG),
        ("I", "Ambiguous", ["B"], Result.WRONG),
        ("I", "Valid", ["A"], Result.MISSED),
        ("I", "Unproven", [], Result.OPEN),
        # Without answers in the label, any will do.
        ("A", "Ambiguous", ["A", "C"], Result.FOUND),
        ("J", "Valid", ["A"], Result.OPEN),
        ("J", "Incorrect", ["A"], Result.OPEN),
    ],
)
def test_what_a_verdict_on_a_labelled_question_is_worth(
    label: str, verdict: str, said: list[str], result: Result
) -> None:
    assert result_of_label(LABELS[label], verdict, said) is result


def labelled(question: str, label: str, verdict: str) -> CalibrationTrial:
    known = LABELS[label]
    result = result_of_label(known, verdict, known.answers)
    return CalibrationTrial(
        question, "labelled", None, verdict, result, "known", "why", known.label.value
    )


def test_labelled_questions_have_numbers_of_their_own() -> None:
    found = score(
        [
            tried("a", Defect.KEY_SWAPPED, "Incorrect"),
            labelled("a", "V", "Valid"),
            labelled("b", "V", "Incorrect"),
            labelled("c", "I", "Incorrect"),
            labelled("d", "I", "Valid"),
            labelled("e", "A", "Incorrect"),
            labelled("f", "A", "Unproven"),
            labelled("g", "J", "Incorrect"),
        ],
        {"g": "judgement"},
    )
    # What was planted is counted as without them.
    assert (found.valid, found.all.mutants, found.all.precision) == (1, 1, (1, 1))
    assert found.sound.total() == 0
    assert found.labelled is not None
    assert found.labelled.recall == (1, 4)
    lines = list(calibration_lines(found, Paint()))
    assert any(
        one.startswith(
            "labelled defects: 4, of which found 1, open 1, accused of something else 1, called "
            "Valid 1; recall 25%"
        )
        for one in lines
    )
    assert "labelled sound questions: 2, of which confirmed 1, wrongly accused 1" in lines
    assert "missed d (labelled): known; why" in lines
    values = calibration_values(found)
    assert values["labelled"]["recall"]["of"] == 4
    assert [one["label"] for one in values["misses"]] == ["Incorrect"]
    assert calibration_values(score([]))["labelled"] is None
