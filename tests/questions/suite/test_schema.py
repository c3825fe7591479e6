"""The printed schema says what the reader takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from assay.questions.suite.files import suite_files
from assay.questions.suite.formats import schema_text
from tests.questions.suite_support import REAL, choice

EXAMPLES = Path(__file__).parents[3] / "examples" / "questions"


def errors(document: Any) -> list[str]:
    validator = jsonschema.Draft202012Validator(json.loads(schema_text()))
    return [error.message for error in validator.iter_errors(document)]


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text()))


def test_the_examples_satisfy_it() -> None:
    if not EXAMPLES.is_dir():
        pytest.skip("there are no example suites yet")
    for path in suite_files([EXAMPLES]):
        assert errors(yaml.safe_load(path.read_text())) == [], path


def test_the_public_questions_satisfy_it() -> None:
    if not REAL.is_dir():
        pytest.skip("the public questions are not on this machine")
    for path in REAL.rglob("*.yaml"):
        assert errors(yaml.safe_load(path.read_text())) == []


@pytest.mark.parametrize(
    "document",
    [
        {"benchmarks": []},
        {"benchmarks": [choice()], "target": "a==1", "exception_match": "exact"},
        {"benchmarks": [choice(code_snippet_ref={"file": "x.py"}, more=1)], "target": ["a", "b"]},
    ],
)
def test_what_is_right(document: Any) -> None:
    assert errors(document) == []


@pytest.mark.parametrize(
    "document",
    [
        [],
        {},
        {"benchmarks": {}},
        {"benchmarks": [{"id": "x"}]},
        {"benchmarks": [choice(options=["a"])]},
        {"benchmarks": [choice(benchmark_type="fix_error")]},
        {"benchmarks": [], "exception_match": "nearest"},
    ],
)
def test_what_is_wrong(document: Any) -> None:
    assert errors(document)
