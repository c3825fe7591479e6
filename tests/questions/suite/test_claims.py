"""Claims of a person are read from the question and from the file beside the suite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
import yaml

from assay.errors import InputError
from assay.questions.claims import kinds
from assay.questions.proofs.claims import Relation
from assay.questions.suite.formats import claims_schema_text, schema_text
from assay.questions.suite.suite import load_suites, read_suite
from tests.questions.suite_support import choice

FIVE: dict[str, Any] = {"kind": "default", "subject": "x.Y", "parameter": "z", "value": 5}


def write(folder: Path, beside: Any = None, **fields: Any) -> Path:
    suite = folder / "suite.yaml"
    question = choice(id="q", options={"A": "five", "B": "six", "C": "All of the above"}, **fields)
    suite.write_text(yaml.safe_dump({"benchmarks": [question]}))
    if beside is not None:
        (folder / "suite.claims.yaml").write_text(
            beside if isinstance(beside, str) else yaml.safe_dump(beside)
        )
    return suite


def test_one_or_several_claims_by_option(tmp_path: Path) -> None:
    prints = {"kind": "prints", "code": "print(5)", "value": 5, "relation": "equivalent"}
    suite = write(tmp_path, {"claims": {"q": {"A": FIVE, "B": [prints, FIVE]}}})
    claims = load_suites([suite])[0].claims["q"]
    assert claims["A"] == [kinds.DefaultIs(subject="x.Y", parameter="z", value=5)]
    # What a kind wants as text is read as written.
    assert claims["B"][0] == kinds.Prints(code="print(5)", value="5", relation=Relation.EQUIVALENT)
    assert claims["B"][1] == claims["A"][0]


def test_claims_in_the_question_come_before_those_of_the_file(tmp_path: Path) -> None:
    six = {**FIVE, "value": 6}
    suite = write(tmp_path, {"claims": {"q": {"A": six}}}, claims={"A": FIVE, "B": [six]})
    claims = load_suites([suite])[0].claims["q"]
    assert [one.model_dump()["value"] for one in claims["A"]] == [5, 6]
    assert [one.model_dump()["value"] for one in claims["B"]] == [6]


def test_the_question_reads_the_same_with_and_without_claims(tmp_path: Path) -> None:
    plain = read_suite(write(tmp_path)).entries[0].question
    claimed = read_suite(write(tmp_path, claims={"A": FIVE})).entries[0].question
    assert plain == claimed
    assert plain.fingerprint() == claimed.fingerprint()


MISTAKES = [
    ({"A": {**FIVE, "kind": "defalt"}}, "kind` cannot be 'defalt'", "did you mean 'default'?"),
    ({"A": {"subject": "x.Y"}}, "kind` is missing", ""),
    ({"A": {**FIVE, "paramter": 1}}, "no key `paramter`", "did you mean 'parameter'?"),
    ({"A": {"kind": "default", "subject": "x.Y", "value": 5}}, "parameter` is missing", ""),
    ({"A": {**FIVE, "subject": "not a path"}}, "write a dotted name", ""),
    ({"A": {**FIVE, "relation": "equal"}}, "cannot be 'equal'", "equivalent"),
    ({"A": {**FIVE, "relation": "premise"}}, "cannot have the relation 'premise'", "necessary"),
    ({"A": []}, "is empty", ""),
    ({"A": [FIVE, 5]}, "must be a mapping", ""),
    ({"a": FIVE}, "about option 'a'", "valid: A, B, C"),
    ({"C": FIVE}, "option C is derived", "make claims about the others"),
]


@pytest.mark.parametrize(("claims", "what", "advice"), MISTAKES)
@pytest.mark.parametrize("is_inside", [False, True])
def test_every_mistake_has_a_place_and_advice(
    tmp_path: Path, claims: Any, what: str, advice: str, is_inside: bool
) -> None:
    if is_inside:
        suite = write(tmp_path, claims=claims)
    else:
        suite = write(tmp_path, {"claims": {"q": claims}})
    with pytest.raises(InputError) as caught:
        load_suites([suite])
    assert what in caught.value.what
    assert advice in (caught.value.advice or "")
    name = "suite.yaml" if is_inside else "suite.claims.yaml"
    assert f"{name}:" in str(caught.value.where)
    assert int(str(caught.value.where).rpartition(":")[2]) > 1


def test_a_question_that_there_is_not(tmp_path: Path) -> None:
    suite = write(tmp_path, {"claims": {"qq": {"A": FIVE}}})
    with pytest.raises(InputError, match=r"there is no question 'qq' in suite.yaml") as caught:
        load_suites([suite])
    assert caught.value.advice == "did you mean 'q'?"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("q: {A: {kind: default}}", "no key `q`"),
        ("claims: {q: {A: [", "is not valid YAML"),
        ("[]", "must be a mapping"),
        ("claims:\n  q: {A: {kind: runs, code: x}}\n  q: {B: {kind: runs, code: x}}", "twice"),
    ],
)
def test_a_file_that_is_not_one_of_claims(tmp_path: Path, text: str, what: str) -> None:
    problems = read_suite(write(tmp_path, text)).problems
    assert any(what in one.message for one in problems), problems
    assert all(one.place.file.name == "suite.claims.yaml" for one in problems)


def test_questions_without_options_have_no_claims(tmp_path: Path) -> None:
    suite = tmp_path / "suite.yaml"
    answer = {"answer": "X", "fully_qualified_class_name": ["a.X"]}
    asked = {"id": "q", "question": "What?", "answers": [answer]}
    suite.write_text(yaml.safe_dump({"benchmarks": [asked]}))
    (tmp_path / "suite.claims.yaml").write_text(yaml.safe_dump({"claims": {"q": {"A": FIVE}}}))
    assert "only multiple-choice" in read_suite(suite).problems[0].message


def errors(schema: str, document: Any) -> list[str]:
    validator = jsonschema.Draft202012Validator(json.loads(schema))
    return [error.message for error in validator.iter_errors(document)]


@pytest.mark.parametrize("claims", [{"A": FIVE}, {"A": [FIVE, {**FIVE, "relation": "necessary"}]}])
def test_the_schemas_take_what_the_reader_takes(tmp_path: Path, claims: Any) -> None:
    assert errors(claims_schema_text(), {"claims": {"q": claims}}) == []
    assert errors(schema_text(), {"benchmarks": [choice(claims=claims)]}) == []


@pytest.mark.parametrize("claims", [claims for claims, *_ in MISTAKES[:4] + MISTAKES[5:9]])
def test_the_schemas_refuse_what_the_reader_refuses(claims: Any) -> None:
    assert errors(claims_schema_text(), {"claims": {"q": claims}})
    assert errors(schema_text(), {"benchmarks": [choice(claims=claims)]})


def describe(kind: type[kinds.TypedClaim]) -> str:
    """The row of a kind in the documentation: its fields, in brackets if optional, and its text."""
    fields = ", ".join(
        f"`{name}`" if field.is_required() else f"[`{name}`]"
        for name, field in kind.model_fields.items()
        if name not in ("kind", "relation") and not field.exclude
    )
    text = (kind.__doc__ or "").partition("\n")[0]
    return f"| `{kind.model_fields['kind'].default}` | {fields} | {text} |"


def test_every_kind_is_documented_with_its_fields() -> None:
    union = get_args(get_args(kinds.AnyClaim)[0])
    page = (Path(__file__).parents[3] / "docs" / "questions.md").read_text(encoding="utf-8")
    section = page.partition("## Write a claim")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert rows == [describe(kind) for kind in union]
