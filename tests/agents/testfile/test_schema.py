"""The printed schema says what the reader takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hocon
import jsonschema
import pytest

from assay.agents.testfile import read_file
from assay.agents.testfile.reading import TOP_KEYS
from assay.agents.testfile.written import WrittenInteraction, list_keys, schema_text
from tests.agents.testfile.support import PUBLIC, written
from tests.agents.testfile.test_reading import EVERYTHING


def errors(document: Any) -> list[str]:
    validator = jsonschema.Draft202012Validator(json.loads(schema_text()))
    return [error.message for error in validator.iter_errors(document)]


def document(response: Any = None, **more: Any) -> dict[str, Any]:
    given = {"text": {"keywords": "a"}} if response is None else response
    return {"agent": "a", "interactions": [{"text": "x", "response": given}], **more}


def test_the_schema_has_the_keys_of_the_reader() -> None:
    schema = json.loads(schema_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema["properties"]) == set(TOP_KEYS)
    interaction = schema["$defs"]["WrittenInteraction"]
    assert set(interaction["properties"]) == set(list_keys(WrittenInteraction))


def test_the_public_files_satisfy_it() -> None:
    if not PUBLIC.is_dir():
        pytest.skip("the public test files are not on this machine")
    for path in PUBLIC.rglob("*.hocon"):
        assert errors(hocon.parse_file(str(path)).to_object()) == [], path


@pytest.mark.parametrize(
    "right",
    [
        document(),
        hocon.parse(EVERYTHING).to_object(),
        document({"sly_data": {"a": {"value": [[1, 2]], "not_value": [None, {"a": 1}]}}}),
        document({"structure": {"value": {"keywords": {"less": 3}}}}),
        document(connections="http", success_ratio="2/3", failure_patterns="down"),
    ],
)
def test_what_is_right_for_both(tmp_path: Path, right: dict[str, Any]) -> None:
    assert errors(right) == []
    assert read_file(written(tmp_path, json.dumps(right), "test.json")).problems == []


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        document(agent=""),
        document(connections="ftp"),
        document(connections=[]),
        document(success_ratio=3),
        document(sucess_ratio="1/2"),
        document(timeout_in_seconds=0),
        document(failure_patterns=[""]),
        document(judge_sees="everything"),
        document({"txt": {"keywords": "a"}}),
        document({"text": {}}),
        document({"text": {"keyword": "a"}}),
        document({"text": {"keywords": []}}),
        document({"text": {"value": None}}),
        document({"text": {"value": 3}}),
        document({"text": {"gist": " "}}),
        document({"sly_data": {"value": 3}}),
        document({"sly_data": {"a": {"value": {"b": 1}}}}),
        document({"sly_data": {"a": {"value": 1, "b": {"less": 1}}}}),
        document({"sly_data": {"a.b": {"value": 1}}}),
        document({"structure": {"a": {}}}),
        {"agent": "a", "interactions": []},
        {"agent": "a", "interactions": [{"chat_filter": "SOME"}]},
    ],
)
def test_what_is_wrong_for_both(tmp_path: Path, wrong: dict[str, Any]) -> None:
    assert errors(wrong)
    assert read_file(written(tmp_path, json.dumps(wrong), "test.json")).problems
