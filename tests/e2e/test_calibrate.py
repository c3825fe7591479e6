"""`assay questions calibrate` through the real command, with the prover that needs no model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Command

SUITE = """\
target: current:pydantic
benchmarks:
- id: method
  question: Which of these is a method of `BaseModel`?
  options: {A: "`to_dict`", B: "`model_dump`", C: "`as_dict`", D: "`model_export`"}
  correct_answer: B
- id: nicer
  question: Which one is nicer?
  options: {A: this, B: that}
  correct_answer: A
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return path


def test_the_table_and_the_values_say_the_same(assay: Command, suite: Path) -> None:
    told = assay("questions", "calibrate", suite, "--out", "run")
    assert told.returncode == 0, told.stderr
    said = "calibrated with 1 of 2 questions; the others are not Valid: 1 Unproven"
    assert said in told.stdout
    assert "key-swapped" in told.stdout
    assert not (suite.parent / "proofs").exists()
    # Nothing is left to do, and what was found is read from the run.
    again = assay("runs", "resume", "run", "--json")
    values = json.loads(again.stdout)
    kinds = {one["defect"]: one for one in values["defects"]}
    assert kinds["key-swapped"]["mutants"] == 1
    assert kinds["key-swapped"]["found"] == 1
    assert kinds["key-swapped"]["recall"]["value"] == 1.0
    assert values["all"]["missed"] == 0
    assert values["left_out"] == ["suite.yaml::nicer"]
    shown = assay("runs", "show", "run", "suite.yaml::method")
    assert "key-swapped-" in shown.stdout


@pytest.mark.real_start
def test_a_suite_without_a_valid_question_is_refused(assay: Command, suite: Path) -> None:
    refused = assay("questions", "calibrate", suite, "--case", "nicer")
    assert refused.returncode == 2
    assert "no question is Valid" in refused.stderr
