"""`assay questions explain` says what was understood, tried and left open."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import Command

SUITE = """\
target: current:pydantic
benchmarks:
  - id: method
    benchmark_type: multiple_choice
    question: Which of these is a method of `BaseModel`?
    options:
      A: "`model_dump`"
      B: "`to_dict`"
      C: It depends on the weather.
      D: None of the above
    correct_answer: A
"""


def test_every_option_is_explained(assay: Command, tmp_path: Path) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text(SUITE)
    # What is installed here is found beside the folder Assay is started in.
    result = assay("questions", "explain", f"{suite}::method", cwd=Path.cwd())
    assert result.returncode == 0, result.stderr
    assert "it asks for: method, of pydantic.main.BaseModel" in result.stdout
    assert (
        "  HOLDS: `pydantic.BaseModel` has or takes something called `model_dump`" in result.stdout
    )
    assert "  FAILS: it is not true that `pydantic.BaseModel` has or takes" in result.stdout
    assert "  UNPROVEN: it is prose that names nothing of the target" in result.stdout
    assert "  made of other options" in result.stdout
    assert not (tmp_path / "proofs").exists()


def test_a_question_without_options_is_refused(assay: Command, tmp_path: Path) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        "target: current:pydantic\n"
        "benchmarks:\n"
        "  - {id: x, benchmark_type: api_understanding, question: What?, answers:\n"
        "     [{answer: BaseModel, fully_qualified_class_name: [pydantic.BaseModel]}]}\n"
    )
    result = assay("questions", "explain", f"{suite}::x")
    assert result.returncode == 2
    assert "only multiple-choice questions have options" in result.stderr
