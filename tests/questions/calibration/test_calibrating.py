"""Calibration with real proofs: a blind prover finds nothing, a lying one is found out."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.questions.calibration import (
    Calibration,
    CalibrationWorker,
    Planting,
    calibration_of,
    list_calibrations,
)
from assay.questions.labels import Label, LabelKind
from assay.questions.model import Question
from assay.questions.proof_runners import Attempt, ProofRunners, Prover, TargetRunner
from assay.questions.proofs.accept import check_proof, take_in
from assay.questions.proofs.claims import Claim, Proof, Relation
from assay.questions.selection import Selection, build_environments, select
from assay.runs import Manifest, Run, create_folder, execute

SUITE = """\
target: current
benchmarks:
- id: field
  question: Which of these is a parameter of the function `Field`?
  options: {A: check_alias, B: validation_alias, C: input_alias, D: None of the above}
  correct_answer: B
- id: wrong
  question: Which of these is a parameter of the function `Field`?
  options: {A: check_alias, B: validation_alias}
  correct_answer: A
- id: open
  question: Which of these is the nicest parameter of the function `Field`?
  options: {A: "the first", B: "the second", C: "the third"}
  correct_answer: B
"""
PROOF = '''\
"""`Field` takes `{name}`."""

import inspect

import pydantic

DISPUTED = {name!r}


def test_option_{option}_holds():
    assert DISPUTED in inspect.signature(pydantic.Field).parameters


def test_option_{option}_fails():
    assert DISPUTED not in inspect.signature(pydantic.Field).parameters


def test_option_{option}_control():
    assert "default" in inspect.signature(pydantic.Field).parameters
'''


class Blind:
    """A prover that says nothing about anything."""

    name = "blind"
    asked: list[Question]

    def __init__(self) -> None:
        self.asked = []

    async def prove(
        self, question: Question, options: Sequence[str], runner: TargetRunner
    ) -> Attempt:
        self.asked.append(question)
        return Attempt(reasons=dict.fromkeys(options, "blind on purpose"))


class Seeing(Blind):
    """A prover that understands what is asked here: the last word of an option is a parameter."""

    name = "seeing"

    async def prove(
        self, question: Question, options: Sequence[str], runner: TargetRunner
    ) -> Attempt:
        self.asked.append(question)
        return Attempt(tuple(self.proof(one, question.options[one]) for one in options))

    def proof(self, option: str, text: str) -> Proof:
        claim = Claim(option, f"`Field` takes {text}", Relation.EQUIVALENT, kind="test")
        source = PROOF.format(option=option, name=text.split()[-1])
        return Proof(claim, f"test_option_{option}.py", source, self.name)


class Lying(Seeing):
    """A prover for which the first option is always right and the others are not."""

    name = "lying"

    def proof(self, option: str, text: str) -> Proof:
        return super().proof(option, "default" if option == "A" else "never_there")


@pytest.fixture
def suite(stored: Path, tmp_path: Path) -> Path:
    """A suite whose sound question has its proofs stored beside it."""
    shutil.copytree(stored, tmp_path, dirs_exist_ok=True)
    return tmp_path / "suite.yaml"


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stored")
    path, proof = folder / "suite.yaml", folder / "proof.py"
    path.write_text(SUITE)

    async def store() -> None:
        async with ProofRunners(build_environments(work(path))) as opened:
            one = work(path)[0]
            question = one.entry.question
            assert isinstance(question, Question)
            for option, name in list(question.options.items())[:3]:
                proof.write_text(PROOF.format(option=option, name=name))
                taken = check_proof(question, option, proof, Relation.EQUIVALENT)
                await take_in(question, taken, opened.of(one.target), one.store, beside=False)

    asyncio.run(store())
    return folder


def work(suite: Path) -> list[Any]:
    return select(Selection((str(suite),), str(suite.parent)))


def calibrated(
    suite: Path, prover: Prover, count: int = 9, labels: Mapping[str, Label] | None = None
) -> Calibration:
    chosen = work(suite)
    folder = create_folder(suite.parent / "run", Manifest(subject="calibration"), suite.parent)
    runners = ProofRunners(build_environments(chosen), provers=(prover,), jobs=2, remembers=True)
    planting = Planting(count, labels=labels or {})
    worker = CalibrationWorker(runners, planting)
    cases = list_calibrations(chosen, planting)
    execute(folder, cases, worker.run, jobs=2, around=runners)
    with Run(folder) as run:
        return calibration_of(run)


def test_a_blind_prover_gets_recall_zero_though_proofs_of_the_original_are_stored(
    suite: Path,
) -> None:
    before = {path: path.read_bytes() for path in suite.parent.rglob("proofs/**/*.*")}
    blind = Blind()
    found = calibrated(suite, blind)
    assert found.valid == 1
    assert found.left_out == {"suite.yaml::wrong": "Unproven", "suite.yaml::open": "Unproven"}
    assert found.all.mutants >= 8
    assert found.all.recall.value == 0
    assert found.all.open == found.all.mutants
    assert all(one.recall.value == 0 for one in found.kinds)
    # Every mutant was put to it, whatever is stored; and nothing was stored of them.
    assert len(blind.asked) > found.all.mutants
    assert before == {path: path.read_bytes() for path in suite.parent.rglob("proofs/**/*.*")}


def test_a_prover_that_sees_finds_what_it_understands(suite: Path) -> None:
    found = calibrated(suite, Seeing())
    kinds = {one.name: one for one in found.kinds}
    for name in ("key-swapped", "answer-removed", "answer-doubled", "distractor-true"):
        assert kinds[name].recall.value == 1, name
        assert kinds[name].precision.value == 1, name
    # To it the blurred question says what it said before, and its options settle it: that may not
    # be a defect, so it is counted apart.
    assert kinds["question-blurred"].answerable == 1
    assert kinds["question-blurred"].recall.trials == 0
    assert found.misses == ()
    assert found.wrongs == ()


def test_a_lying_prover_loses_its_precision(suite: Path) -> None:
    found = calibrated(suite, Lying(), count=1)
    assert found.all.precision.value is not None
    assert found.all.precision.value < 1
    assert {one.name for one in found.wrongs} >= {"sound"}


def test_recall_of_the_suite_counts_the_questions_that_stay_open(suite: Path) -> None:
    found = calibrated(suite, Seeing())
    kinds = {one.name: one for one in found.kinds}
    swapped = kinds["key-swapped"]
    # Two other keys of the Valid question are found; those of the open one count as not found.
    assert swapped.recall == (2, 2)
    assert swapped.untried == 2
    assert swapped.suite_recall == (2, 4)
    assert found.all.suite_recall.trials > found.all.recall.trials


def test_labelled_questions_are_verified_as_they_are(suite: Path) -> None:
    labels = {
        "field": Label(label=LabelKind.VALID, answers=("B",)),
        "wrong": Label(label=LabelKind.INCORRECT, answers=("B",)),
        "open": Label(label=LabelKind.JUDGEMENT),
    }
    found = calibrated(suite, Seeing(), count=1, labels=labels)
    assert found.labelled is not None
    assert (found.labelled.recall, found.labelled.confirmed) == ((1, 1), 1)
    assert (found.labelled.sound, found.labelled.accused) == (1, 0)
    # Nothing is planted in what is a defect, or what only a person can say.
    assert found.valid == 1
    assert found.left_out == {"suite.yaml::wrong": "Incorrect", "suite.yaml::open": "judgement"}
    assert found.all.untried == 0


def test_proofs_that_are_stored_do_not_help_with_a_labelled_question(suite: Path) -> None:
    labels = {"field": Label(label=LabelKind.VALID, answers=("B",))}
    found = calibrated(suite, Blind(), count=1, labels=labels)
    assert found.labelled is not None
    assert (found.labelled.sound, found.labelled.confirmed) == (1, 0)
    # The question itself is Valid by its stored proofs, and so defects are planted in it.
    assert found.valid == 1


@pytest.mark.parametrize(("name", "is_dropped"), [("input_alias", True), ("model_dump", False)])
def test_a_blurred_question_whose_other_options_are_nowhere_is_dropped_unasked(
    suite: Path, name: str, is_dropped: bool
) -> None:
    """Whatever it is about, `check_alias` and `input_alias` are no answer."""
    text = suite.read_text().replace("target: current", "target: current:pydantic")
    suite.write_text(text.replace("C: input_alias", f"C: {name}"))
    if not is_dropped:
        shutil.rmtree(suite.parent / "proofs")
    prover = Blind() if is_dropped else Seeing()
    found = calibrated(suite, prover, count=1)
    blurred = [one for one in prover.asked if "something" in one.text]
    kinds = {one.name: one for one in found.kinds}
    if is_dropped:
        one = kinds["question-blurred"]
        assert (one.mutants, one.answerable, one.recall.trials) == (1, 1, 0)
    assert bool(blurred) is not is_dropped
