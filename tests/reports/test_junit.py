"""The JUnit report, held against a schema and against the run it speaks of."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
import xmlschema

from assay.evaluation import evaluate
from assay.model import Case, CaseResult, Outcome, VerificationResult
from assay.reports import render_report
from assay.runs import Baseline, Run

if TYPE_CHECKING:
    from tests.reports.conftest import Make


@pytest.fixture(scope="module")
def schema() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(Path(__file__).with_name("junit.xsd"))


def parsed(run: Run, schema: xmlschema.XMLSchema) -> ElementTree.Element:
    text = b"".join(render_report(run, "junit"))
    schema.validate(text.decode())
    root = ElementTree.fromstring(text)
    for suite in (root, root[0]):
        cases = list(root.iter("testcase"))
        counted = Counter(child.tag for case in cases for child in case)
        assert int(suite.attrib["tests"]) == len(cases)
        assert int(suite.attrib["failures"]) == counted["failure"]
        assert int(suite.attrib["errors"]) == counted["error"]
        assert int(suite.attrib.get("skipped", counted["skipped"])) == counted["skipped"]
    return root


def verdicts(root: ElementTree.Element) -> dict[str, str | None]:
    return {
        case.attrib["name"]: next((child.tag for child in case), None)
        for case in root.iter("testcase")
    }


def test_every_outcome_has_its_element(make: Make, schema: xmlschema.XMLSchema) -> None:
    run = make.run(make.record(outcome.value, outcome.value) for outcome in Outcome)
    root = parsed(run, schema)
    assert verdicts(root) == {
        "passed": None,
        "failed": "failure",
        "unverified": "failure",
        "error": "error",
    }
    failure = next(root.iter("failure"))
    assert failure.attrib == {"message": "because failed", "type": "failed"}
    assert 'output is not as expected\n  expected: "b"\n  actual:   "a"' in (failure.text or "")
    assert root[0].attrib["time"] == "2.000000"
    assert {case.attrib["classname"] for case in root.iter("testcase")} == {"tests.group"}


def test_unverified_is_skipped_where_it_does_not_fail(
    make: Make, schema: xmlschema.XMLSchema
) -> None:
    run = make.run([make.record("a", "unverified")], unverified_fails=False)
    assert verdicts(parsed(run, schema)) == {"a": "skipped"}


def test_known_findings_are_skipped_and_say_why(make: Make, schema: xmlschema.XMLSchema) -> None:
    records = [make.record("known", "failed"), make.record("new", "failed")]
    baseline = Baseline.of(make.run(records[:1], name="first").rows())
    root = parsed(make.run(records, baseline=baseline), schema)
    assert verdicts(root) == {"known": "skipped", "new": "failure"}
    assert next(root.iter("skipped")).attrib["message"] == (
        "accepted by the baseline: because failed"
    )


def test_ten_samples_are_one_test_case(tmp_path: Path, schema: xmlschema.XMLSchema) -> None:
    taken: Counter[str] = Counter()

    def task(case: Case) -> CaseResult:
        taken[case.id] += 1
        wrong = {"lucky": 2, "unlucky": 3}[case.id]
        return case.result(output="no" if taken[case.id] <= wrong else "yes")

    def verifier(
        group: str, name: str, actual: CaseResult, expected: CaseResult
    ) -> dict[str, VerificationResult]:
        same = actual.output == expected.output
        return {"output": VerificationResult.create(None, same)}

    pairs = [({"id": "lucky"}, "yes"), ({"id": "unlucky"}, "yes")]
    with evaluate(pairs, task, verifier, out=tmp_path / "run", ratio="8/10") as run:
        root = parsed(run, schema)
    assert verdicts(root) == {"lucky": "system-out", "unlucky": "failure"}
    assert root.attrib["tests"] == "2"
    assert next(root.iter("system-out")).text == (
        "8 of 10 samples passed, 8/10 needed\n"
        "8 of 10 samples passed (80.0%, 95% interval 49.0% to 94.3%)"
    )
    unlucky = [case for case in root.iter("testcase") if case.get("name") == "unlucky"]
    assert unlucky[0].findtext("system-out") == (
        "7 of 10 samples passed (70.0%, 95% interval 39.7% to 89.2%)"
    )
    found = {each.get("name"): each.get("value") for each in root.iter("property")}
    assert found["assay.pass_rate"] == "0.500000"
    assert found["assay.pass_rate.low"] == "0.094531"
    assert found["assay.samples"] == "20"
    assert found["assay.samples.passed"] == "15"
    assert (next(root.iter("failure")).text or "").count("sample ") == 3


def test_a_run_without_cases_is_valid(make: Make, schema: xmlschema.XMLSchema) -> None:
    assert verdicts(parsed(make.run([]), schema)) == {}


def test_an_unfinished_run_says_so(make: Make, schema: xmlschema.XMLSchema) -> None:
    root = parsed(make.run([make.record("a")], finished=False), schema)
    properties = {entry.attrib["name"]: entry.attrib["value"] for entry in root.iter("property")}
    assert properties["assay.finished"] == "false"


def test_hostile_text_is_only_text(make: Make, schema: xmlschema.XMLSchema) -> None:
    root = parsed(make.hostile_run(), schema)
    assert {element.tag for element in root.iter()} == {
        "testsuites",
        "testsuite",
        "properties",
        "property",
        "testcase",
        "failure",
        "error",
        "skipped",
        "system-out",
    }
    message = next(root.iter("failure")).attrib["message"]
    assert message.startswith("<script>alert(1)</script> </details>")
    assert "\\u001b[31mred" in message
    assert "\\u202eevil" in message
