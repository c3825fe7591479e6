"""The printed schema: as the models say, accepting what is read and refusing what is not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from assay.submissions.problems.authoring import KINDS, schema_text, write_problem


def validator(kind: str) -> Any:
    return Draft202012Validator(json.loads(schema_text(kind)))


def test_each_kind_is_a_valid_schema() -> None:
    for kind in (None, *KINDS):
        Draft202012Validator.check_schema(json.loads(schema_text(kind)))


@pytest.mark.parametrize("is_api", [False, True])
def test_a_new_problem_is_valid(tmp_path: Path, is_api: bool) -> None:
    write_problem(tmp_path / "fresh", is_api=is_api)
    config = yaml.safe_load((tmp_path / "fresh/config.yaml").read_text())
    validator("config").validate(config)
    for file in (tmp_path / "fresh/checkpoint_1").glob("*.yaml"):
        group = yaml.safe_load(file.read_text())
        validator("group").validate(group)
        for case in group["cases"].values():
            validator("case").validate(case)


@pytest.mark.parametrize(
    "config",
    [
        {"checkpoints": ["one"], "adapter": "api", "static_assets": {"a": "b"}, "env": {"A": 1}},
        {"checkpoints": {"one": {"groups": ["a"], "regressions": "*"}}},
        {"checkpoints": {"one": None}, "adapter": {"type": "api", "port": 1}},
        {"checkpoints": {"one": {"groups": {"a": None}, "regressions": [{"checkpoint": "z"}]}}},
    ],
)
def test_short_forms_are_valid(config: dict[str, Any]) -> None:
    validator("config").validate({"entry_file": "main", **config})


@pytest.mark.parametrize(
    ("kind", "document"),
    [
        ("config", {"entry_file": "m", "checkpoints": {"one": {"grups": {}}}}),
        ("config", {"checkpoints": ["one"]}),
        ("config", {"entry_file": "m", "checkpoints": ["one"], "adapter": "cly"}),
        ("case", {"arguments": ["a"]}),
        ("case", {"expected": {"outptu": 1}}),
        ("case", {"expected": {"output": {"check": "jsn", "value": 1}}}),
        ("case", {"expected": {"output": {"check": "json"}}}),
        ("group", {"case": {}}),
    ],
)
def test_mistakes_are_not_valid(kind: str, document: dict[str, Any]) -> None:
    assert not validator(kind).is_valid(document)


def test_the_examples_of_the_documentation_are_valid() -> None:
    page = (Path(__file__).parents[3] / "docs" / "problems.md").read_text(encoding="utf-8")
    block = re.compile(
        r"^```yaml\n# file: (\w+)-example\.yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL
    )
    blocks = block.findall(page)
    kinds: dict[str, str] = {
        "config": "config", "group": "group", "stateful": "group", "case": "case",
    }  # fmt: skip
    assert {name for name, _ in blocks} == set(kinds)
    for name, text in blocks:
        validator(kinds[name]).validate(yaml.safe_load(text))
