"""`assay agents lint` and `schema` as commands: what they print, and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path

from tests.agents.testfile.support import whole, written
from tests.conftest import Command


def test_lint_says_where_and_what_to_write(assay: Command, tmp_path: Path) -> None:
    written(tmp_path, whole(response='"text": {"keyword": "a"}'))
    result = assay("agents", "lint", "test.hocon")
    assert result.returncode == 1
    assert result.stdout.splitlines() == [
        "test.hocon:9: unknown-test: there is no test `keyword`",
        "    did you mean 'keywords'?",
        "1 error",
    ]


def test_lint_of_a_folder(assay: Command, tmp_path: Path) -> None:
    written(tmp_path, whole())
    written(tmp_path, "tools: []", "network.hocon")
    result = assay("agents", "lint", ".")
    assert (result.returncode, result.stdout) == (0, "nothing found\n")
    assert result.stderr == "network.hocon: has no `interactions`, skipped\n"


def test_lint_for_programs(assay: Command, tmp_path: Path) -> None:
    written(tmp_path, whole('"succes_ratio": "1/2",'))
    result = assay("agents", "lint", "test.hocon", "--format", "json", "--out", "out.json")
    assert (result.returncode, result.stdout) == (1, "")
    (problem,) = json.loads((tmp_path / "out.json").read_text())["findings"]
    assert (problem["code"], problem["file"], problem["line"]) == ("unknown-key", "test.hocon", 3)


def test_a_value_of_the_environment_is_not_printed(assay: Command, tmp_path: Path) -> None:
    written(tmp_path, whole('"timeout_in_seconds": ${HOME},'))
    result = assay("agents", "lint", "test.hocon")
    assert result.returncode == 1
    assert "<HOME>" in result.stdout


def test_the_schema_is_printed(assay: Command) -> None:
    result = assay("agents", "schema")
    assert result.returncode == 0
    assert json.loads(result.stdout)["title"] == "Assay agent test file"
