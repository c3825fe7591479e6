"""Every example is valid under the schema that its command prints, and no unknown key is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hocon
import pytest
import yaml
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from assay import agents, submissions
from assay.cli.main import cli
from assay.findings import Findings
from assay.questions.suite.files import suite_files

EXAMPLES = Path(__file__).parents[2] / "examples"
PROBLEMS = EXAMPLES / "submissions"
FILES = {
    "questions schema": suite_files([EXAMPLES / "questions"]),
    "agents schema": sorted(EXAMPLES.glob("agents/*.hocon")),
    "submissions schema config": sorted(PROBLEMS.glob("*/config.yaml")),
    "submissions schema group": sorted(PROBLEMS.glob("*/checkpoint_*/*.yaml")),
    "submissions schema case": sorted(PROBLEMS.glob("*/checkpoint_*/*/*.yaml")),
}


def print_schema(command: str) -> Draft202012Validator:
    printed = CliRunner().invoke(cli, command.split())
    assert printed.exit_code == 0, printed.output
    schema = json.loads(printed.output)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def read(path: Path) -> Any:
    if path.suffix == ".hocon":
        return hocon.parse_file(str(path)).to_object()
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("command", FILES)
def test_every_example_is_valid(command: str) -> None:
    validator = print_schema(command)
    assert FILES[command]
    for path in FILES[command]:
        validator.validate(read(path))


def test_an_unknown_key_is_refused_by_schema_and_reader(tmp_path: Path) -> None:
    test = {**read(EXAMPLES / "agents/kiosk.hocon"), "interaction": []}
    assert not print_schema("agents schema").is_valid(test)
    (tmp_path / "test.json").write_text(json.dumps(test))
    assert codes(agents.lint(tmp_path / "test.json")) == {"unknown-key"}
    config = {**read(PROBLEMS / "ledger/config.yaml"), "grups": {}}
    assert not print_schema("submissions schema config").is_valid(config)
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    assert "unknown-key" in codes(submissions.lint(tmp_path))


def codes(findings: Findings) -> set[str]:
    return {finding.code for finding in findings if finding.severity == "error"}
